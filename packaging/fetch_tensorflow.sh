#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Finds or fetches the TensorFlow that the engine is built with and runs with, and prints its root as the last line of
# stdout. TFAOT_TENSORFLOW_ROOT names an existing one, the 'tensorflow' folder of a wheel of the pinned version. Otherwise
# pip fetches the pinned wheel (with the machine's own index settings) into a cache. All build trees and the installed
# toolkit share it ('tfaot setup' runs this script): $TFAOT_CACHE_DIR, else $XDG_CACHE_HOME/tfaot, else ~/.cache/tfaot.
# It is unpacked in a temporary folder and renamed under a lock, so that nobody sees half a cache.
set -euo pipefail
export PYTHONSAFEPATH=1 # else python3 -m and python3 - take modules from the current folder

# shellcheck source=packaging/tensorflow_wheel.txt
source "$(dirname "${BASH_SOURCE[0]}")/tensorflow_wheel.txt"
needed_mb=1200 # the wheel and the files kept from it, at the same time

say() { echo "fetch_tensorflow: $*" >&2; }
fail() {
  say "error: $1"
  shift
  local line
  for line in "$@"; do echo "  $line" >&2; done
  exit 1
}

# check_root ROOT: prints what is wrong with ROOT; nothing if we can build with it.
check_root() {
  local name header="$1/include/tensorflow/core/public/version.h" found
  for name in libtensorflow_cc.so.2 libtensorflow_framework.so.2 include xla_aot_runtime_src; do
    [[ -e $1/$name ]] || { echo "it has no $name"; return; }
  done
  found=$(sed -n 's/^#define TF_\(MAJOR\|MINOR\|PATCH\)_VERSION \([0-9]*\)$/\2/p' "$header" 2>/dev/null | paste -sd.) || true
  [[ $found == "$version" ]] || echo "it has version ${found:-unknown}, but $version is needed"
}

if [[ -n ${TFAOT_TENSORFLOW_ROOT:-} ]]; then
  problem=$(check_root "$TFAOT_TENSORFLOW_ROOT")
  [[ -z $problem ]] || fail "TFAOT_TENSORFLOW_ROOT=$TFAOT_TENSORFLOW_ROOT cannot be used: $problem" \
    "Name the 'tensorflow' folder of an unpacked $project $version wheel, or unset it to have one fetched."
  echo "$TFAOT_TENSORFLOW_ROOT"
  exit 0
fi

[[ -n ${TFAOT_CACHE_DIR:-}${XDG_CACHE_HOME:-}${HOME:-} ]] ||
  fail "none of TFAOT_CACHE_DIR, XDG_CACHE_HOME and HOME is set" "Set TFAOT_CACHE_DIR to a folder with $needed_mb MB free."
cache=${TFAOT_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/tfaot}

mkdir -p "$cache" 2>/dev/null || true
[[ -d $cache && -w $cache ]] ||
  fail "cannot write to $cache" "Set TFAOT_CACHE_DIR to a folder that you can write to, with $needed_mb MB free."
cache=$(cd "$cache" && pwd -P)
home="$cache/$folder"
exec 9>"$cache/.lock"
flock -n 9 || { say "waiting for another run that fills $cache"; flock 9; }

if [[ -d $home ]]; then
  problem=$(check_root "$home/tensorflow")
  [[ -z $problem ]] || fail "the cache $home is damaged: $problem" "Remove that folder and run this again."
  echo "$home/tensorflow"
  exit 0
fi

rm -rf "$cache"/.staging.* # left by a killed run: we hold the lock, so nobody uses them
free_mb=$(df -Pk "$cache" | awk 'NR == 2 {print int($4 / 1024)}')
((free_mb >= needed_mb)) ||
  fail "$cache has $free_mb MB free, but $needed_mb MB are needed" "Free some, or set TFAOT_CACHE_DIR to a folder on a larger disk."
python3 -m pip --version >/dev/null 2>&1 ||
  fail "python3 has no pip, which fetches the wheel" "Install it: apt-get install python3-pip" \
    "Or unpack the wheel $project $version elsewhere and set TFAOT_TENSORFLOW_ROOT to its 'tensorflow' folder."

staging=$(mktemp -d "$cache/.staging.XXXXXX")
trap 'rm -rf "$staging"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say "fetching $project $version (230 MB) into $home"
echo "$project==$version --hash=sha256:$sha256" >"$staging/requirements.txt"
if ! TMPDIR="$staging" python3 -m pip download --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
  --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_17_x86_64 \
  --dest "$staging" --requirement "$staging/requirements.txt" 2>&1 | tee "$staging/pip.log" >&2; then
  if grep -q 'DO NOT MATCH THE HASHES' "$staging/pip.log"; then
    fail "the wheel that pip found is not the pinned one (its SHA-256 differs)" \
      "Your package index serves another file: check pip's settings (pip config list). Nothing was kept."
  elif grep -q 'No space left' "$staging/pip.log"; then
    fail "the disk of $cache is full" "Free $needed_mb MB, or set TFAOT_CACHE_DIR to a folder on a larger disk."
  fi
  fail "pip could not fetch $project $version; it says why above" \
    "Check the network and pip's settings (pip config list), then run this again." \
    "Without a network: unpack that wheel elsewhere and set TFAOT_TENSORFLOW_ROOT to its 'tensorflow' folder," \
    "or put the wheel's file in a folder and set PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER."
fi

say "unpacking what is needed of it"
python3 - "$staging" <<'PYTHON' || fail "could not unpack the wheel; the reason is above" \
  "Free $needed_mb MB on the disk of $cache, or set TFAOT_CACHE_DIR to a folder on a larger disk."
import pathlib, sys, zipfile

staging = pathlib.Path(sys.argv[1])
(wheel,) = staging.glob("*.whl")
kept = ("tensorflow/libtensorflow_cc.so.2", "tensorflow/libtensorflow_framework.so.2", "tensorflow/include/",
        "tensorflow/xla_aot_runtime_src/", "tensorflow/THIRD_PARTY_NOTICES.txt", "tensorflow_cpu-")
try:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(staging / "kept", [name for name in archive.namelist() if name.startswith(kept)])
except (OSError, zipfile.BadZipFile) as error:
    sys.exit(f"{wheel.name}: {error}")
PYTHON
problem=$(check_root "$staging/kept/tensorflow")
[[ -z $problem ]] || fail "the wheel is not what it should be: $problem" "Please report this."
sync -f "$staging/kept" # before the rename: a power cut must not leave a folder of empty files
mv -T "$staging/kept" "$home"
echo "$home/tensorflow"
