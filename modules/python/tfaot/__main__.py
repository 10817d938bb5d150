# SPDX-License-Identifier: Apache-2.0
"""`python3 -m tfaot ARGUMENTS`: the tool tfaot that belongs to this module."""

import os
import sys

from tfaot import _tool

os.execv(_tool.program(), ["tfaot", *sys.argv[1:]])
