# SPDX-License-Identifier: Apache-2.0
set(CASE_PREFIX "")
case_configure()
case_build(TARGET minimal)
case_run(minimal/minimal)
case_expect_predictions(native minimal 3)

# The other way makes the same build.
case_configure(OPTIONS -DUSE_FETCH_CONTENT=ON)
case_build(TARGET minimal)
case_expect("no work to do")
