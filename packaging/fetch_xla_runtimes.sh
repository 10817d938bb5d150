#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch_xla_runtimes.sh [--no-fetch]: fetches the headers and runtime sources of other versions of TensorFlow (xla_runtimes.txt) into the
# cache, for the tests of `headers: cmssw` (tests/cmssw): 250 MB each to fetch, 100 MB to keep. Prints "VERSION FOLDER" of each.
# --no-fetch: only those in the cache. CMake takes what is there, so configure again afterwards.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# unpack WHEEL FOLDER: XlaCompiledCpuFunction, what it includes, and the library that exports its part of Abseil.
unpack() {
  python3 - "$1" "$2" <<'PYTHON'
import sys, zipfile

include = ("absl/", "Eigen/", "ml_dtypes/", "tsl/", "xla/", "tensorflow/compiler/tf2xla/", "tensorflow/core/platform/")
kept = tuple(f"tensorflow/include/{folder}" for folder in include) + (
    "tensorflow/libtensorflow_framework.so.2", "tensorflow/xla_aot_runtime_src/")
with zipfile.ZipFile(sys.argv[1]) as archive:
    archive.extractall(sys.argv[2], [name for name in archive.namelist() if name.startswith(kept)])
PYTHON
}

fill_xla_runtime() {
  local wheels="$1/wheels"
  mkdir "$wheels"
  echo "fetch_xla_runtimes: fetching TensorFlow $version" >&2
  echo "tensorflow-cpu==$version --hash=sha256:$sha256" >"$wheels/requirements.txt"
  TMPDIR=$wheels python3 -m pip download --disable-pip-version-check --no-cache-dir --quiet --no-deps --require-hashes --only-binary=:all: \
    --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_27_x86_64 --platform manylinux_2_17_x86_64 \
    --dest "$wheels" --requirement "$wheels/requirements.txt" >&2 || return 1
  unpack "$wheels"/*.whl "$1" && rm -rf "$wheels"
}

while read -r version sha256; do
  folder=$(cache_folder)/xla-runtime-$version-${sha256:0:12}
  if [[ ${1:-} != --no-fetch ]]; then cached "$folder" fill_xla_runtime; fi
  if [[ -d $folder ]]; then echo "$version $folder/tensorflow"; fi
done < <(grep -v '^#' packaging/xla_runtimes.txt)
