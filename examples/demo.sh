#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh FOLDER PROGRAM: what `tfaot demo` runs, PROGRAM being that tfaot. Takes the model beside this script from a
# SavedModel to an installed package in the new FOLDER, and to a plugin if CMake and a compiler are there. Prints each command
# before it runs, so that you can copy it.
set -euo pipefail
folder=$1
program=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

explain() { printf '\n# %s\n' "$*"; }
run() {
  printf '$'
  printf ' %s' "${@@Q}" | sed "s/'\([A-Za-z0-9_.,/+=:@-]*\)'/\1/g" # quoted only where a shell needs it
  printf '\n'
  "$@"
}

explain "A folder of its own, with a small model and the source of a plugin."
programs=$(dirname "$program")
# shellcheck disable=SC2016 # the user's shell expands it
command -v tfaot >/dev/null || printf '$ export PATH=%q:$PATH\n' "$programs"
export PATH="$programs:$PATH"
run mkdir -p "$folder"
run cd "$folder"
run cp -rL "$here/minimal" "$here/plugin" .

explain "Compile the model into a package: code for each batch size and kind of CPU, and the weights."
run tfaot compile minimal/saved_model -o out --batch-sizes 1,2,4

explain "Predict with the package, for two rows of random inputs."
run tfaot run out --inputs random --rows 2

explain "Are these the predictions of the model itself, in TensorFlow?"
run tfaot validate out --model minimal/saved_model --only-these

explain "Pack it, and install the archive in an area, where several versions of many models can be."
run tfaot package out -o dist
run tfaot install dist/*.tar.zst --release-area area

missing=
for tool in cmake c++ make; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [[ -n $missing ]]; then
  explain "A plugin that uses it is left out, because it needs what is not installed:$missing (Debian: apt install cmake g++ make)."
else
  explain "Build a plugin that uses it. It needs neither tfaot nor TensorFlow, only the area."
  run cmake -S plugin -B build "-DCMAKE_PREFIX_PATH=$PWD/area"
  run cmake --build build
  explain "Load the plugin into a program, and predict two rows."
  run build/load_plugin build/plugin.so
fi

explain "All of it is in $PWD. Now your own model:"
printf '  tfaot report MODEL\n'
