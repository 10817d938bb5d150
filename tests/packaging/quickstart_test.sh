#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart_test.sh BUILD_DIR: quickstart.sh builds the tools, the runtime and all else that `cmake --install` and CPack
# (packaging/release.sh) put anywhere, such as the runtime for aarch64; but no tests.
set -euo pipefail
build_dir=$1
packaging=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)/packaging
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Stand-ins: every package is installed, a configure does nothing, and a build ends the script.
cat >"$scratch/dpkg-query" <<'SH'
#!/bin/sh
printf installed
SH
cat >"$scratch/cmake" <<SH
#!/bin/sh
[ "\$1" = --build ] || exit 0
printf '%s\n' "\$@" >"$scratch/words"
exit 9
SH
chmod +x "$scratch/dpkg-query" "$scratch/cmake"
code=0
PATH="$scratch:$PATH" bash "$packaging/quickstart.sh" >"$scratch/out" 2>&1 || code=$?
if [[ $code != 9 || ! -s $scratch/words ]]; then
  printf 'quickstart.sh ended with code %d before it built:\n%s\n' "$code" "$(cat "$scratch/out")"
  exit 1
fi

target=$(sed -n '/^--target$/{n;p}' "$scratch/words")
ninja -C "$build_dir" -t commands ${target:+"$target"} >"$scratch/commands"
failed=0
for product in bin/tfaot bin/tfaot-engine bin/tfaot-buildfile bin/tfaot-tfcompile lib/libtfaot_runtime.a; do
  grep -q -- "[ /]$product\( \|\$\)" "$scratch/commands" || { echo "quickstart.sh does not build $product" && failed=1; }
done
if grep -m 1 ' tests/' "$scratch/commands"; then
  echo "quickstart.sh builds tests, such as the one above"
  failed=1
fi

# Files of the build folder that are installed: made by a command of that build, or written when it was configured.
find "$build_dir" \( -path "$build_dir/tests" -o -path "$build_dir/runtime_*" \) -prune -o -name cmake_install.cmake -print0 |
  xargs -0 grep -ohE '"/[^"$]+"' | tr -d '"' | grep -v -e '/cmake_install\.cmake$' -e /CMakeFiles/ | sort -u >"$scratch/paths"
ninja -C "$build_dir" -t targets all | sed 's/: [^:]*$//' >"$scratch/outputs"
installed=0
while IFS= read -r path; do
  [[ $path == "$build_dir"/* ]] || continue
  installed=$((installed + 1))
  output=$(awk -v path="${path#"$build_dir"/}" '$0 == path || (path ~ /\/$/ && index($0, path) == 1) {print; exit}' "$scratch/outputs")
  if [[ -z $output ]]; then
    [[ -e $path ]] || { echo "$path is installed, and nothing makes it" && failed=1; }
  elif ! grep -qxF -- "$(ninja -C "$build_dir" -t commands "$output" | tail -n 1)" "$scratch/commands"; then
    echo "quickstart.sh does not build $path, which is installed"
    failed=1
  fi
done <"$scratch/paths"
((installed > 5)) || { echo "only $installed files of $build_dir are installed" && failed=1; }
exit "$failed"
