# SPDX-License-Identifier: Apache-2.0
# The only calls of the tool during a build: all add_custom_command()s of tfaot are here.

#[=[
_tfaot_compile_command(<target> CONFIG <file> TREE <folder> WORK <folder> NAME <name> NAMESPACE <namespace> [VERSION <version>]
                       TOOL_NAME <name> [TUNE] [OPTIONS <option>...])
Creates the custom target <target>_compile, which makes
 - TREE, the package tree. Its manifest.json is the output that the build tool checks, with the depfile that tfaot writes.
 - WORK/model.o: all objects of the tree in one file, because only tfaot knows their number and names.
#]=]
function(_tfaot_compile_command target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TUNE" "CONFIG;TREE;WORK;NAME;NAMESPACE;VERSION;TOOL_NAME" "OPTIONS")
  set(manifest "${arg_TREE}/manifest.json")
  set(headers "${arg_TREE}/include/${arg_TOOL_NAME}")
  set(scripts "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  set(expected --expect-name "${arg_NAME}" --expect-namespace "${arg_NAMESPACE}")
  if(NOT "${arg_VERSION}" STREQUAL "")
    list(APPEND expected --expect-version "${arg_VERSION}")
  endif()
  if(DEFINED _tfaot_place)  # of an <aot_compile>
    list(APPEND expected --place "${_tfaot_place}")
  endif()
  set(launcher "$<TARGET_PROPERTY:${target},TFAOT_COMPILE_LAUNCHER>")
  set(pool "")
  if(TFAOT_COMPILE_JOB_POOL)
    set(pool JOB_POOL "${TFAOT_COMPILE_JOB_POOL}")
  endif()
  set(make "")
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    set(make "--make=$(MAKE)")  # make lends its job server only to commands that name it
  endif()
  set(tune "")
  if(arg_TUNE)
    set(tune COMMAND "$<TARGET_FILE:tfaot::tfaot>" tune "${arg_TREE}" --compiler "${CMAKE_CXX_COMPILER}" --quiet)
  endif()
  add_custom_command(
    OUTPUT "${manifest}"
    BYPRODUCTS "${headers}/model.h" "${arg_WORK}/objects.rsp"
    COMMAND "$<TARGET_FILE:tfaot::tfaot>" compile --aot-config "${arg_CONFIG}" --output-directory "${arg_TREE}"
            ${expected} ${arg_OPTIONS}
            ${make} "$<$<BOOL:${launcher}>:--launcher-word=$<JOIN:${launcher},;--launcher-word=>>"
            --depfile "${arg_WORK}/depfile.d" --object-list "${arg_WORK}/objects.rsp" --quiet
    ${tune}
    COMMAND "${CMAKE_COMMAND}" -D "HEADERS=${headers}" -D "MANIFEST=${manifest}" -P "${scripts}/tfaot_renew_times.cmake"
    DEPENDS "${arg_CONFIG}" tfaot::tfaot tfaot::engine tfaot::runtime "${scripts}/tfaot_renew_times.cmake"
    DEPFILE "${arg_WORK}/depfile.d"
    COMMENT "Compiling model ${arg_NAMESPACE}::${arg_NAME}"
    ${pool}
    COMMAND_EXPAND_LISTS
    VERBATIM)
  # The stamp is always renewed, but model.o only if it changes, so that users are linked again only when needed.
  add_custom_command(
    OUTPUT "${arg_WORK}/stamp"
    BYPRODUCTS "${arg_WORK}/model.o"
    COMMAND "${CMAKE_CXX_COMPILER}" -r -nostdlib -o "${arg_WORK}/model.new.o" "@${arg_WORK}/objects.rsp"
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${arg_WORK}/model.new.o" "${arg_WORK}/model.o"
    COMMAND "${CMAKE_COMMAND}" -E touch "${arg_WORK}/stamp"
    DEPENDS "${manifest}"
    COMMENT "Joining the objects of model ${arg_NAMESPACE}::${arg_NAME}"
    VERBATIM)
  add_custom_target(${target}_compile DEPENDS "${arg_WORK}/stamp")
endfunction()

#[=[
_tfaot_network_command(NETWORK <name> SOURCE <path without suffix> HEADERS <folder> WORK <folder>)
Makes HEADERS/<name>/header.h, WORK/function.o and WORK/metadata.o from SOURCE.pb and SOURCE.config.pbtxt.
#]=]
function(_tfaot_network_command)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NETWORK;SOURCE;HEADERS;WORK" "")
  set(header "${arg_HEADERS}/${arg_NETWORK}/header.h")
  add_custom_command(
    OUTPUT "${header}" "${arg_WORK}/function.o" "${arg_WORK}/metadata.o"
    COMMAND "$<TARGET_FILE:tfaot::tfcompile>" "--graph=${arg_SOURCE}.pb" "--config=${arg_SOURCE}.config.pbtxt"
            "--cpp_class=${arg_NETWORK}" "--target_triple=${CMAKE_SYSTEM_PROCESSOR}-unknown-linux-gnu" "--out_header=${header}"
            "--out_function_object=${arg_WORK}/function.o" "--out_metadata_object=${arg_WORK}/metadata.o"
    DEPENDS "${arg_SOURCE}.pb" "${arg_SOURCE}.config.pbtxt" tfaot::tfcompile tfaot::engine tfaot::runtime
    COMMENT "Compiling network ${arg_NETWORK}"
    VERBATIM)
endfunction()

#[=[
_tfaot_package_command(<target> MODEL <target> TREE <folder> OUTPUT_DIR <folder> FORMAT <format>)
Creates the custom target <target>, part of `all`, which packs TREE each time MODEL is compiled.
#]=]
function(_tfaot_package_command target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;TREE;OUTPUT_DIR;FORMAT" "")
  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${target}.stamp")
  add_custom_command(
    OUTPUT "${stamp}"
    COMMAND "$<TARGET_FILE:tfaot::tfaot>" package "${arg_TREE}" -o "${arg_OUTPUT_DIR}" --format ${arg_FORMAT} --quiet
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${arg_TREE}/manifest.json" tfaot::tfaot
    COMMENT "Packaging ${arg_MODEL}"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${stamp}")
  add_dependencies(${target} ${arg_MODEL}_compile)
endfunction()

#[=[
_tfaot_deploy_command(<target> MODEL <target> TREE <folder> OPTIONS <option>...)
Creates the custom target <target>, not part of `all`, which packs and installs TREE each time it is built.
#]=]
function(_tfaot_deploy_command target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;TREE" "OPTIONS")
  add_custom_target(${target}
    COMMAND "${CMAKE_COMMAND}" -D "TOOL=$<TARGET_FILE:tfaot::tfaot>" -D "TREE=${arg_TREE}"
            -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/${target}.tfaot"
            -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tfaot_deploy_step.cmake" -- ${arg_OPTIONS}
    COMMENT "Deploying ${arg_MODEL}"
    VERBATIM)
  add_dependencies(${target} ${arg_MODEL}_compile)
endfunction()
