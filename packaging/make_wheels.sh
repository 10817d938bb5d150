#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_wheels.sh [--fast] TARBALL OUT: makes the wheels tfaot, of what the tarball of release.sh holds, and tfaot-compiler in the folder
# OUT. --fast: for a test; see compiler_archive.sh.
set -euo pipefail
packaging=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
fast=()
if [[ ${1:-} == --fast ]]; then fast=(--fast) && shift; fi
(($# == 2)) || { sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
PATH=/usr/bin:$PATH # Debian's Python, which has Debian's python3-wheel
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar xzf "$1" -C "$scratch"
python3 "$packaging/make_wheels.py" tools "$scratch"/tfaot-* "$2"
made=$(bash "$packaging/compiler_archive.sh" "${fast[@]}" | tail -n 1)
python3 "$packaging/make_wheels.py" compiler "$made" "$2"
