# SPDX-License-Identifier: Apache-2.0
# The target tfaot_doxygen: pages of the headers that users include, in doxygen/html of the build folder. A public class or function
# without a comment, or a comment that doxygen does not understand, is an error. Only where doxygen is installed.
include_guard()
find_program(TFAOT_DOXYGEN doxygen)
mark_as_advanced(TFAOT_DOXYGEN)
if(NOT TFAOT_DOXYGEN)
  return()
endif()
set(golden "${PROJECT_SOURCE_DIR}/tests/golden/generate")
set(inputs
  "${PROJECT_SOURCE_DIR}/modules/runtime/include"
  "${PROJECT_SOURCE_DIR}/modules/cmssw/include"
  "${golden}/simple/include/tfaot-model-test/model.h"
  "${golden}/mixed/include/tfaot-model-MixedNet/model.h"
  "${golden}/cmssw/include/tfaot-model-TagNet/model.h")
list(TRANSFORM inputs REPLACE "(.+)" "\"\\1\"")
list(JOIN inputs " " TFAOT_DOXYGEN_INPUT)
set(TFAOT_DOXYGEN_OUTPUT "${PROJECT_BINARY_DIR}/doxygen")
file(MAKE_DIRECTORY "${TFAOT_DOXYGEN_OUTPUT}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/Doxyfile.in" "${PROJECT_BINARY_DIR}/Doxyfile" @ONLY)
add_custom_target(tfaot_doxygen COMMAND "${TFAOT_DOXYGEN}" "${PROJECT_BINARY_DIR}/Doxyfile" COMMENT "Documenting the headers" VERBATIM)
if(TFAOT_BUILD_TESTS)
  add_test(NAME docs.doxygen COMMAND "${TFAOT_DOXYGEN}" "${PROJECT_BINARY_DIR}/Doxyfile")
  set_tests_properties(docs.doxygen PROPERTIES LABELS unit)
endif()
