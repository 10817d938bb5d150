#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# For maintainers: proves that a fresh Debian 12 machine needs nothing that is not written down.
# check_bare_root.sh FOLDER [COMMAND...]: makes a bare Debian 12 root with debootstrap in FOLDER (kept; used again if it
# is there), clones the committed state of this tree into it, and runs COMMAND there, from the clone's root; without
# COMMAND both commands of the README. The network and pip's settings are the host's. Needs root and debootstrap.
set -euo pipefail
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
(($# >= 1)) || { sed -n '3,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
mkdir -p "$1"
root=$(cd "$1" && pwd -P)/root
shift
(($# > 0)) || set -- bash -c 'bash packaging/quickstart.sh && bash packaging/test.sh'
((EUID == 0)) || { echo "check_bare_root: run as root: it makes a chroot" >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "check_bare_root: apt-get install debootstrap" >&2; exit 1; }

if [[ ! -e $root/.complete ]]; then
  rm -rf --one-file-system "$root"
  # The mirror of the host, so that no name of one stands here.
  mirror=$(apt-cache policy base-files | awk '/:\/\// {print $2; exit}')
  debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"}
  touch "$root/.complete"
fi

rm -rf "$root/work/a clone" # a path with a blank, on purpose
mkdir -p "$root/work"
git clone -q --no-hardlinks "$source_dir" "$root/work/a clone"

# The host's way to the network: names, package sources, pip's settings, certificates.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
[[ ! -e /etc/pip.conf ]] || cp -L /etc/pip.conf "$root/etc/"
if grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
  cp -rL /etc/apt/sources.list* "$root/etc/apt/"
  grep -lsr '^Acquire' /etc/apt/apt.conf.d | xargs -r cp -Lt "$root/etc/apt/apt.conf.d"
fi
mkdir -p "$root/usr/local/share/ca-certificates"
cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates"
settings=()
for name in $(compgen -e | grep -iE '^(pip_.*|.*_proxy|ssl_cert_file)$'); do
  settings+=("$name=${!name}")
  if [[ -f ${!name} ]]; then
    mkdir -p "$root$(dirname "${!name}")"
    cp -L "${!name}" "$root${!name}"
  fi
done

# A mount namespace of its own, so that nothing stays mounted.
inside='cd "/work/a clone" && exec "$@"'
# shellcheck disable=SC2016 # expanded by the inner shell
exec unshare --mount bash -c '
  set -e
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  exec chroot "$@"' bash "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${settings[@]}" /bin/bash -c "$inside" bash "$@"
