# SPDX-License-Identifier: Apache-2.0
# One of the programs of examples/models_at_run_time, with a model of a release area.
#   CASE_EXAMPLE  audio, streams or rdataframe     CASE_PYTHON  for rdataframe, a Python that has ROOT
case_execute("compile" COMMAND "${CASE_PREFIX}/bin/tfaot" compile
              -c "${CASE_TOOLKIT}/examples/minimal/aot_config.yaml" -o "${CASE_BINARY}/tree" --quiet)
case_execute("package" COMMAND "${CASE_PREFIX}/bin/tfaot" package "${CASE_BINARY}/tree" -o "${CASE_BINARY}" --quiet)
file(GLOB archive "${CASE_BINARY}/tfaot-model-minimal-1.0.0-*.tar.zst")
set(area "${CASE_BINARY}/area")
case_execute("install" COMMAND "${CASE_PREFIX}/bin/tfaot" install "${archive}" --link --release-area "${area}")

if(CASE_EXAMPLE STREQUAL "rdataframe")
  case_execute("RDataFrame" COMMAND "${CASE_PYTHON}" "${CASE_TOOLKIT}/examples/models_at_run_time/rdataframe.py" "${area}")
  case_expect("mean score 0.9426498 of 1000 events")  # (0.9785502 + 0.9067493) / 2, by TensorFlow
else()
  set(CASE_PREFIX "${area}")
  case_configure(SOURCE "${CASE_TOOLKIT}/examples/models_at_run_time")
  case_build(TARGET ${CASE_EXAMPLE})
  case_run(${CASE_EXAMPLE} "${area}")
  case_expect_predictions(${CASE_EXAMPLE} minimal 2)
  if(CASE_EXAMPLE STREQUAL "audio")
    case_expect("allocations to load it, 0 in 10000 calls")
    case_expect_not("(^|\n)0 allocations")  # the counter counts
  endif()
endif()
