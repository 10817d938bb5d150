# SPDX-License-Identifier: Apache-2.0
# The third model has no launcher.
set(ENV{LAUNCHED} "${CASE_BINARY}")
case_configure()
case_build()
file(STRINGS "${CASE_BINARY}/launched" launched)
list(SORT launched)
set(expected "the property" "variable")
if(CASE_GENERATOR MATCHES "Makefiles")  # which has no pools
  list(TRANSFORM launched REPLACE ", beside another" "")
  list(TRANSFORM expected APPEND ", with make")
endif()
if(NOT launched STREQUAL expected)
  message(FATAL_ERROR "launched: ${launched}\nshould be: ${expected}")
endif()
case_expect_file(build/libfirst.a build/libsecond.a build/libthird.a)
