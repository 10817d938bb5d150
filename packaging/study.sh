#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the benchmark's nets by `tfaot profile --study`; see --help.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: packaging/study.sh [--rounds N] [--machine NAME] [--cpu-clock]

Six nets, eight batch sizes, tfaot and three peers (TensorFlow, ONNX Runtime, LiteRT): makes the nets and a profile.yaml in
build/study, and writes build/study/study.html. Uses the toolkit in build/release. A study that was stopped goes on where it was.

  --rounds N       timings of each engine and batch size (default: 31)
  --machine NAME   of this machine, in the report (default: machine)
  --cpu-clock      processor time instead of wall time, for a machine that is busy
TEXT
}

wrong() {
  printf 'study.sh: %s\n' "$1" >&2
  usage >&2
  exit 2
}

rounds=31 machine=machine clock=()
while (($#)); do
  case $1 in
    --rounds)
      (($# > 1)) || wrong "--rounds needs a number"
      [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || wrong "'$2' is not a number of rounds"
      rounds=$2
      shift
      ;;
    --machine)
      (($# > 1)) || wrong "--machine needs a name"
      [[ $2 =~ ^[A-Za-z0-9_+-][A-Za-z0-9._+-]*$ ]] || wrong "'$2' is no name of letters, digits and '.', '_', '+', '-'"
      machine=$2
      shift
      ;;
    --cpu-clock) clock=(--clock processor) ;;
    --help) usage; exit 0 ;;
    *) wrong "unknown argument '$1'" ;;
  esac
  shift
done

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packaging/setup.sh
source "$here/setup.sh"
# shellcheck source=packaging/bench_setup.sh
source "$here/bench_setup.sh"
export PYTHONDONTWRITEBYTECODE=1
tfaot="$source_dir/build/release/bin/tfaot"
[[ -x $tfaot ]] || fail "there is no $tfaot; build first: cmake --build --preset release"
out="$source_dir/build/study"
peers="" python=""
fetch_peers
fetch_python

step "Nets"
nets=(dense_10x128 dense_20x128 dense_10x256 cnn transformer batch_norm_5x128)
mkdir -p "$out"
stamp=$(hash_of "$benchmarks/make_nets.py" "$benchmarks/nets"/*.py "$benchmarks/requirements.txt")
if [[ $(cat "$out/nets/stamp" 2>/dev/null) != "$stamp" ]]; then
  PYTHONPATH="$python:$peers" python3 "$benchmarks/make_nets.py" "$out/nets" "${nets[@]}" >"$out/make_nets.log" 2>&1 ||
    fail "the nets could not be made; the reason is at the end of $out/make_nets.log"
  echo "$stamp" >"$out/nets/stamp"
fi

step "Measure"
libraries=("$peers"/onnxruntime/capi/libonnxruntime.so.*)
{
  echo "# Written by packaging/study.sh."
  echo "output: results"
  echo "batch_sizes: [1, 2, 4, 8, 16, 64, 100, 256]"
  echo "rounds: $rounds"
  echo "libraries: {onnxruntime: \"${libraries[0]}\", litert: \"$peers/ai_edge_litert/libLiteRt.so\"}"
  echo "models:"
  for net in "${nets[@]}"; do
    echo "  - package: nets/$net/aot_config.yaml"
    echo "    peers: {tensorflow: nets/$net/saved_model, onnxruntime: nets/$net/net.onnx, litert: nets/$net/net.tflite}"
  done
} >"$out/profile.yaml"
cd "$out"
"$tfaot" profile --study profile.yaml --machine "$machine" "${clock[@]}" --html study.html >study.txt
step "Done: build/study/study.html"
