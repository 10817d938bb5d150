#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# unique_symbols.sh RUNTIME SCRATCH COMPILER ARGUMENT...: a plugin can be unloaded. The loader keeps a library for ever if it has a
# symbol of the kind STB_GNU_UNIQUE that is not hidden. Neither the runtime nor what COMPILER ARGUMENT... -c makes of a model's headers
# may have one.
set -euo pipefail
runtime=$1
scratch=$2
shift 2
fail() {
  echo "error: $*" >&2
  exit 1
}
# unique_in FILE: "FILE(MEMBER) SYMBOL" of each.
unique_in() {
  readelf -Ws "$1" | awk '/^File: / { file = $2 } $5 == "UNIQUE" && $6 == "DEFAULT" { print file, $8 }'
}
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
# The check finds one where there is one.
echo '#include <string>
std::string text(unsigned long number) { return std::to_string(number); }' >text.cc
"$1" -O2 -fPIC -c text.cc -o text.o
[[ -n $(unique_in text.o) ]] || fail "std::to_string() has no unique symbol with this compiler, so this test shows nothing"

found=$(unique_in "$runtime")
[[ -z $found ]] || fail "$runtime has unique symbols:
$found"
"$@" -O2 -fPIC -c -o headers.o
found=$(unique_in headers.o)
[[ -z $found ]] || fail "what the headers bring has unique symbols:
$found"

# A library with all of the runtime is gone when it is closed.
"$1" -shared -o plugin.so -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive
echo '#include <dlfcn.h>
int main() {
  void* const library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 2;
  dlclose(library);
  return dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD) == nullptr ? 0 : 1;
}' >host.cc
"$1" host.cc -o host -ldl
./host || fail "a closed plugin is still loaded ($?)"
