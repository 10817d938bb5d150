# SPDX-License-Identifier: Apache-2.0
# What a config says of its model's names, at configure time. The tool reads it, as it is the one that knows YAML and the rules.

#[=[
_tfaot_read_config(<function> <config> <out-name> <out-namespace> <out-version>)
Ends the configure, naming <function>, with the tool's message when the config is wrong. All three are empty when the tool is built by
this very project, and so is not there yet: only its caller knows them then. Makes the configure run again when the config changes.
]=]
function(_tfaot_read_config function config out_name out_namespace out_version)
  if(NOT EXISTS "${config}" OR IS_DIRECTORY "${config}")
    message(FATAL_ERROR "${function}: CONFIG is not a file: ${config}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${config}")
  get_target_property(imported tfaot::tfaot IMPORTED)
  set(identity "{\"name\": \"\", \"namespace\": \"\", \"version\": \"\"}")
  if(imported)
    get_target_property(tool tfaot::tfaot LOCATION)
    execute_process(COMMAND "${tool}" info --identity "${config}" RESULT_VARIABLE status OUTPUT_VARIABLE identity ERROR_VARIABLE said)
    if(NOT status EQUAL 0)
      string(STRIP "${said}" said)
      message(FATAL_ERROR "${function}: ${said}")
    endif()
  endif()
  foreach(word IN ITEMS name namespace version)
    string(JSON value GET "${identity}" ${word})
    set(${out_${word}} "${value}" PARENT_SCOPE)
  endforeach()
endfunction()
