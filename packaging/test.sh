#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds, and runs every check: formatting and clang-tidy, the unit tests under the address and
# undefined-behaviour sanitizers, then all tests of the release build. Ends with ctest's own words.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_debian_packages
fetch_tensorflow
build release

step "Formatting and clang-tidy"
bash packaging/lint.sh build/release

build asan
step "Unit tests with sanitizers"
ctest --preset asan --parallel "$(nproc)"

step "All tests"
exec ctest --preset release --parallel "$(nproc)"
