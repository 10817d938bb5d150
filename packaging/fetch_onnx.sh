#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Finds or fetches the ONNX wheel (onnx_wheel.txt) and prints the 'onnx' folder in it as the last line of stdout. The engine is built with
# its onnx-ml.proto; its test data is what the standard asks of an implementation. TFAOT_ONNX_ROOT names an existing folder. No part of it
# is installed.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
if [[ -n ${TFAOT_ONNX_ROOT:-} ]]; then
  [[ -f $TFAOT_ONNX_ROOT/onnx-ml.proto ]] || fail "TFAOT_ONNX_ROOT=$TFAOT_ONNX_ROOT has no onnx-ml.proto" \
    "Name the 'onnx' folder of an unpacked wheel, or unset it to have one fetched."
  echo "$TFAOT_ONNX_ROOT"
  exit 0
fi
wheel=packaging/onnx_wheel.txt
folder=$(cache_folder)/onnx-$(hash_of "$wheel")
fill_onnx() {
  echo "fetch_onnx: fetching the ONNX wheel (19 MB) into $folder" >&2
  pip_install "$1" --no-deps --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_28_x86_64 \
    --requirement "$wheel" >&2
}
cached "$folder" fill_onnx
echo "$folder/onnx"
