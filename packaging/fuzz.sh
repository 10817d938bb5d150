#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [HOURS]: feeds all readers of files that may come from anyone with bytes that libFuzzer makes (tests/fuzz), those in the
# engine too, on all processors, for HOURS in all (default: 1). What is found lies in build/fuzz/tests/fuzz: NAME-crash-... is a
# file to give to tfaot_fuzz_NAME again. Inputs that reach new code are kept there, in found/NAME, for the next run.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
hours=${1:-1}
[[ $hours =~ ^[0-9]+$ && $hours -gt 0 ]] || fail "usage: packaging/fuzz.sh [HOURS]"
install_debian_packages packaging/debian-packages.txt packaging/debian-test-packages.txt
fetch_tensorflow
build fuzz
folder=build/fuzz/tests/fuzz
export ASAN_OPTIONS=detect_odr_violation=0:detect_leaks=0 # TensorFlow's library is not built for the sanitizer
programs=("$folder"/tfaot_fuzz_*)
seconds=$((hours * 3600 * $(nproc) / ${#programs[@]}))
step "Fuzzing for $hours h, each reader for $seconds s"
run() {
  local program=$1 name=${1##*/tfaot_fuzz_}
  "$program" -max_total_time="$2" -timeout=10 -rss_limit_mb=4096 -artifact_prefix="$3/$name-" "$3/found/$name" "$3/seeds/$name" \
    >"$3/$name.log" 2>&1 || { echo "$name found something: $3/$name.log"; exit 1; }
  echo "$name: $(grep -c NEW "$3/$name.log" || true) inputs reached new code"
}
export -f run
printf '%s\n' "${programs[@]}" | xargs -P "$(nproc)" -I{} bash -c 'run "$@"' _ {} "$seconds" "$folder" || fail "a fuzzer found something; see above."
