#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds, and runs every check: the unit tests and short runs of the fuzzers under the address and
# undefined-behaviour sanitizers, formatting and clang-tidy, then all tests of the release build. Prints how long each part took. Ends with ctest's own output.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_debian_packages packaging/debian-packages.txt packaging/debian-test-packages.txt

fetch_all() {
  part=""
  fetch_tensorflow
  step "MkDocs, for the test of the documentation"
  bash packaging/docs.sh --setup-only || echo "MkDocs is missing; the test packaging.docs will be skipped."
  step "law and HTCondor's Python module, for the tests of batch systems"
  bash packaging/batch_tools.sh || echo "They are missing; the tests that need them will be skipped."
  step "numpy for other Pythons"
  bash packaging/pythons.sh || echo "It is missing for some; their tests of import tfaot and of the wheels will be skipped."
  step "What reads the ONNX standard's tests"
  bash packaging/onnx_conformance.sh --setup-only || echo "It is missing; the test e2e.onnx_conformance will be skipped."
}
# The sanitizers' build needs nothing of it, so the processors have work while this waits for the network.
mkdir -p build
fetch_all >build/fetched.log 2>&1 &
fetching=$!
build asan

step "What was fetched meanwhile"
fetched=true
wait "$fetching" || fetched=false
cat build/fetched.log
$fetched || fail "fetching failed; it says why above"

step "Unit tests with sanitizers"
temporary_files_in_memory
ctest --preset asan --parallel "$(nproc)"

step "Fuzzers, 5 s for each reader"
ctest --preset fuzz --parallel "$(nproc)"

build_release ""

step "Formatting and clang-tidy"
bash packaging/lint.sh build/release

step "All tests"
show_times
ctest --preset release --parallel "$(nproc)"
