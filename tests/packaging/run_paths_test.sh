#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run_paths_test.sh BUILD_DIR MODEL SCRATCH: nothing that is built loads libraries from the current folder. First by what the files
# say, then by starting the programs in a folder with a hostile library for each one that they need. And the TensorFlow that the user
# names is the one that is used.
set -euo pipefail
build_dir=$1
model=$2
scratch=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
fail() {
  echo "error: $*" >&2
  exit 1
}
rm -rf "$scratch"
bash "$here/check_run_paths.sh" 7 "$build_dir"

mkdir -p "$scratch/model" "$scratch/home"
cd "$scratch"
# The check itself: each of these must be refused.
echo 'int one() { return 1; }' >one.cc
for path in ":" "/lib::/usr/lib" "lib" "\$ORIGIN:."; do
  g++ -shared -fPIC -o bad.so one.cc "-Wl,-rpath,$path"
  if bash "$here/check_run_paths.sh" 1 . >checked 2>&1; then fail "the run path '$path' passes: $(cat checked)"; fi
done
rm bad.so
mkdir inner
g++ -shared -fPIC -o inner/unnamed.so one.cc
g++ -shared -fPIC -o needs.so one.cc -Wl,--no-as-needed inner/unnamed.so
if bash "$here/check_run_paths.sh" 1 . >checked 2>&1; then fail "a needed library with a relative path passes: $(cat checked)"; fi
rm -r needs.so inner

# Each ends its process with a code of its own.
echo '#include <unistd.h>
[[gnu::constructor]] static void hostile() { _exit(66); }' >hostile.cc
g++ -shared -fPIC -o hostile.so hostile.cc
cp -r "$model" model/
programs=("$build_dir"/bin/tfaot* "$build_dir"/lib*/tfaot/python/tfaot/lib*.so)
for program in "${programs[@]}"; do
  for name in $(readelf -dW "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'); do cp hostile.so "model/$name"; done
done
[[ -e model/libuv.so.1 && -e model/libtensorflow_cc.so.2 ]] || fail "the programs need other libraries: $(ls model)"
started() {
  local code=0
  (cd model && env HOME="$scratch/home" TFAOT_CACHE_DIR="$scratch/home" "$@") >out 2>&1 || code=$?
  [[ $code != 66 ]] || fail "$* runs a library of the current folder"
  echo "$code"
}
for program in "${programs[@]}"; do
  case $program in
    *.so) code=$(started python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$program") ;;
    *) code=$(started "$program" --help) ;;
  esac
  [[ $program != */bin/tfaot && $program != *.so || $code == 0 ]] || fail "$program ends with $code: $(cat out)"
done
model_name=$(basename "$model")
[[ $(started "$build_dir/bin/tfaot" info "$model_name") == 0 ]] || fail "tfaot info: $(cat out)"

# Not the one that the toolkit was built with.
mkdir empty
[[ $(started TFAOT_TENSORFLOW_ROOT="$scratch/empty" "$build_dir/bin/tfaot" info "$model_name") == 1 ]] ||
  fail "TFAOT_TENSORFLOW_ROOT is not used: $(cat out)"
grep -q "TensorFlow's libtensorflow_cc.so.2 cannot be loaded" out || fail "without TensorFlow: $(cat out)"
