# SPDX-License-Identifier: Apache-2.0
case_configure(SOURCE "${CASE_TOOLKIT}/examples/multi_model")
case_build()
case_run(load_analysis ./analysis.so)
foreach(api IN ITEMS native compatible)
  case_expect_predictions(${api}_jet_tagger multi_model/jet_tagger 1)
  case_expect_predictions(${api}_calibrator multi_model/calibrator 3)
endforeach()
