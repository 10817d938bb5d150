#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The arguments of study.sh: a wrong one ends it with code 2, the reason and the usage, before anything is installed or measured.
set -euo pipefail
script=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)/packaging/study.sh
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0

expect_refusal() { # REASON WORD...
  local reason="study.sh: $1" code=0
  shift
  # If the script continued, it would fail differently: the cache cannot be made.
  TFAOT_CACHE_DIR=/nonexistent bash "$script" "$@" >"$out" 2>&1 || code=$?
  if [[ $code != 2 || $(head -n 1 "$out") != "$reason" || $(sed -n 2p "$out") != "usage: packaging/study.sh "* ]]; then
    printf 'study.sh %s ended with code %d and\n%s\nbut should end with 2 and\n%s\n' "$*" "$code" "$(cat "$out")" "$reason"
    failed=1
  fi
}

expect_refusal "unknown argument '--fast'" --fast
expect_refusal "unknown argument 'node1'" --cpu-clock node1
expect_refusal "--rounds needs a number" --rounds
expect_refusal "'many' is not a number of rounds" --rounds many
expect_refusal "'0' is not a number of rounds" --rounds 0
expect_refusal "--machine needs a name" --rounds 3 --machine
expect_refusal "'a/b' is no name of letters, digits and '.', '_', '+', '-'" --machine a/b
expect_refusal "'..' is no name of letters, digits and '.', '_', '+', '-'" --machine ..

code=0
bash "$script" --help >"$out" || code=$?
if [[ $code != 0 || $(head -n 1 "$out") != "usage: "* || $(grep -c -- '^  --' "$out") != 3 ]]; then
  printf 'study.sh --help ended with code %d and\n%s\n' "$code" "$(cat "$out")"
  failed=1
fi
exit "$failed"
