# SPDX-License-Identifier: Apache-2.0
# Reads a model's names from its config, at configure time. The tool reads the file, because it knows YAML and the rules.

#[=[
_tfaot_read_config(<function> <config> <out-name> <out-namespace> <out-version>)
If the config is wrong: error with the tool's message, naming <function>. All three results are empty if this project builds the tool
itself, because the tool does not exist yet; then only the caller knows them. A changed config makes CMake configure again; the tool is
then asked only about that one, since its answers are kept.
]=]
function(_tfaot_read_config function config out_name out_namespace out_version)
  if(NOT EXISTS "${config}" OR IS_DIRECTORY "${config}")
    message(FATAL_ERROR "${function}: CONFIG is not a file: ${config}")
  endif()
  if(config MATCHES "[;\n]")
    message(FATAL_ERROR "${function}: build tools cannot take the path of CONFIG, which holds a ';' or a line break: ${config}\n"
                        "  Move or rename the folder.")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${config}")
  get_target_property(imported tfaot::tfaot IMPORTED)
  set(identity "{\"name\": \"\", \"namespace\": \"\", \"version\": \"\"}")
  if(imported)
    get_target_property(tool tfaot::tfaot LOCATION)
    file(SHA256 "${config}" question)
    file(TIMESTAMP "${tool}" tool_time "%s")
    string(SHA256 question "${question};${config};${tool};${tool_time}")
    set(answer "${PROJECT_BINARY_DIR}/CMakeFiles/tfaot_configs/${question}.json")
    if(EXISTS "${answer}")
      file(READ "${answer}" identity)
    else()
      execute_process(COMMAND "${tool}" info --identity "${config}" RESULT_VARIABLE status OUTPUT_VARIABLE identity ERROR_VARIABLE said)
      if(NOT status EQUAL 0)
        string(STRIP "${said}" said)
        string(REGEX REPLACE "^tfaot: error: " "" said "${said}")
        message(FATAL_ERROR "${function}: ${said}")
      endif()
      file(WRITE "${answer}.new" "${identity}")
      file(RENAME "${answer}.new" "${answer}")
    endif()
  endif()
  foreach(word IN ITEMS name namespace version)
    string(JSON value GET "${identity}" ${word})
    set(${out_${word}} "${value}" PARENT_SCOPE)
  endforeach()
endfunction()
