# SPDX-License-Identifier: Apache-2.0
# Runs one case of tests/cmake: cmake -D CASE_SOURCE=.. -D CASE_BINARY=.. -P run_case.cmake. The folder CASE_SOURCE contains a
# mini project and its case.cmake, which calls the functions below. The first unmet expectation prints the actual output and
# fails.
#   CASE_BINARY     scratch folder, emptied first
#   CASE_PREFIX     an installed tfaot, or more prefixes with ':' between
#   CASE_TOOLKIT    tfaot's source folder
#   CASE_GENERATOR  of the mini project     CASE_OPTIONS  more options of its configure
#   CASE_CHECKER    the program tfaot_check_predictions
cmake_minimum_required(VERSION 3.20)

# case_needs_plain_folder(): make and rpmbuild split words at spaces. If the scratch folder's path has one, CASE_BINARY becomes a
# temporary folder, which stays only if the case fails.
function(case_needs_plain_folder)
  if(CASE_BINARY MATCHES " ")
    execute_process(COMMAND mktemp -d -t tfaot-case.XXXXXX OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE
                    COMMAND_ERROR_IS_FATAL ANY)
    set(CASE_BINARY "${folder}" PARENT_SCOPE)
    set(case_temporary "${folder}" PARENT_SCOPE)
  endif()
endfunction()

# case_execute(<what> [FAIL <text>] [IN <folder>] COMMAND <command>...): leaves standard output and error in case_output. The
# command must succeed or, with FAIL, fail and print <text>; spaces and line breaks in it count as equal.
function(case_execute what)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FAIL;IN" "COMMAND")
  if(NOT arg_IN)
    set(arg_IN "${CASE_BINARY}")
  endif()
  execute_process(COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${arg_IN}"
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(arg_FAIL)
    if(status EQUAL 0)
      message(FATAL_ERROR "${what}: should have failed\n${output}")
    endif()
    _case_check_text("${what}" "${output}" "${arg_FAIL}")
  elseif(NOT status EQUAL 0)
    message(FATAL_ERROR "${what}: failed with '${status}'\n${output}")
  endif()
  set(case_output "${output}" PARENT_SCOPE)
endfunction()

function(_case_check_text what output text)
  string(REGEX REPLACE "[ \n]+" " " flat_output "${output}")
  string(REGEX REPLACE "[ \n]+" " " flat_text "${text}")
  string(FIND "${flat_output}" "${flat_text}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${what}: should have said\n  ${text}\nbut said\n${output}")
  endif()
endfunction()

# case_configure([FAIL <text>] [SOURCE <folder>] [OPTIONS <option>...])
function(case_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FAIL;SOURCE" "OPTIONS")
  if(NOT arg_SOURCE)
    set(arg_SOURCE "${CASE_SOURCE}")
  endif()
  case_execute("configure" FAIL "${arg_FAIL}" COMMAND
    "${CMAKE_COMMAND}" -E env "CMAKE_PREFIX_PATH=${CASE_PREFIX}"
    "${CMAKE_COMMAND}" -S "${arg_SOURCE}" -B "${CASE_BINARY}/build" -G "${CASE_GENERATOR}"
    "-DTFAOT_EXAMPLES=${CASE_TOOLKIT}/examples" ${CASE_OPTIONS} ${arg_OPTIONS})
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

# case_build([FAIL <text>] [TARGET <target>])
function(case_build)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FAIL;TARGET" "")
  set(target "")
  if(arg_TARGET)
    set(target --target "${arg_TARGET}")
  endif()
  case_execute("build" FAIL "${arg_FAIL}" COMMAND "${CMAKE_COMMAND}" --build "${CASE_BINARY}/build" --parallel 2 ${target})
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

# case_run(<file in the build folder> [<argument>...])
function(case_run program)
  case_execute("${program}" IN "${CASE_BINARY}/build" COMMAND "${CASE_BINARY}/build/${program}" ${ARGN})
  set(case_output "${case_output}" PARENT_SCOPE)
endfunction()

# case_expect(<text>...): each is in the output of the last step. case_expect_not(<regex>): no part of it matches.
function(case_expect)
  foreach(text IN LISTS ARGN)
    _case_check_text("the last step" "${case_output}" "${text}")
  endforeach()
endfunction()
function(case_expect_not regex)
  if(case_output MATCHES "${regex}")
    message(FATAL_ERROR "the last step should not have said '${CMAKE_MATCH_0}', but said\n${case_output}")
  endif()
endfunction()

# case_expect_file(<glob in the scratch folder>...): each matches at least one file; else the contents of its folder are printed.
function(case_expect_file)
  foreach(pattern IN LISTS ARGN)
    file(GLOB found "${CASE_BINARY}/${pattern}")
    if(NOT found)
      get_filename_component(folder "${CASE_BINARY}/${pattern}" DIRECTORY)
      file(GLOB_RECURSE held RELATIVE "${folder}" "${folder}/*")
      list(JOIN held "\n  " held)
      message(FATAL_ERROR "no file ${pattern}; its folder holds\n  ${held}")
    endif()
  endforeach()
endfunction()

# case_expect_json(<file in the scratch folder> <expected> <key>...): the JSON value at these keys, without spaces.
function(case_expect_json file expected)
  file(READ "${CASE_BINARY}/${file}" text)
  string(JSON value GET "${text}" ${ARGN})
  string(REGEX REPLACE "[ \n]" "" value "${value}")
  if(NOT value STREQUAL expected)
    message(FATAL_ERROR "${file}: ${ARGN} is ${value}, should be ${expected}")
  endif()
endfunction()

# case_expect_predictions(<label> <folder of an example's model> <batch size>): the output of the last step holds lines
# "<label> <output>: <numbers>", equal to the predictions of reference.json.
function(case_expect_predictions label model batch_size)
  file(WRITE "${CASE_BINARY}/output.txt" "${case_output}")
  execute_process(COMMAND "${CASE_CHECKER}" "${CASE_BINARY}/output.txt" ${label}
                          "${CASE_TOOLKIT}/examples/${model}/reference.json" ${batch_size}
                  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${said}\n${case_output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${CASE_BINARY}")
file(MAKE_DIRECTORY "${CASE_BINARY}")
include("${CASE_SOURCE}/case.cmake")
case_execute("run paths of what was built" COMMAND bash "${CASE_TOOLKIT}/tests/packaging/check_run_paths.sh" 0 "${CASE_BINARY}")
if(case_temporary)
  file(REMOVE_RECURSE "${case_temporary}")
endif()
