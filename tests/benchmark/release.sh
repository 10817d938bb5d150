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

# timed WHAT: the seconds of one release, and what it says of itself.
timed() {
  local start=$EPOCHREALTIME
  "$tfaot" release models/*/aot_config.yaml -o out -j "$jobs" >log 2>&1 || { cat log; exit 1; }
  printf '%-12s %7.2f s   load %s   %s\n' "$1" "$(awk "BEGIN { print $EPOCHREALTIME - $start }")" "$(cut -d' ' -f1 /proc/loadavg)" \
    "$(grep '^built' log | cut -d';' -f1)"
}
timed cold
timed unchanged
sed -i 's/version: .*/version: "9.0"/' models/attention/aot_config.yaml
timed "one changed"
rm -r out
timed "warm cache"
