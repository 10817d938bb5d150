# SPDX-License-Identifier: Apache-2.0
# A copy, as the manual advises, works without the original.
file(COPY "${CASE_TOOLKIT}/examples/cmssw_package" DESTINATION "${CASE_BINARY}")
case_configure(SOURCE "${CASE_BINARY}/cmssw_package")
case_build()
case_run(demoScore)
case_expect_predictions(program minimal 3)
case_run(demoLoadPlugin ./pluginDemoTaggerPlugins.so)
case_expect_predictions(plugin minimal 2)
case_execute("ctest" IN "${CASE_BINARY}/build" COMMAND "${CMAKE_CTEST_COMMAND}" --output-on-failure)
case_expect("100% tests passed, 0 tests failed out of 2")
case_build()
case_expect_not("Compiling|Building|Linking")
