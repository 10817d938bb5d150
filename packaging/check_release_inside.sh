#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_release_inside.sh tarball|deb|wheels: the part of check_release.sh that runs in the bare root, as root, in a folder with
# the packages.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
step() { printf '\n== %s (%d s after the start)\n' "$*" "$SECONDS"; }
fail() {
  echo "error: $*" >&2
  exit 1
}
get() { apt-get -o Acquire::Retries=3 -qq --yes install --no-install-recommends "$@" >/dev/null; }
no_compiler() {
  local name
  for name in g++ gcc c++ cc clang++ cmake ld; do
    ! command -v "$name" || fail "$name is installed: the test would prove nothing"
  done
}

step "Install the $1"
apt-get -qq update
case $1 in
  deb)
    get ./tfaot_*.deb
    prefix=/usr
    ;;
  tarball)
    get ca-certificates python3-pip # as docs/install.md says
    prefix="/opt/a place/toolkit"
    mkdir -p "/opt/a place"
    tar xzf tfaot-*.tar.gz
    rm tfaot-*.tar.gz
    mv tfaot-* "$prefix" # a second place, with a space
    PATH="$prefix/bin:$PATH"
    ;;
  wheels)
    get ca-certificates python3-venv # numpy comes from the index of this machine
    prefix="/opt/environment"
    python3 -m venv "$prefix"
    PATH="$prefix/bin:$PATH"
    pip install --quiet --find-links . tfaot
    ;;
esac
update-ca-certificates >/dev/null 2>&1
no_compiler
examples="$prefix/share/doc/tfaot/examples"
tfaot --version
if tfaot compile -c "$examples/minimal/aot_config.yaml" -o out 2>message; then
  fail "it compiles without TensorFlow"
fi
cat message
grep -q 'else: tfaot setup' message || fail "the message does not say how to get TensorFlow"

if [[ $1 == wheels ]]; then
  step "tfaot-compiler"
  pip install --quiet --no-index --find-links . tfaot-compiler
fi
step "tfaot setup"
tfaot setup
step "tfaot setup, a second time"
tfaot setup | tee message
grep -q 'nothing to fetch' message || fail "the second set-up did something"

step "Compile and package a model without a compiler"
tfaot compile -c "$examples/minimal/aot_config.yaml" -o out
tfaot package out -o dist
tfaot install dist/*.tar.* --release-area area
no_compiler

step "Predictions with the linker alone, and in Python"
get binutils
[[ $1 == wheels ]] || get python3-numpy
tfaot run area/minimal --inputs random --rows 3
PYTHONPATH=$(tfaot setup --python-path) python3 -c '
import numpy, tfaot
model = tfaot.Model("area/minimal")
print(model, model(*[numpy.zeros((3, *one.row_shape), one.dtype) for one in model.inputs]))'

step "The compiler of the plugin"
get g++ cmake make
step "The quick start"
bash "$examples/quickstart.sh" quickstart
step "find_package(tfaot)"
cmake -S "$examples/minimal" -B minimal -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=$prefix"
cmake --build minimal
minimal/minimal
step "Works"
