#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# For maintainers: proves that a fresh Debian 12 machine needs nothing that is not written down.
# check_bare_root.sh FOLDER [COMMAND...]: makes a bare Debian 12 root with debootstrap in FOLDER (kept, and used
# again), clones the committed state of this tree into it, and runs COMMAND there, from the clone's root; without
# COMMAND both commands of the README. Needs root and debootstrap.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
(($# >= 1)) || { sed -n '3,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
# shellcheck source=packaging/bare_root.sh
source "$source_dir/packaging/bare_root.sh"
make_bare_root "$1"
root=$(cd "$1" && pwd -P)/root
shift
(($# > 0)) || set -- bash -c 'bash packaging/quickstart.sh && bash packaging/test.sh'

rm -rf "$root/work/a clone" # a path with a space, on purpose
mkdir -p "$root/work"
git clone -q --no-hardlinks "$source_dir" "$root/work/a clone"
give_network "$root"
run_in_root "$root" "/work/a clone" "$@"
