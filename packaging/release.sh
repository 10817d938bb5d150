#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the packages of the toolkit in build/packages, from the release build: tfaot-VERSION-ARCH-linux.tar.gz, which works
# wherever it is unpacked, and tfaot_VERSION_ARCH.deb. TensorFlow is in neither: 'tfaot setup' fetches it.
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_debian_packages packaging/debian-packages.txt <(echo g++-aarch64-linux-gnu) # the runtime for packages of aarch64
fetch_tensorflow
build release modules/all # no tests

step "Packages"
out="$source_dir/build/packages"
rm -rf "$out"
cpack --config build/release/CPackConfig.cmake -B "$out"
rm -rf "$out/_CPack_Packages"
(cd "$out" && sha256sum -- * | tee SHA256SUMS)
