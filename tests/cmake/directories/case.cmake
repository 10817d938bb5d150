# SPDX-License-Identifier: Apache-2.0
case_configure()
case_build()
case_run(programs/one)
case_expect_predictions(native minimal 3)
case_expect_file("build/packages/tfaot-model-minimal-1.0.0-*.tar.zst")
case_build()
case_expect("no work to do")
