# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A bare Debian 12 root to try things in; source it. Needs root and debootstrap. The network and pip's settings are the
# host's.

# make_bare_root FOLDER: makes it in FOLDER/root; an existing one is used again.
make_bare_root() {
  ((EUID == 0)) || { echo "${0##*/}: run as root: it makes a chroot" >&2; exit 1; }
  command -v debootstrap >/dev/null || { echo "${0##*/}: apt-get install debootstrap" >&2; exit 1; }
  local root=$1/root mirror
  if [[ ! -e $root/.complete ]]; then
    rm -rf --one-file-system "$root"
    mkdir -p "$1"
    # Uses the host's mirror, so that no mirror is named here.
    mirror=$(apt-cache policy base-files | awk '/:\/\// {print $2; exit}')
    debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"}
    touch "$root/.complete"
  fi
}

# give_network ROOT: copies the host's network settings: names, package sources, pip's settings, certificates. Sets the
# array network_settings: environment variables for the commands that run there.
give_network() {
  local root=$1 name
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  [[ ! -e /etc/pip.conf ]] || cp -L /etc/pip.conf "$root/etc/"
  if grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
    cp -rL /etc/apt/sources.list* "$root/etc/apt/"
    grep -lsr '^Acquire' /etc/apt/apt.conf.d | xargs -r cp -Lt "$root/etc/apt/apt.conf.d"
  fi
  mkdir -p "$root/usr/local/share/ca-certificates"
  cp -rL /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates"
  network_settings=()
  for name in $(compgen -e | grep -iE '^(pip_.*|.*_proxy|ssl_cert_file)$'); do
    network_settings+=("$name=${!name}")
    if [[ -f ${!name} ]]; then
      mkdir -p "$root$(dirname "${!name}")"
      cp -L "${!name}" "$root${!name}"
    fi
  done
}

# run_in_root ROOT FOLDER COMMAND...: runs it from FOLDER inside, in its own mount namespace, so that nothing stays mounted.
run_in_root() {
  local root=$1 inside="cd '$2' && exec \"\$@\""
  shift 2
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --mount bash -c '
    set -e
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    exec chroot "$@"' bash "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${network_settings[@]}" \
    /bin/bash -c "$inside" bash "$@"
}
