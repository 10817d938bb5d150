#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures tfaot and the runtimes that a user could choose instead; see --help.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: packaging/bench.sh [--quick | --nets A,B] [--without A,B] [--core N] [--cpu-clock] [--setup-only | --resume | --again] [--update-docs]

Installs the other runtimes (wheels pinned with hashes, into the cache of fetch_tensorflow.sh), makes the nets, builds, measures,
and writes build/bench/results.json, benchmarks.md and benchmarks.svg. All nets take hours, and their set-up takes hours more the
first time: later runs use its runtimes, nets and code again. Close all other programs first.

  --quick        six nets, three batch sizes, fewer rounds: under five minutes after the set-up
  --nets A,B     only these nets (see NETS in tests/benchmark/make_nets.py and make_trees.py)
  --without A,B  leave out these engines, whose set-up takes longest: iree, usual_aot, tfaot_tuned
  --core N       the core that runs the engines; by default the last one
  --cpu-clock    measure processor time instead of wall time, for a machine that is busy
  --setup-only   stop before measuring
  --resume       go on where a run with the same options was stopped: nets that it measured are not measured again
  --again        measure nothing: write the tables and the plot again from build/bench/measurements.json
  --update-docs  copy the table and the plot to docs/
TEXT
}

wrong() {
  printf 'bench.sh: %s\n' "$1" >&2
  usage >&2
  exit 2
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
known_nets=$(sed -n 's/^    "\([a-z0-9_]*\)": .*/\1/p' "$here/../tests/benchmark"/make_{nets,trees}.py)
slow_engines=(iree usual_aot tfaot_tuned)
quick=() nets=() without=() core=() clock=() setup_only=false resume=() again=false update_docs=false
while (($#)); do
  case $1 in
    --quick) quick=(--quick) ;;
    --nets)
      (($# > 1)) || wrong "--nets needs names"
      IFS=, read -ra nets <<<"$2"
      ((${#nets[@]})) || wrong "--nets needs names"
      for net in "${nets[@]}"; do
        grep -qxF -- "$net" <<<"$known_nets" || wrong "there is no net '$net'; known nets: ${known_nets//$'\n'/, }"
      done
      shift
      ;;
    --without)
      (($# > 1)) || wrong "--without needs names"
      IFS=, read -ra without <<<"$2"
      ((${#without[@]})) || wrong "--without needs names"
      for engine in "${without[@]}"; do
        [[ " ${slow_engines[*]} " == *" $engine "* ]] || wrong "only these can be left out: ${slow_engines[*]}; not '$engine'"
      done
      shift
      ;;
    --core)
      (($# > 1)) || wrong "--core needs a number"
      [[ $2 =~ ^[0-9]+$ ]] || wrong "'$2' is not a core that you may use"
      taskset -c "$2" true 2>/dev/null || wrong "'$2' is not a core that you may use"
      core=(--core "$2")
      shift
      ;;
    --cpu-clock) clock=(--cpu-clock) ;;
    --setup-only) setup_only=true ;;
    --resume) resume=(--resume) ;;
    --again) again=true ;;
    --update-docs) update_docs=true ;;
    --help) usage; exit 0 ;;
    *) wrong "unknown argument '$1'" ;;
  esac
  shift
done
! $setup_only || ! $again || wrong "--setup-only and --again exclude each other"
! $again || ((${#resume[@]} == 0)) || wrong "--resume and --again exclude each other"
((${#quick[@]} == 0 || ${#nets[@]} == 0)) || wrong "--quick has its own nets; leave --nets out"
! $again || [[ -f $here/../build/bench/measurements.json ]] || wrong "--again finds no build/bench/measurements.json; measure first"

# shellcheck source=packaging/setup.sh
source "$here/setup.sh"
# shellcheck source=packaging/bench_setup.sh
source "$here/bench_setup.sh"
export PYTHONDONTWRITEBYTECODE=1
out="$source_dir/build/bench"
made="$out/nets"
scripts="$source_dir/tests/benchmark"

publish() {
  $update_docs || return 0
  cp "$out/benchmarks.md" "$out/benchmarks.svg" docs/
  echo "docs/benchmarks.md and docs/benchmarks.svg are updated"
}

if $again; then
  python3 "$scripts/driver/bench.py" --out "$out" --again "${clock[@]}"
  publish
  exit 0
fi

install_debian_packages packaging/debian-packages.txt
step "TensorFlow, for the engine and its session"
tensorflow=$(bash packaging/fetch_tensorflow.sh)

peers="" python=""
fetch_peers
fetch_python

step "Nets, and their code by the usual route and by IREE (five seconds for each batch size)"
list_of() { PYTHONPATH="$scripts/driver" python3 -c "import bench; print(*bench.$1, sep='\\n')"; } # a constant of the driver
wanted=("${nets[@]}")
if ((${#quick[@]})); then
  mapfile -t wanted < <(list_of QUICK_NETS)
  mapfile -t batches < <(list_of QUICK_BATCHES)
else
  ((${#wanted[@]})) || mapfile -t wanted <<<"$known_nets"
  mapfile -t batches < <(list_of BATCHES)
fi
stamp=$(hash_of "$scripts/make_nets.py" "$scripts/make_trees.py" "$scripts/nets"/*.py "$scripts/make_usual_aot.py" "$scripts/make_iree.py" \
  "$scripts/requirements.txt" "$scripts/peers.txt")
is_wanted() { [[ " ${without[*]} " != *" $1 "* ]]; }
make_net() {
  export PYTHONPATH="$python:$peers" # ONNX Runtime quantises
  if is_of_trees "$1"; then
    python3 "$scripts/make_trees.py" "$made" "$1"
  else
    python3 "$scripts/make_nets.py" "$made" "$1"
  fi
  echo "$stamp" >"$made/$1/stamp"
}
is_of_trees() { grep -q "^    \"$1\": " "$scripts/make_trees.py"; }
# What the usual route or IREE refuses is left out of the tables, which say so.
add_code_of_peers() {
  ! is_of_trees "$1" || return 0
  if is_wanted usual_aot && [[ ! -e $made/$1/usual_aot/seconds ]]; then
    PYTHONPATH="$python:$peers" PATH="$python/bin:$PATH" python3 "$scripts/make_usual_aot.py" "$made/$1" || echo "not by the usual route"
  fi
  ! is_wanted iree || PYTHONPATH="$python" python3 "$scripts/make_iree.py" "$peers" "$made/$1" "${batches[@]}" || echo "not by IREE"
}
mkdir -p "$made"
is_made() { [[ $(cat "$made/$1/stamp" 2>/dev/null) == "$stamp" ]]; }
for net in "${wanted[@]}"; do
  ! is_made "$net" || continue
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
  make_net "$net" >"$out/make_$net.log" 2>&1 &
done
wait
for net in "${wanted[@]}"; do
  is_made "$net" || fail "the net $net could not be made; the reason is at the end of $out/make_$net.log"
done
# Skips nets that an older script made and that are not requested now.
for net in "$made"/*/; do
  is_made "$(basename "$net")" || rm -rf "$net"
done
# What is compiled already stays, so this adds the batch sizes that an earlier, quick run did not need.
for net in "${wanted[@]}"; do
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
  add_code_of_peers "$net" >>"$out/make_$net.log" 2>&1 &
done
wait
ls "$made"

if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
step "Build"
cmake --preset bench -DTFAOT_BENCHMARK_NETS="$made"
cmake --build --preset bench
if is_wanted tfaot_tuned; then
  step "Build and tune the packages that are measured as tuned"
  cmake --build --preset bench --target tuned_runners --parallel 1
fi
! $setup_only || exit 0

step "Measure"
only=()
((${#nets[@]} == 0)) || only=(--only "${nets[@]}")
((${#without[@]} == 0)) || only+=(--without "${without[@]}")
python3 "$scripts/driver/bench.py" --out "$out" --programs "$out/tests/benchmark/bin" --nets "$made" --peers "$peers" \
  --tensorflow "$tensorflow" --tfaot "$out/bin/tfaot" "${core[@]}" "${clock[@]}" "${quick[@]}" "${resume[@]}" "${only[@]}"
publish
step "Done: build/bench/results.json, benchmarks.md and benchmarks.svg"
