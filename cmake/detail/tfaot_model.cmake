# SPDX-License-Identifier: Apache-2.0
# The parts of tfaot_add_model(): the model's names, and its library.

# _tfaot_check_toolkit(<function>): error if models cannot be compiled here.
function(_tfaot_check_toolkit function)
  if(NOT CMAKE_CXX_COMPILER)
    message(FATAL_ERROR "${function}: enable the language CXX in project() first")
  endif()
  if(NOT TARGET tfaot::engine)
    message(FATAL_ERROR "${function}: this tfaot was built without its engine; build it with TFAOT_BUILD_ENGINE=ON")
  endif()
endfunction()

# _tfaot_target_options(<out>): options for the tool if this build is for another machine than the one it runs on.
function(_tfaot_target_options out)
  set(${out} "" PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
    set(${out} --target-triple "${CMAKE_SYSTEM_PROCESSOR}-unknown-linux-gnu" PARENT_SCOPE)
  endif()
endfunction()

#[=[
_tfaot_config_of_model(<function> <out-config> MODEL <path> NAME <name> NAMESPACE <namespace> VERSION <version> [SIGNATURE <key>]
                       [BATCH <word>] [BATCH_SIZES <size>...])
Writes the config of a model without one into the build folder; what is not said here are options of the tool. The caller's variable
_tfaot_made_config is then its path, so that errors need not name a file that nobody wrote.
]=]
function(_tfaot_config_of_model function out_config)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "MODEL;NAME;NAMESPACE;VERSION;SIGNATURE;BATCH" "BATCH_SIZES")
  if(NOT EXISTS "${arg_MODEL}")
    message(FATAL_ERROR "${function}: there is no model '${arg_MODEL}'\n"
                        "  It is a SavedModel's folder, an ONNX file or a file with StableHLO.")
  endif()
  # As format_of_file() in modules/records/src/model_files.cc.
  set(format saved_model)
  if(arg_MODEL MATCHES "\\.onnx$")
    set(format onnx)
  elseif(arg_MODEL MATCHES "\\.(mlir|mlirbc|stablehlo|jax)$")
    set(format stablehlo)
  elseif(arg_MODEL MATCHES "\\.(pb|pbtxt)$")
    message(FATAL_ERROR "${function}: a frozen graph needs a config: it does not say what its inputs and outputs are\n"
                        "  'tfaot init ${arg_MODEL}' writes one.")
  elseif(NOT IS_DIRECTORY "${arg_MODEL}")
    message(FATAL_ERROR "${function}: this is no model: ${arg_MODEL}\n"
                        "  A model is a SavedModel's folder, an ONNX file (.onnx) or a file with StableHLO (.mlir, .mlirbc, .stablehlo, .jax).")
  endif()
  if(NOT "${arg_NAME}" MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${function}: the model's name '${arg_NAME}' is not a C++ name\n  Give it another one: NAME <name>.")
  endif()
  foreach(word IN ITEMS MODEL NAME NAMESPACE VERSION SIGNATURE)
    string(REPLACE "\\" "\\\\" ${word} "${arg_${word}}")
    string(REPLACE "\"" "\\\"" ${word} "${${word}}")
  endforeach()
  string(JOIN ", " sizes ${arg_BATCH_SIZES})
  if(NOT sizes MATCHES "^[1-9][0-9]*(, [1-9][0-9]*)*$")
    set(sizes 1)  # what is wrong is an option, too, and its error names that
  endif()
  set(batch "\"batch_sizes\": [${sizes}]")
  if(arg_BATCH STREQUAL "none")
    set(batch "\"batch\": \"none\"")
  endif()
  set(key "")
  if(NOT SIGNATURE STREQUAL "")
    set(key ", \"serving_key\": \"${SIGNATURE}\"")
  endif()
  string(REPLACE "::" "_" file "${arg_NAMESPACE}_${arg_NAME}")
  set(config "${CMAKE_CURRENT_BINARY_DIR}/${file}.aot_config.json")
  file(CONFIGURE OUTPUT "${config}" @ONLY CONTENT [=[
{"model": {"name": "@NAME@", "version": "@VERSION@", "format": "@format@", "@format@": "@MODEL@"@key@},
 "compilation": {"namespace": "@NAMESPACE@", @batch@}}
]=])
  set(${out_config} "${config}" PARENT_SCOPE)
  set(_tfaot_made_config "${config}" PARENT_SCOPE)
endfunction()

#[=[
_tfaot_model_identity(<function> <config> <out-name> <out-namespace> <out-version> [NAME <name>] [NAMESPACE <namespace>]
                      [VERSION <version>])
The model's names in the config. NAME and VERSION may only repeat them; NAMESPACE replaces the config's. If the tool does not exist yet,
the names come only from these keywords.
]=]
function(_tfaot_model_identity function config out_name out_namespace out_version)
  cmake_parse_arguments(PARSE_ARGV 5 arg "" "NAME;NAMESPACE;VERSION" "")
  _tfaot_read_config("${function}" "${config}" name namespace version)
  if("${name}" STREQUAL "")
    set(namespace tfaot_model)  # the config's default
    if(NOT DEFINED arg_NAME)
      message(FATAL_ERROR "${function}: give the model's NAME (model.name of ${config})\n"
        "  This project builds tfaot itself, so CMake cannot read the config with it. NAMESPACE is needed too if the config gives one, "
        "and VERSION for a SHARED library.")
    endif()
  endif()
  foreach(word IN ITEMS name version)
    string(TOUPPER ${word} keyword)
    if(DEFINED arg_${keyword} AND NOT "${${word}}" STREQUAL "" AND NOT arg_${keyword} STREQUAL "${${word}}")
      message(FATAL_ERROR "${function}: ${keyword} is '${arg_${keyword}}', but model.${word} is '${${word}}' (${config})\n"
                          "  Leave ${keyword} out, or correct one of the two.")
    endif()
  endforeach()
  foreach(word IN ITEMS name namespace version)
    string(TOUPPER ${word} keyword)
    if(DEFINED arg_${keyword})
      set(${word} "${arg_${keyword}}")
    endif()
    set(${out_${word}} "${${word}}" PARENT_SCOPE)
  endforeach()
  foreach(word IN ITEMS name namespace)
    if(NOT "${${word}}" MATCHES "^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$")
      message(FATAL_ERROR "${function}: the model's ${word} '${${word}}' is not a C++ name (${config})")
    endif()
  endforeach()
  if(TARGET "${namespace}::${name}")
    message(FATAL_ERROR "${function}: model ${namespace}::${name} was added already; give this one another NAMESPACE (${config})")
  endif()
endfunction()

# _tfaot_remove_renamed_model(<tree> <tool-name>): removes the files of the package in <tree> if they belong to another model,
# because the name in the config has changed. A source that includes the header with the old name must no longer compile: it
# would link with the new model, and miss the old one only when it runs. Called at configure time, which a changed config
# triggers, because build tools look for missing headers when they start.
function(_tfaot_remove_renamed_model tree tool_name)
  if(NOT EXISTS "${tree}/manifest.json")
    return()
  endif()
  file(READ "${tree}/manifest.json" manifest)
  string(JSON old_name ERROR_VARIABLE error GET "${manifest}" tool_name)
  string(JSON count ERROR_VARIABLE count_error LENGTH "${manifest}" files)
  if(error OR count_error OR old_name STREQUAL tool_name OR count EQUAL 0 OR NOT old_name MATCHES "^[A-Za-z0-9][A-Za-z0-9_.+-]*$")
    return()
  endif()
  message(STATUS "tfaot: ${old_name} is now called ${tool_name}; removing its files from ${tree}")
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON path ERROR_VARIABLE error GET "${manifest}" files ${i} path)
    if(NOT error AND NOT path MATCHES "(^|/)[.][.](/|$)")
      file(REMOVE "${tree}/${path}")
    endif()
  endforeach()
  # What is empty now; rmdir leaves a folder that holds more.
  execute_process(COMMAND rmdir "${tree}/include/${old_name}" "${tree}/lib/cmake/${old_name}" ERROR_QUIET)
  file(REMOVE "${tree}/manifest.json")
endfunction()

# _tfaot_plain_target(<function> <variable> <cpp-name>): turns a target in <variable> that is the C++ name into a possible target name.
function(_tfaot_plain_target function variable cpp_name)
  if("${${variable}}" MATCHES "::" AND NOT "${${variable}}" STREQUAL "${cpp_name}")
    message(FATAL_ERROR "${function}: the target is '${${variable}}', but the model's C++ name is '${cpp_name}'\n"
                        "  Give the target that name, or change model.name or compilation.namespace in the config; NAMESPACE overrides the latter.")
  endif()
  string(REPLACE "::" "_" plain "${${variable}}")
  set(${variable} "${plain}" PARENT_SCOPE)
endfunction()

# _tfaot_model_library(<target> STATIC|SHARED OBJECT <file> TREE <folder> ALIAS <name> [VERSION <version>])
function(_tfaot_model_library target type)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "OBJECT;TREE;ALIAS;VERSION" "")
  add_library(${target} ${type} "${arg_OBJECT}")
  set_source_files_properties("${arg_OBJECT}" PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX TFAOT_PACKAGE_TREE "${arg_TREE}")
  if(DEFINED TFAOT_COMPILE_LAUNCHER)
    set_property(TARGET ${target} PROPERTY TFAOT_COMPILE_LAUNCHER "${TFAOT_COMPILE_LAUNCHER}")
  endif()
  add_dependencies(${target} ${target}_compile)
  target_compile_features(${target} INTERFACE cxx_std_17)
  # The runtime's folders are read here, because users in other directories may not see an imported tfaot::runtime.
  get_target_property(runtime_folders tfaot::runtime INTERFACE_INCLUDE_DIRECTORIES)
  # Both are of this build alone: where a project installs the headers is its own choice, and the runtime's come with tfaot::runtime.
  target_include_directories(${target} SYSTEM INTERFACE "$<BUILD_INTERFACE:${runtime_folders};${arg_TREE}/include>")
  target_link_libraries(${target} PUBLIC tfaot::runtime)
  if(type STREQUAL "SHARED")
    # The kernels inside stay private, whatever other models contain.
    target_link_options(${target} PRIVATE "LINKER:--exclude-libs,ALL")
    # It needs no library of the build. CMake would otherwise pad its run path with empty parts, each of which is the current folder.
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
    # A process may use two versions, and the loader finds a library by its name.
    if(NOT "${arg_VERSION}" STREQUAL "")
      set_target_properties(${target} PROPERTIES VERSION "${arg_VERSION}" SOVERSION "${arg_VERSION}")
    endif()
    _tfaot_share_models(${target} INTERFACE)
  endif()
  add_library(${arg_ALIAS} ALIAS ${target})
endfunction()

# _tfaot_share_models(<shared library> INTERFACE|PUBLIC): its users, and with PUBLIC also its own sources, find the code and
# weights of its models in it (tfaot/runtime/detail/abi.h).
function(_tfaot_share_models target visibility)
  target_compile_definitions(${target} ${visibility} TFAOT_SHARED_MODELS)
  # Otherwise an executable that refers to the weights gets a copy of them.
  set(gcc_12 0)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(gcc_12 "$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,12>>")
  endif()
  target_compile_options(${target} INTERFACE
    "$<${gcc_12}:-mno-direct-extern-access>" "$<$<CXX_COMPILER_ID:Clang>:-fno-direct-access-external-data>")
endfunction()
