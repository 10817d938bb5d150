# SPDX-License-Identifier: Apache-2.0
case_configure(OPTIONS -DSIZES=1)
case_build()
case_expect_file("build/the packages/tfaot-model-minimal-1.0.0-x86_64-linux.tar.gz")
case_build()
case_expect("no work to do")
if(EXISTS "${CASE_BINARY}/build/the area")
  message(FATAL_ERROR "the model was installed by the default build")
endif()

set(installed "build/the area/tfaot-model-minimal")
case_build(TARGET first_deploy)
case_expect_file("${installed}/1.0.0/manifest.json" "${installed}/current/manifest.json"
                 "build/the area/config/toolbox/el8_amd64_gcc12/tools/selected/tfaot-model-minimal.xml")
case_expect_json("${installed}/current/manifest.json" "[1]" batch_sizes)

# Licences and notices go with the toolkit and with the runtime in every package.
foreach(file IN ITEMS doc/tfaot/README.md doc/tfaot/LICENSE doc/tfaot/NOTICE doc/tfaot/NOTICE.runtime doc/tfaot/docs/cli.md
                      tfaot/aot_config.schema.json tfaot/runtime/LICENSE tfaot/runtime/NOTICE)
  if(NOT EXISTS "${CASE_PREFIX}/share/${file}")
    message(FATAL_ERROR "the installed toolkit lacks share/${file}")
  endif()
endforeach()
case_expect_file("${installed}/current/runtime/LICENSE" "${installed}/current/runtime/NOTICE")

# scram's tool for the toolkit's own runtime: its headers hide no others, whatever PREFIX/include contains.
file(READ "${CASE_PREFIX}/share/tfaot/tfaot-runtime.xml" runtime_tool)
string(REGEX MATCH "CPPFLAGS=\"-I\\$TFAOT_RUNTIME_BASE/([^\"]+)\"" matched "${runtime_tool}")
set(runtime_include "${CMAKE_MATCH_1}")
file(GLOB children RELATIVE "${CASE_PREFIX}/${runtime_include}" "${CASE_PREFIX}/${runtime_include}/*")
if(NOT runtime_include MATCHES "/runtime/include$" OR NOT children STREQUAL "tfaot" OR
   NOT EXISTS "${CASE_PREFIX}/${runtime_include}/tfaot/runtime/model.h")
  message(FATAL_ERROR "tfaot-runtime.xml names '${runtime_include}', which is no folder of the runtime's headers alone: ${children}")
endif()

# The same version with other contents is an error, except with REPLACE.
case_configure(OPTIONS -DSIZES=2)
case_build(TARGET first_deploy FAIL "tfaot_deploy_model: the model was not deployed; see above")
case_expect_json("${installed}/current/manifest.json" "[1]" batch_sizes)
case_configure(OPTIONS -DREPLACE=REPLACE)
case_build(TARGET first_deploy)
case_expect_json("${installed}/current/manifest.json" "[2]" batch_sizes)

# The installed model is found next to the toolkit.
set(CASE_PREFIX "${CASE_PREFIX}:${CASE_BINARY}/build/the area")
file(WRITE "${CASE_BINARY}/both/CMakeLists.txt" "cmake_minimum_required(VERSION 3.20)
project(both LANGUAGES CXX)
find_package(tfaot REQUIRED)
get_target_property(before tfaot::runtime LOCATION)
find_package(tfaot-model-minimal 1.0 REQUIRED)
get_target_property(after tfaot::runtime LOCATION)
if(NOT before STREQUAL after OR NOT TARGET tfaot_model::minimal)
  message(FATAL_ERROR \"\${before} \${after}\")
endif()
")
file(REMOVE_RECURSE "${CASE_BINARY}/build/CMakeFiles" "${CASE_BINARY}/build/CMakeCache.txt")
case_configure(SOURCE "${CASE_BINARY}/both")
