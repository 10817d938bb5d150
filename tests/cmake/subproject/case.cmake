# SPDX-License-Identifier: Apache-2.0
set(CASE_PREFIX "")
case_configure(OPTIONS -DTFAOT_BUILD_ENGINE=OFF
  FAIL "tfaot_add_model: this tfaot was built without its engine; build it with TFAOT_BUILD_ENGINE=ON")

# A project that has no model has nothing to build.
case_configure(OPTIONS -DTFAOT_BUILD_ENGINE=ON -DNO_MODEL=ON)
case_build()
case_expect("no work to do")

case_configure(OPTIONS -DTFAOT_BUILD_ENGINE=ON -DNO_MODEL=OFF)
case_build(TARGET from_build_file)
case_run(from_build_file)
case_build(TARGET minimal)
case_run(minimal/minimal)
case_expect_predictions(native minimal 3)

# The other way makes the same build.
case_configure(OPTIONS -DUSE_FETCH_CONTENT=ON)
case_build(TARGET minimal)
case_expect("no work to do")
