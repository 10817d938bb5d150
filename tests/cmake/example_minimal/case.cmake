# SPDX-License-Identifier: Apache-2.0
case_configure(SOURCE "${CASE_TOOLKIT}/examples/minimal")
case_build()
case_run(minimal)
case_expect_predictions(native minimal 3)
case_expect_predictions(compatible minimal 3)
