# SPDX-License-Identifier: Apache-2.0
# The runtime defines nothing in namespaces of others: a plugin may have another version of the same classes, and modules/runtime/NOTICE
# says that all code is ours. And it calls none of the C library's functions that ours are in place of.
execute_process(COMMAND "${NM}" -g --defined-only "${ARCHIVE}" OUTPUT_VARIABLE listing RESULT_VARIABLE failed)
if(failed OR NOT listing MATCHES "tfaot")
  message(FATAL_ERROR "${NM} ${ARCHIVE}: ${failed}")
endif()
string(REGEX MATCHALL "[A-Za-z] _Z[^ \n]*[^a-z0-9_](3xla|3tsl|10tensorflow|5Eigen|5ducc0|4absl)[^ \n]*\n" foreign "${listing}")
foreach(symbol IN LISTS foreign)
  message(SEND_ERROR "a symbol of others: ${symbol}")
endforeach()

execute_process(COMMAND "${NM}" -u "${ARCHIVE}" OUTPUT_VARIABLE listing RESULT_VARIABLE failed)
string(REGEX MATCHALL "U a?(cos|sin|tan)(h?|2)f?\n|U (cbrt|ceil|erfc?|exp[12m0]*|floor|fma|fmax|fmin|fmod|ldexp|log[12p0]*|nearbyint|pow|rint|round|roundeven|sincos|trunc)f?\n"
  foreign "${listing}")
if(failed OR foreign OR NOT listing MATCHES "U memcpy\n")
  message(SEND_ERROR "functions of the C library: ${foreign} ${failed}")
endif()
