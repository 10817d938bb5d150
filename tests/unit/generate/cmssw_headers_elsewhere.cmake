# SPDX-License-Identifier: Apache-2.0
# Without CMSSW, a header for it says what it is, before the compiler misses a file. -D COMPILER HEADER
execute_process(COMMAND "${COMPILER}" -std=c++17 -fsyntax-only -x c++ "${HEADER}" RESULT_VARIABLE status ERROR_VARIABLE text OUTPUT_QUIET)
string(FIND "${text}" "compiled with 'headers: cmssw', which needs CMSSW's" ours)
string(FIND "${text}" "fatal error" missing)  # the first file that is not there
if(status EQUAL 0 OR ours EQUAL -1 OR ours GREATER missing)
  message(FATAL_ERROR "the compiler ended with '${status}' and\n${text}")
endif()
