#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release.sh TFAOT [JOBS]: what `tfaot release` takes for 20 models of tests/e2e (small nets of different architectures): all of
# them with an empty code cache, none, and one that changed; with the machine's load beside, as others may work on it.
set -euo pipefail
tfaot=$(realpath "$1")
jobs=${2:-$(nproc)}
works=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../e2e/models/works")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TFAOT_CACHE=$work/cache

mkdir models
for model in "$works"/*; do
  [[ ! -d $model/saved_model || $(find models -mindepth 1 -maxdepth 1 | wc -l) -ge 20 ]] || cp -r "$model" models/
done

# timed WHAT: the seconds of one release on the clock and on the CPUs, and what it says of itself.
timed() {
  TIMEFORMAT='%R %U %S'
  local times
  times=$({ time "$tfaot" release models/*/aot_config.yaml -o out -j "$jobs" >log 2>&1; } 2>&1)
  awk -v what="$1" -v said="$(grep '^built' log | cut -d';' -f1)" -v load="$(cut -d' ' -f1 /proc/loadavg)" \
    '{ printf "%-12s %6.2f s, CPU %6.2f s, load %s: %s\n", what, $1, $2 + $3, load, said }' <<<"$times"
}
timed cold
timed unchanged
sed -i 's/version: .*/version: "9.0"/' models/attention/aot_config.yaml
timed "one changed"
rm -r out
timed "warm cache"
