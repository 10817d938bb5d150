#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pythons.sh [--no-fetch]: prints a line VERSION|PYTHON|FOLDER for each Python from 3.9 to 3.13 that this machine has, in PATH or by
# pyenv. FOLDER has the numpy of pythons.txt for it, fetched once by its own pip into the cache, and FOLDER/wheels its wheel; with
# --no-fetch a Python without one is left out.
set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
requirements=packaging/pythons.txt

fill_numpy() {
  "$python" -m pip download --disable-pip-version-check --no-cache-dir --quiet --require-hashes --only-binary=:all: \
    --dest "$1/wheels" --requirement "$requirements" >&2 &&
    "$python" -m pip install --disable-pip-version-check --quiet --root-user-action ignore --no-index --find-links "$1/wheels" \
      --target "$1" numpy >&2
}
for version in 3.9 3.10 3.11 3.12 3.13; do
  for python in "$(command -v "python$version" || true)" "${PYENV_ROOT:-${HOME:-}/.pyenv}/versions/$version".*/bin/python3; do
    "$python" -c "" 2>/dev/null || continue
    folder=$(cache_folder)/numpy-$version-$(hash_of "$requirements" packaging/pythons.sh)
    if [[ ${1:-} != --no-fetch ]]; then cached "$folder" fill_numpy; fi
    if [[ -d $folder ]]; then echo "$version|$python|$folder"; fi
    break
  done
done
