#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# batch_tools.sh [--no-fetch]: prints the folder of the Python packages in batch_tools.txt, which tests of batch systems use. They are
# fetched once, into the cache; with --no-fetch the exit code is 77 if they are missing.
set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
PATH=/usr/bin:$PATH # Debian's Python: law is a source package, built by Debian's setuptools
requirements=packaging/batch_tools.txt
folder=$(cache_folder)/batch-tools-$(hash_of "$requirements")
fill_batch_tools() { pip_install "$1" --no-binary law --no-build-isolation --requirement "$requirements" >&2; }
if [[ ${1:-} == --no-fetch && ! -d $folder ]]; then exit 77; fi
cached "$folder" fill_batch_tools
echo "$folder"
