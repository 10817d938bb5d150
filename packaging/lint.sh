#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lint.sh [BUILD_DIR]: clang-format over all our C++ files, clang-tidy over the rooms as BUILD_DIR (build/release without
# the word) compiles them, the engine as one file (TensorFlow's headers take 30 s each time), and shellcheck where it is
# installed. Changes nothing. Version 14, so that everybody sees the same.
set -euo pipefail
build_dir=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")/../build/release}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -f $build_dir/compile_commands.json ]] || {
  echo "lint: $build_dir has no compile_commands.json; build first: cmake --preset release && cmake --build --preset release" >&2
  exit 1
}

# Golden files are what the generator writes, not what we do.
find modules tests examples -path tests/golden -prune -o \( -name '*.cc' -o -name '*.h' \) -print0 |
  xargs -0 clang-format-14 --dry-run -Werror
echo "clang-format: clean"

packaging/clang_tidy.py "$build_dir" '/modules/((?!engine/)[^/]+|engine/lint)/src/' || {
  echo "clang-tidy: see above" >&2
  exit 1
}
echo "clang-tidy: clean"

if command -v shellcheck >/dev/null; then
  shellcheck -x packaging/*.sh tests/packaging/*.sh .ci/run
  echo "shellcheck: clean"
fi
