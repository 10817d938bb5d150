# SPDX-License-Identifier: Apache-2.0
# The model comes only from a release area: the downstream build does not know tfaot.
case_execute("compile" COMMAND "${CASE_PREFIX}/bin/tfaot" compile
              -c "${CASE_TOOLKIT}/examples/minimal/aot_config.yaml" -o "${CASE_BINARY}/tree" --quiet)
case_execute("package" COMMAND "${CASE_PREFIX}/bin/tfaot" package "${CASE_BINARY}/tree" -o "${CASE_BINARY}" --quiet)
file(GLOB archive "${CASE_BINARY}/tfaot-model-minimal-1.0.0-*.tar.zst")
case_execute("install" COMMAND "${CASE_PREFIX}/bin/tfaot" install "${archive}" --release-area "${CASE_BINARY}/area")

set(CASE_PREFIX "${CASE_BINARY}/area")
case_configure(SOURCE "${CASE_TOOLKIT}/examples/plugin")
case_build()
case_run(load_plugin ./plugin.so)
case_expect_predictions(plugin minimal 2)

case_execute("ldd" COMMAND ldd "${CASE_BINARY}/build/plugin.so")
case_expect("libstdc++.so" "libc.so")
case_expect_not("[Tt]ensor[^ ]*|tfaot[^ ]*|not found")
