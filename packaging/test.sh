#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds, and runs every check: formatting and clang-tidy, the unit tests under the address and
# undefined-behaviour sanitizers, then all tests of the release build. Prints how long each part took. Ends with ctest's own output.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_debian_packages packaging/debian-packages.txt packaging/debian-test-packages.txt
fetch_tensorflow
step "MkDocs, for the test of the documentation"
bash packaging/docs.sh --setup-only || echo "MkDocs is missing; the test packaging.docs will be skipped."
step "law and HTCondor's Python module, for the tests of batch systems"
bash packaging/batch_tools.sh || echo "They are missing; the tests that need them will be skipped."
step "What reads the ONNX standard's tests"
bash packaging/onnx_conformance.sh --setup-only || echo "It is missing; the test e2e.onnx_conformance will be skipped."
# Memory for time: g++ does not look for memory that it could use again, which takes an eighth of its time. lld, a linker, needs a
# third of ld's time.
compiler=() linker=()
if (($(awk '/^MemTotal:/ {print $2}' /proc/meminfo) / $(nproc) >= 6000000)); then
  compiler=("-DCMAKE_CXX_FLAGS=--param=ggc-min-expand=1000 --param=ggc-min-heapsize=4000000")
fi
if command -v ld.lld >/dev/null; then linker=(-DCMAKE_{EXE,SHARED}_LINKER_FLAGS=-fuse-ld=lld); fi
build release "" "${compiler[@]}" "${linker[@]}"

step "Formatting and clang-tidy"
bash packaging/lint.sh build/release

build asan "" "${linker[@]}"
step "Unit tests with sanitizers"
temporary_files_in_memory
ctest --preset asan --parallel "$(nproc)"

step "All tests"
show_times
ctest --preset release --parallel "$(nproc)"
