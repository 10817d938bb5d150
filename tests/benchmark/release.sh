#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release.sh TFAOT [JOBS [ROUNDS]]: what `tfaot release` takes for 20 models of tests/e2e (small nets of different architectures): all
# of them with an empty code cache, none, and one that changed, one after the other in each round, so that a busy time of the machine
# is all of theirs. Medians of the rounds; the seconds of CPU do not depend on the machine's load, those of the clock do.
set -euo pipefail
tfaot=$(realpath "$1")
jobs=${2:-$(nproc)}
rounds=${3:-3}
works=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../e2e/models/works")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TFAOT_CACHE=$work/cache

mkdir models
for model in "$works"/*; do
  [[ ! -d $model/saved_model || $(find models -mindepth 1 -maxdepth 1 | wc -l) -ge 20 ]] || cp -r "$model" models/
done

# timed WHAT: one release; its seconds on the clock and on the CPUs, and what it says of itself.
timed() {
  TIMEFORMAT='%R %U %S'
  local times
  times=$({ time "$tfaot" release models/*/aot_config.yaml -o out -j "$jobs" >log 2>&1; } 2>&1)
  awk -v what="$1" -v said="$(grep '^built' log | cut -d';' -f1)" '{ print what ";" $1 ";" $2 + $3 ";" said }' <<<"$times" >>figures
}
for ((round = 1; round <= rounds; ++round)); do
  rm -rf out cache
  timed cold
  timed unchanged
  sed -i "s/version: .*/version: \"9.$round\"/" models/attention/aot_config.yaml
  timed "one changed"
  rm -r out
  timed "warm cache"
done

# median WHAT FIELD
median() { grep "^$1;" figures | cut -d';' -f"$2" | sort -n | sed -n "$(((rounds + 1) / 2))p"; }
for what in cold unchanged "one changed" "warm cache"; do
  printf '%-12s CPU %6.2f s, clock %6.2f s: %s\n' "$what" "$(median "$what" 3)" "$(median "$what" 2)" \
    "$(grep "^$what;" figures | cut -d';' -f4 | sort -u)"
done
echo "load: $(cut -d' ' -f1 /proc/loadavg)"
