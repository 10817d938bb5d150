#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# For maintainers: proves that the packages of release.sh work on a bare Debian 12 machine.
# check_release.sh FOLDER [tarball|deb|wheels]...: makes a bare Debian 12 root with debootstrap in FOLDER (kept, and used
# again). In a copy of it, for the tarball, the .deb and the wheels of build/packages: installs the package, gets
# TensorFlow by 'tfaot setup' or from its wheel, and does the quick start and a build by find_package(tfaot); only these two
# need a compiler.
# Needs root and debootstrap.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
(($# >= 1)) || { sed -n '3,8s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
# shellcheck source=packaging/bare_root.sh
source "$source_dir/packaging/bare_root.sh"
(cd "$source_dir/build/packages" && sha256sum --check --quiet SHA256SUMS)
make_bare_root "$1"
folder=$(cd "$1" && pwd -P)
shift
(($# > 0)) || set -- tarball deb wheels

for kind in "$@"; do
  printf '\n===== %s\n' "$kind"
  root="$folder/$kind"
  rm -rf --one-file-system "$root"
  cp -a "$folder/root" "$root"
  mkdir -p "$root/work"
  cp "$source_dir"/build/packages/tfaot[-_]* "$source_dir/packaging/check_release_inside.sh" "$root/work"
  give_network "$root"
  run_in_root "$root" /work bash check_release_inside.sh "$kind"
  rm -rf --one-file-system "$root"
done
