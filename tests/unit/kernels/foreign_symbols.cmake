# SPDX-License-Identifier: Apache-2.0
# The runtime defines nothing in TensorFlow's namespaces: a plugin may have another version of the same classes.
execute_process(COMMAND "${NM}" -g --defined-only "${ARCHIVE}" OUTPUT_VARIABLE listing RESULT_VARIABLE failed)
if(failed OR NOT listing MATCHES "tfaot")
  message(FATAL_ERROR "${NM} ${ARCHIVE}: ${failed}")
endif()
string(REGEX MATCHALL "[A-Za-z] _Z[^ \n]*[^a-z0-9_](3xla|3tsl|10tensorflow)[^ \n]*\n" foreign "${listing}")
foreach(symbol IN LISTS foreign)
  message(SEND_ERROR "a symbol of TensorFlow: ${symbol}")
endforeach()
