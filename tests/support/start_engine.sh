#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# start_engine.sh ENGINE SOCKET: the program tfaot_loaded_engine takes jobs at SOCKET until it is told to end. It also ends when
# ctest does, which runs this.
set -euo pipefail
rm -f "$2"
TF_CPP_MIN_LOG_LEVEL=2 setsid "$1" "$2" "$PPID" </dev/null >"$2.log" 2>&1 &
