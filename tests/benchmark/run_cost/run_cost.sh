#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nanoseconds and, where valgrind is, instructions that run() adds to a call: bash run_cost.sh PROGRAM
# PROGRAM is the target run_cost. Instructions are those of 100000 calls less those of none.
set -euo pipefail
program=$1
"$program"
if ! command -v valgrind > /dev/null; then
  echo "no valgrind here: no instructions counted"
  exit 0
fi
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 | sed -n 's/.*Collected : //p'
}
none=$(count none 100000)
for what in bare native named; do
  instructions=$(count $what 100000)
  echo "$what: $(((instructions - none) / 100000)) instructions a call"
done
