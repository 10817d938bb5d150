#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh WORK: does the main job once in the folder WORK, with the tfaot on PATH: a SavedModel becomes an installed
# package, and a plugin that knows neither tfaot nor TensorFlow prints predictions, which are compared with TensorFlow's
# own. Only the plugin needs CMake and a compiler.
set -euo pipefail
(($# == 1)) || { sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
mkdir -p "$1"
work=$(cd "$1" && pwd -P)
area="$work/area"

step() { printf '\n== %s\n' "$*"; }

step "Compile the model of examples/minimal into a package"
tfaot compile -c "$examples/minimal/aot_config.yaml" -o "$work/model"
rm -rf "$work/dist"
tfaot package "$work/model" -o "$work/dist"

step "Install it in a release area"
tfaot install "$work/dist"/*.tar.* --release-area "$area" --replace
tfaot list --release-area "$area"

step "Build a plugin that uses it"
cmake -S "$examples/plugin" -B "$work/plugin" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$area"
cmake --build "$work/plugin" --clean-first
if ldd "$work/plugin/plugin.so" | grep -i tensorflow; then
  echo "error: the plugin needs TensorFlow" >&2
  exit 1
fi

step "Run the plugin"
"$work/plugin/load_plugin" "$work/plugin/plugin.so" | tee "$work/predictions"
python3 - "$work/predictions" "$examples/minimal/reference.json" <<'PYTHON'
import json, sys

predictions = [float(word) for word in open(sys.argv[1]).read().split(":")[1].split()]
cases = json.load(open(sys.argv[2]))["cases"]
(reference,) = [case["outputs"]["y"] for case in cases if case["batch_size"] == 2]
assert len(predictions) == len(reference), (predictions, reference)
worst = max(abs(ours - theirs) for ours, theirs in zip(predictions, reference))
print(f"TensorFlow y: {' '.join(map(str, reference))}\nlargest difference: {worst:.1e}")
sys.exit(0 if worst <= 1e-5 else "error: the predictions differ from TensorFlow's")
PYTHON
