#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The figures of docs/reliability.md, "Real time": bash real_time.sh TFAOT MODEL.onnx [CALLS [LIBRARY]]
# MODEL has one input and one output of float32. LIBRARY is ONNX Runtime's, such as capi/libonnxruntime.so.* of its wheel.
set -euo pipefail
tfaot=$1 model=$2 calls=${3:-10000000} library=${4:-}
source=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$model" "$work/real_time_net.onnx"
"$tfaot" compile "$work/real_time_net.onnx" -o "$work/package" -q
header=$(cd "$work/package/include" && ls */model.h)
class=$(sed -n 's/.*"cpp_class": "\(.*\)".*/\1/p' "$work/package/manifest.json")
c++ -std=c++20 -O2 -rdynamic -I "$source" -I "$work/package/include" -I "$work/package/runtime/include" "-DTFAOT_HEADER=\"$header\"" "-DTFAOT_CLASS=$class" \
  "$source/tests/benchmark/real_time/real_time.cc" "$source/tests/support/watched_calls.cc" "$work"/package/lib/*.o \
  "$work/package/runtime/lib/libtfaot_runtime.a" -o "$work/real_time"
"$work/real_time" "$calls"
if [[ -n $library ]]; then
  "$work/real_time" "$calls" "$library" "$model"
  if command -v strace > /dev/null; then  # what twice as many calls ask for more
    count() { strace -f -c -o "$work/trace" "$work/real_time" "$1" "$library" "$model" > /dev/null; awk '$NF == "total" {print $(NF - 1) + 0 ? $(NF - 1) : $(NF - 2)}' "$work/trace"; }
    echo "system calls of 10000 calls: $(($(count 20000) - $(count 10000)))"
  fi
fi
