# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The steps that quickstart.sh and test.sh share; source it. Changes to the root of the source tree and sets $source_dir to
# it. Each step does only what is still missing, so you can run all of it again at any time.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$source_dir"

# step WHAT: begins the next part of the script and prints how long the one before took.
part="" part_start=0 parts=()
step() {
  if [[ -n $part ]]; then
    parts+=("$(printf '%6d s  %s' "$((SECONDS - part_start))" "$part")")
    printf -- '-- %s: %d s\n' "$part" "$((SECONDS - part_start))"
  fi
  printf '\n== %s (%d s after the start)\n' "$*" "$SECONDS"
  part=$* part_start=$SECONDS
}
# Prints how long the parts before this one took.
show_times() { printf '%s\n' "Time so far:" "${parts[@]}"; }
fail() {
  printf 'error: %s\n' "$@" >&2
  exit 1
}

# install_debian_packages FILE...: installs those of the packages in these lists that the machine lacks.
install_debian_packages() {
  step "Debian packages"
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "Not a Debian system: install the equivalents of $* yourself. Continuing."
    return
  fi
  local package missing=() as_root=()
  while read -r package; do
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done < <(cat "$@")
  if ((${#missing[@]} == 0)); then
    echo "all installed"
    return
  fi
  echo "installing ${missing[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "these packages are missing, and installing them needs root or sudo; as root, run:" \
      "  apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 --yes --quiet)
  { "${as_root[@]}" update && "${as_root[@]}" install --no-install-recommends "${missing[@]}"; } ||
    fail "apt-get could not install ${missing[*]}; it says why above." "Fix that (network, apt sources, disk), then run this again."
}

# Fills the cache. The configure step would do it too, but its output would be harder to see.
fetch_tensorflow() {
  step "TensorFlow, for the engine"
  bash packaging/fetch_tensorflow.sh
}

# Python packages, pinned with hashes, in the cache that fetch_tensorflow.sh uses too.
cache_folder() { echo "${TFAOT_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/tfaot}"; }
hash_of() { cat "$@" | sha256sum | cut -c1-12; }
pip_install() {
  python3 -m pip install --disable-pip-version-check --no-cache-dir --quiet --no-warn-script-location --root-user-action ignore \
    --require-hashes --only-binary=:all: --target "$@"
}
# cached FOLDER FILL: if FOLDER is missing, the function FILL fills a temporary one, which is then renamed; under a lock. A FOLDER that
# exists is whole and needs no lock, which another script may hold for minutes.
cached() {
  local home="$1" fill="$2" cache staging
  if [[ -d $home ]]; then return; fi
  cache=$(dirname "$home")
  mkdir -p "$cache"
  exec 8>"$cache/.python_lock"
  flock 8
  if [[ ! -d $home ]]; then
    rm -rf "$cache"/.python.?????? # left by a killed run: we hold the lock
    staging=$(mktemp -d "$cache/.python.XXXXXX")
    # shellcheck disable=SC2064 # this very folder
    trap "rm -rf '$staging'" EXIT
    "$fill" "$staging" || fail "pip could not fetch all of it; it says why above." "Check the network and pip's settings (pip config list), then run this again."
    mv -T "$staging" "$home"
    trap - EXIT
  fi
  exec 8>&-
}

# temporary_files_in_memory: sets TMPDIR to a folder in memory until the script ends, if there is room for it and programs may be
# started from there. The tests make and remove so many small files that a disk takes most of the time of some.
temporary_files_in_memory() {
  local folder room
  room=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail -n 1) || return 0
  ((room >= 4096)) || return 0
  folder=$(mktemp --directory /dev/shm/tfaot.XXXXXX) || return 0
  # shellcheck disable=SC2064 # this very folder
  trap "rm -rf '$folder'" EXIT
  printf '#!/bin/sh\n' >"$folder/program"
  chmod +x "$folder/program"
  if "$folder/program" 2>/dev/null; then export TMPDIR=$folder; fi
}

# build PRESET [TARGET] [OPTION...]: configures with these options of cmake and builds TARGET (default, or "": all) into
# build/PRESET. With ccache, files that one build folder compiled are not compiled again (the tests build the toolkit a second
# time, as part of another project).
build() {
  local linker=()
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  # lld needs a third of ld's time.
  if command -v ld.lld >/dev/null; then linker=(-DCMAKE_{EXE,SHARED}_LINKER_FLAGS=-fuse-ld=lld); fi
  step "Configure and build the preset '$1'"
  cmake --preset "$1" "${linker[@]}" "${@:3}"
  cmake --build --preset "$1" ${2:+--target "$2"}
}

# build_release [TARGET]: the preset 'release'. One owner of its flags: with other flags test.sh would compile everything again that
# quickstart.sh compiled. Memory for time: g++ does not look for memory that it could use again, which takes an eighth of its time.
build_release() {
  local compiler=()
  if (($(awk '/^MemTotal:/ {print $2}' /proc/meminfo) / $(nproc) >= 6000000)); then
    compiler=("-DCMAKE_CXX_FLAGS=--param=ggc-min-expand=1000 --param=ggc-min-heapsize=4000000")
  fi
  build release "${1:-}" "${compiler[@]}"
}
