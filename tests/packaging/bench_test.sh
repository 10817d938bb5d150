#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The arguments of bench.sh: a wrong one ends it with code 2, the reason and the usage, before anything is installed or measured.
set -euo pipefail
script=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)/packaging/bench.sh
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0

expect_refusal() { # REASON WORD...
  local reason="bench.sh: $1" code=0
  shift
  # If the script continued, it would fail differently: the cache cannot be made.
  TFAOT_CACHE_DIR=/nonexistent bash "$script" "$@" >"$out" 2>&1 || code=$?
  if [[ $code != 2 || $(head -n 1 "$out") != "$reason" || $(sed -n 2p "$out") != "usage: packaging/bench.sh "* ]]; then
    printf 'bench.sh %s ended with code %d and\n%s\nbut should end with 2 and\n%s\n' "$*" "$code" "$(cat "$out")" "$reason"
    failed=1
  fi
}

nets="dense_10x128, dense_20x128, dense_10x256, dense_3x32, dense_2x1024, batch_norm_5x128, autoencoder, embedding, flow, \
mixer, cnn, residual, residual_int8, mobilenet, resnet50, resnet50_int8, resnet50_224, unet, separable, lstm, gru, deepjet, \
transformer, transformer_12x384, attention, particlenet, graph, trees, bdt_100x6, bdt_500x8"
expect_refusal "unknown argument '--fast'" --fast
expect_refusal "unknown argument 'cnn'" --quick cnn
expect_refusal "--nets needs names" --nets
expect_refusal "--nets needs names" --nets ""
expect_refusal "there is no net 'dense'; known nets: $nets" --nets cnn,dense
expect_refusal "--without needs names" --without
expect_refusal "--without needs names" --without ""
expect_refusal "only these can be left out: iree usual_aot tfaot_tuned; not 'litert'" --without iree,litert
expect_refusal "--core needs a number" --core
expect_refusal "'one' is not a core that you may use" --core one
expect_refusal "'9999' is not a core that you may use" --core 9999
expect_refusal "--setup-only and --again exclude each other" --setup-only --again
expect_refusal "--resume and --again exclude each other" --again --resume
expect_refusal "--quick has its own nets; leave --nets out" --quick --nets cnn

code=0
bash "$script" --help >"$out" || code=$?
if [[ $code != 0 || $(head -n 1 "$out") != "usage: "* || $(grep -c -- '^  --' "$out") != 9 ]]; then
  printf 'bench.sh --help ended with code %d and\n%s\n' "$code" "$(cat "$out")"
  failed=1
fi
exit "$failed"
