# SPDX-License-Identifier: Apache-2.0
# rpm is killed in the middle of the upgrade from old/ to new/, or its disk gets full: users always have one of the two, whole,
# and `rpm -U --replacepkgs` does the rest.
case_execute("compile" COMMAND c++ -shared -fPIC -O -o kill_at.so "${CASE_SOURCE}/kill_at.cc" -ldl)

# upgrade_until(<NAME=VALUE>): leaves rpm's exit status in status, and the version that users get in current.
function(upgrade_until variable)
  file(REMOVE_RECURSE "${area}" "${CASE_BINARY}/db")
  case_execute("copy" COMMAND cp -a old "${area}")
  case_execute("copy" COMMAND cp -a old_db db)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "LD_PRELOAD=${CASE_BINARY}/kill_at.so" ${variable}
                          ${rpm} -U --prefix "${area}" "${second}"
                  WORKING_DIRECTORY "${CASE_BINARY}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  file(READ_SYMLINK "${area}/${name}/current" current)
  set(whole old)
  if(current STREQUAL "1.1.0")
    set(whole new)
  endif()
  case_execute("${variable}: what users get" COMMAND diff -r --no-dereference ${whole}/${name}/${current} "${area}/${name}/${current}")
  set(config "lib/cmake/${name}/${name}-config.cmake")
  case_execute("${variable}: ${config}" COMMAND "${CMAKE_COMMAND}" -E compare_files "${whole}/${config}" "${area}/${config}")
  # scram's users get the new version last.
  file(READ "${area}/config/toolbox/tools/selected/${name}.xml" tool_file)
  file(READ "${area}/${name}/${current}/etc/scram.d/${name}.xml" tool_file_of_current)
  file(READ "${CASE_BINARY}/old/config/toolbox/tools/selected/${name}.xml" old_tool_file)
  if(NOT tool_file STREQUAL tool_file_of_current AND NOT tool_file STREQUAL old_tool_file)
    message(FATAL_ERROR "${variable}: scram's tool file is of neither version:\n${tool_file}")
  endif()
  set(status "${status}" PARENT_SCOPE)
  set(current "${current}" PARENT_SCOPE)
endfunction()

# rpm names its files on their way by the second.
function(upgrade_again variable)
  case_execute("sleep" COMMAND sleep 1.1)
  case_execute("${variable}: again" COMMAND ${rpm} -U --replacepkgs --prefix "${area}" "${second}")
  case_execute("${variable}: after it" COMMAND diff -r --no-dereference new "${area}")
  case_execute("rpm -V" COMMAND ${rpm} ${verify} ${name})
  case_execute("rpm -q" COMMAND ${rpm} -qa)
  case_expect_not("1\\.0\\.0")
endfunction()

set(seen "")
foreach(call RANGE 1 1000 12)
  upgrade_until(TFAOT_KILL_AT=${call})
  if(status EQUAL 0)
    break()
  endif()
  list(APPEND seen ${current})
  upgrade_again(TFAOT_KILL_AT=${call})
endforeach()
list(REMOVE_DUPLICATES seen)
if(NOT status EQUAL 0 OR NOT seen STREQUAL "1.0.0;1.1.0")
  message(FATAL_ERROR "rpm was not killed before and after the link moved, but with ${seen}, and ended with ${status}")
endif()

foreach(write IN ITEMS 25 60)
  upgrade_until(TFAOT_FULL_AT=${write})
  if(status EQUAL 0 OR NOT current STREQUAL "1.0.0")
    message(FATAL_ERROR "rpm ended with ${status} and ${current} on a full disk")
  endif()
  upgrade_again(TFAOT_FULL_AT=${write})
endforeach()
