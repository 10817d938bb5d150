#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles each source of the rooms by itself: one that uses what it does not include fails. The other builds join sources and
# cannot see it. Takes about as long as all of packaging/test.sh, so hosted CI runs it beside that.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_debian_packages packaging/debian-packages.txt packaging/debian-test-packages.txt
fetch_tensorflow
build debug
