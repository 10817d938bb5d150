#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the packages of the toolkit in build/packages, from the release build: tfaot-VERSION-ARCH-linux.tar.gz, which works
# wherever it is unpacked, tfaot_VERSION_ARCH.deb, and the wheels tfaot and tfaot-compiler. TensorFlow is in the last one alone:
# for the others 'tfaot setup' fetches it.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_debian_packages packaging/debian-packages.txt <(printf "%s\n" g++-aarch64-linux-gnu python3-wheel xz-utils) # the runtime for packages of aarch64
fetch_tensorflow
build release modules/all # no tests

step "Packages"
out="$source_dir/build/packages"
rm -rf "$out"
cpack --config build/release/CPackConfig.cmake -B "$out"
rm -rf "$out/_CPack_Packages"

step "Wheels"
bash packaging/make_wheels.sh "$out"/tfaot-*.tar.gz "$out"
cd "$out"
sha256sum -- tfaot* | tee SHA256SUMS # not '*': SHA256SUMS may be there before its own names are read
sha256sum --check --quiet SHA256SUMS
