#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# on_aarch64.sh COMPILER RUNTIME SCRATCH: all tests of the kernels on aarch64, by qemu: the built RUNTIME for that machine, and
# the tests and Debian's GoogleTest (/usr/src/googletest), compiled by COMPILER.
set -euo pipefail
compiler=$1 runtime=$2 scratch=$3
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
googletest=/usr/src/googletest/googletest
[[ -f $googletest/src/gtest-all.cc ]] || {
  echo "skipped: there is no $googletest (Debian: googletest)"
  exit 77
}
rm -rf "$scratch"
mkdir -p "$scratch"
objects=()
compile() { # SOURCE OPTION...
  objects+=("$scratch/$(basename "$1").o")
  "$compiler" -std=c++17 -O1 -ffp-contract=off "-DTFAOT_GOLDEN_DIR=\"$source_dir/tests/golden\"" -I"$googletest/include" -I"$googletest" "${@:2}" -c "$1" -o "${objects[-1]}"
}
compile "$googletest/src/gtest-all.cc"
compile "$googletest/src/gtest_main.cc"
# As one source: compiled each alone, they read the same headers 17 times.
printf '#include "%s"\n' "$source_dir"/tests/unit/kernels/*.cc >"$scratch/tests.cc"
compile "$scratch/tests.cc" -DTFAOT_TEST_SLOWED -I"$source_dir" -I"$source_dir/modules/kernels/abi/include" -I"$source_dir/modules/runtime/include"
"$compiler" -static "${objects[@]}" "$runtime" -lpthread -o "$scratch/kernels" 2>"$scratch/linked" || {
  cat "$scratch/linked" >&2
  exit 1
}
exec qemu-aarch64 "$scratch/kernels" --gtest_brief=1
