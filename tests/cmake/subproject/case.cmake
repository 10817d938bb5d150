# SPDX-License-Identifier: Apache-2.0
set(CASE_PREFIX "")
case_configure(OPTIONS -DTFAOT_BUILD_ENGINE=OFF
  FAIL "tfaot_add_model: this tfaot was built without its engine; build it with TFAOT_BUILD_ENGINE=ON")

# A project that has no model has nothing to build.
case_configure(OPTIONS -DTFAOT_BUILD_ENGINE=ON -DNO_MODEL=ON)
case_build()
case_expect("no work to do")

set(config "${CASE_TOOLKIT}/examples/minimal/aot_config.yaml")
case_configure(OPTIONS -DNO_MODEL=OFF -DNO_NAME=STATIC
  FAIL "tfaot_add_model: give the model's NAME (model.name of ${config})
          This project builds tfaot itself, so CMake cannot read the config with it. NAMESPACE is needed too if the config
          gives one, and VERSION for a SHARED library.")
case_configure(OPTIONS "-DNO_NAME=NAME minimal SHARED"
  FAIL "tfaot_add_model: give the VERSION of the SHARED library (model.version of ${config})")
case_configure(OPTIONS -DNO_NAME=)
case_build(TARGET from_build_file)
case_run(from_build_file)
case_build(TARGET minimal)
case_run(minimal)
case_expect_predictions(native minimal 3)
case_build(TARGET misnamed_model FAIL "model.name is 'minimal' but 'other' was expected
  a keyword of tfaot_add_model() says so, or the config did when CMake ran: correct the keyword, or run CMake again")

# The other way makes the same build.
case_configure(OPTIONS -DUSE_FETCH_CONTENT=ON)
case_build(TARGET minimal)
case_expect("no work to do")
