#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# numpy_wheels.sh [--no-fetch]: prints the folder with the wheels in numpy_wheels.txt. They are fetched once, into the cache; with
# --no-fetch the exit code is 77 if they are missing.
set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
list=packaging/numpy_wheels.txt
folder=$(cache_folder)/numpy-wheels-$(hash_of "$list")
fill_wheels() {
  local python requirement
  while read -r python requirement; do
    [[ $python != '#' ]] || continue
    echo "$requirement" >"$1/requirement"
    python3 -m pip download --disable-pip-version-check --no-cache-dir --quiet --no-deps --require-hashes --only-binary=:all: \
      --implementation cp --python-version "$python" --abi "cp${python/./}" --platform manylinux_2_17_x86_64 \
      --dest "$1" --requirement "$1/requirement" >&2 || return
  done <"$list"
  rm "$1/requirement"
}
if [[ ${1:-} == --no-fetch && ! -d $folder ]]; then exit 77; fi
cached "$folder" fill_wheels
echo "$folder"
