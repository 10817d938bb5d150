# SPDX-License-Identifier: Apache-2.0
# Source, build and toolkit are all in folders with a space in their path.
file(COPY "${CASE_TOOLKIT}/examples/minimal" DESTINATION "${CASE_BINARY}/a source")
case_configure(SOURCE "${CASE_BINARY}/a source/minimal")
case_build()
case_run(minimal)
case_expect_predictions(native minimal 3)
case_build()
case_expect_not("Compiling|Joining|Building|Linking")
