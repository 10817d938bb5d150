#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compiler_archive.sh [--fast]: prints the folder with what the wheel tfaot-compiler holds (make_wheels.py): TensorFlow's two libraries
# without their symbol tables and its notices, in FOLDER/tensorflow, and as an archive, FOLDER.tar.xz. It is made once, into the cache,
# in about four minutes; with --fast in one, and the archive is a third larger.
set -euo pipefail
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=packaging/tensorflow_wheel.txt
source packaging/tensorflow_wheel.txt
preset=6,dict=128MiB
[[ ${1:-} != --fast ]] || preset=0

fill_archive() {
  local tensorflow name
  tensorflow=$(bash packaging/fetch_tensorflow.sh)
  mkdir -p "$1/$folder/tensorflow"
  for name in libtensorflow_framework.so.2 libtensorflow_cc.so.2; do
    strip --strip-all -o "$1/$folder/tensorflow/$name" "$tensorflow/$name"
  done
  cp "$tensorflow/THIRD_PARTY_NOTICES.txt" "$1/$folder/tensorflow"
  # The same bytes each time. The filter makes calls in x86 code alike, which saves a tenth.
  tar --create --sort=name --mtime=@315532800 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --directory "$1/$folder" tensorflow | xz --threads=1 --x86 --lzma2="preset=$preset" >"$1/$folder.tar.xz"
}
home=$(cache_folder)/compiler-$(hash_of "${BASH_SOURCE[0]}" packaging/tensorflow_wheel.txt)-${preset%%,*}
cached "$home" fill_archive
echo "$home"
