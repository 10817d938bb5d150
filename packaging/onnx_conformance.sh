#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnx_conformance.sh [--setup-only | --no-fetch] [--only REGEX] [--part PART] [--jobs N] [--update-docs] ...: compiles and runs the ONNX
# standard's own test models with the toolkit in build/release (TFAOT_BUILD names another build); --help lists all options. The wheel that
# holds them, and what reads them, are fetched into the cache once; with --no-fetch the exit code is 77 if they are missing.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
requirements=packaging/onnx_conformance.txt
fetch=true setup_only=false
case ${1:-} in
  --setup-only) setup_only=true; shift ;;
  --no-fetch) fetch=false; shift ;;
esac
onnx=$(bash packaging/fetch_onnx.sh)
modules=$(cache_folder)/onnx-tests-$(hash_of "$requirements")
if ! $fetch && [[ ! -d $modules ]]; then
  echo "onnx_conformance: its Python modules are missing; 'bash packaging/onnx_conformance.sh --setup-only' fetches them"
  exit 77
fi
fill_onnx_tests() { pip_install "$1" --no-deps --requirement "$requirements" >&2; }
cached "$modules" fill_onnx_tests
! $setup_only || exit 0
build=$(realpath "${TFAOT_BUILD:-build/release}")
tool=$build/bin/tfaot
[[ -x $tool ]] || fail "there is no $tool" "Build it: bash packaging/quickstart.sh"
arguments=()
for argument in "$@"; do
  if [[ $argument == --update-docs ]]; then arguments+=(--page docs/onnx_conformance.md); else arguments+=("$argument"); fi
done
PYTHONPATH=$build/lib/tfaot/python:$(dirname "$onnx"):$modules exec python3 tests/onnx/conformance.py --tool "$tool" \
  --data "$onnx/backend/test/data" ${arguments[@]+"${arguments[@]}"}
