#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_models.sh FOLDER: encodes each NAME/model.txtpb here as FOLDER/NAME/model.onnx, by protoc (Debian: protobuf-compiler) and the
# pinned onnx-ml.proto. With this folder as FOLDER it renews the models of the tests; a test compares them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $# -eq 1 ]] || { echo "usage: make_models.sh FOLDER" >&2; exit 2; }
proto=$(bash "$here/../../../../packaging/fetch_onnx.sh" | tail -1)
for text in "$here"/*/model.txtpb; do
  name=$(basename "$(dirname "$text")")
  mkdir -p "$1/$name"
  protoc "--proto_path=$proto" --encode=onnx.ModelProto onnx-ml.proto < "$text" > "$1/$name/model.onnx"
done
