#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lint.sh [--only format|tidy|shell] [BUILD_DIR]: runs clang-format on all our C++ files; clang-tidy on the rooms as BUILD_DIR
# (default: build/release) compiles them, the engine as one file (TensorFlow's headers take 30 s each time); and shellcheck if
# it is installed. Changes nothing. Version 14, so that everybody gets the same results. clang-tidy checks a file again only if
# something that it reads has changed (clang_tidy.py).
set -euo pipefail
parts="format tidy shell"
if [[ ${1:-} == --only ]]; then
  parts=${2:-}
  [[ " format tidy shell " == *" $parts "* ]] || { echo "lint: --only format, tidy or shell" >&2; exit 2; }
  shift 2
fi
build_dir=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../build/release}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

check_format() {
  # The generator writes golden files, not we.
  find modules tests examples -path tests/golden -prune -o \( -name '*.cc' -o -name '*.h' \) -print0 |
    xargs -0 --max-procs "$(nproc)" --max-args 100 clang-format-14 --dry-run -Werror
}
check_tidy() {
  [[ -f $build_dir/compile_commands.json ]] || {
    echo "lint: $build_dir has no compile_commands.json; build first: cmake --preset release && cmake --build --preset release" >&2
    return 1
  }
  packaging/clang_tidy.py "$build_dir" '/modules/((?!engine/|kernels/)|engine/lint/)'
}
check_shell() {
  command -v shellcheck >/dev/null || { echo "shellcheck is not installed: skipped"; return 0; }
  shellcheck -x packaging/*.sh examples/*.sh tests/packaging/*.sh tests/cmake/*/*.sh .ci/run
}
for part in $parts; do
  start=$SECONDS
  "check_$part" || { echo "lint: $part: see above" >&2; exit 1; }
  echo "lint: $part is clean ($((SECONDS - start)) s)"
done
