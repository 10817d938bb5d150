#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds the toolkit, and does the main job once with it (examples/quickstart.sh).
# shellcheck source=packaging/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
install_debian_packages packaging/debian-packages.txt
fetch_tensorflow
build_release modules/all # the toolkit; test.sh builds its tests into the same folder

step "The quick start"
PATH="$source_dir/build/release/bin:$PATH" exec bash examples/quickstart.sh build/quickstart
