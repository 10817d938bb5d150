# SPDX-License-Identifier: Apache-2.0
include_guard()
include(GoogleTest)
add_custom_target(tfaot_unit_tests)  # all of them

#[=[
tfaot_add_unit_test(<room> SOURCES <file>... [LIBRARIES <target>...] [WITH_COMPILER <filter>] [SHARDS <n>])
One executable tfaot_unit_<room> per room. With the label "unit", every TEST becomes a ctest of its own; or the executable, with
TFAOT_TESTS_BY_PROGRAM, for sanitizers, which take most of a test's time to start.
WITH_COMPILER names tests, as --gtest_filter does, whose work is a compiler's: sanitizers leave them out. SHARDS: so many ctests
share the executable's tests then, and start first.
Sources may include "tests/support/..." and find tests/golden through the TFAOT_GOLDEN_DIR definition.
#]=]
function(tfaot_add_unit_test room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "WITH_COMPILER;SHARDS" "SOURCES;LIBRARIES")
  add_executable(tfaot_unit_${room} ${arg_SOURCES})
  target_link_libraries(tfaot_unit_${room} PRIVATE tfaot_${room} ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  get_target_property(features tfaot_${room} INTERFACE_COMPILE_FEATURES)
  if("cxx_std_20" IN_LIST features)  # not what users include, which is C++17
    target_link_libraries(tfaot_unit_${room} PRIVATE tfaot_test_support)
  endif()
  target_include_directories(tfaot_unit_${room} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(tfaot_unit_${room} PRIVATE
    "TFAOT_GOLDEN_DIR=\"${PROJECT_SOURCE_DIR}/tests/golden\"")
  tfaot_target_warnings(tfaot_unit_${room})
  add_dependencies(tfaot_unit_tests tfaot_unit_${room})
  if(TFAOT_TESTS_BY_PROGRAM)
    set(command tfaot_unit_${room} --gtest_brief=1 "--gtest_filter=-${arg_WITH_COMPILER}")
    if(arg_SHARDS)
      tfaot_add_shards(unit.${room} ${arg_SHARDS} unit ${command})
    else()
      add_test(NAME unit.${room} COMMAND ${command})
      set_tests_properties(unit.${room} PROPERTIES LABELS unit)
    endif()
  else()
    tfaot_discover_tests(tfaot_unit_${room} unit)
  endif()
endfunction()

# tfaot_add_shards(<name> <count> <label> <program> [<argument>...]): the program's GoogleTest tests, shared by so many tests of
# CTest, "<name>.1" and so on, which start first.
function(tfaot_add_shards name count label)
  foreach(shard RANGE 1 ${count})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}.${shard} COMMAND ${ARGN})
    set_tests_properties(${name}.${shard} PROPERTIES
      LABELS ${label} COST 100 ENVIRONMENT "GTEST_TOTAL_SHARDS=${count};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

# tfaot_discover_tests(<program> <label> [<prefix>]): its GoogleTest tests as tests of CTest, "<prefix>Suite.Test". Their names leave out
# the values of parameters, which may be long or an address; a parameter has a name of its own.
function(tfaot_discover_tests program label)
  gtest_discover_tests(${program} TEST_PREFIX "${ARGN}" NO_PRETTY_VALUES PROPERTIES LABELS ${label} DISCOVERY_TIMEOUT 60)
endfunction()

#[=[
tfaot_use_running_engine(<test>...)
These tests compile models by one engine for all of them, which saves the 0.2 s of processor time that loading TensorFlow takes,
some hundred times. (The tests of how the engine is started do not, nor do some of each kind.)
#]=]
set(tfaot_engine_socket "${PROJECT_BINARY_DIR}/tests/engine")
function(tfaot_use_running_engine)
  string(LENGTH "${tfaot_engine_socket}" length)
  if(length GREATER 100 OR tfaot_engine_socket MATCHES " ")  # no path of a socket, or two words of a launcher
    return()
  endif()
  set_property(TEST ${ARGN} APPEND PROPERTY FIXTURES_REQUIRED tfaot_running_engine)
  set_property(TEST ${ARGN} APPEND PROPERTY
    ENVIRONMENT "TFAOT_COMPILE_LAUNCHER=$<TARGET_FILE:tfaot_launch_loaded> ${tfaot_engine_socket}")
endfunction()
