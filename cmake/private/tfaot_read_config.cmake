# SPDX-License-Identifier: Apache-2.0
# The name and the namespace of a model, at configure time, when the tool that has the real parser may still have to be built.
# Reads JSON, and YAML in block style with plain or simply quoted words; says that it cannot tell for all else. What it says is
# checked by the real parser when the model is compiled (tfaot compile --expect-name, --expect-namespace).

#[=[
_tfaot_read_config(<file> <out-name> <out-namespace>)
An empty result means: cannot tell. A namespace that is not given is "tfaot_model".
#]=]
function(_tfaot_read_config file out_name out_namespace)
  file(READ "${file}" text)
  string(REPLACE "\r" "" text "${text}")
  set(format yaml)
  if(text MATCHES "^[ \t\n]*{")
    set(format json)
  endif()
  cmake_language(CALL _tfaot_${format}_value "${text}" model name name)
  cmake_language(CALL _tfaot_${format}_value "${text}" compilation namespace namespace)
  if("${name}" MATCHES "^(<none>)?$")
    set(name "")  # nor is the lack of a namespace to be trusted
    string(REPLACE "<none>" "" namespace "${namespace}")
  endif()
  string(REPLACE "<none>" "tfaot_model" namespace "${namespace}")
  set(${out_name} "${name}" PARENT_SCOPE)
  set(${out_namespace} "${namespace}" PARENT_SCOPE)
endfunction()

# _tfaot_json_value(<text> <section> <key> <out>), _tfaot_yaml_value(...): the word at section.key; "<none>" when there is no such key or
# it is null, empty when the text is written in a way this reader does not know.
function(_tfaot_json_value text section key out)
  string(JSON root ERROR_VARIABLE failure TYPE "${text}")
  string(JSON type ERROR_VARIABLE missing TYPE "${text}" ${section} ${key})
  if(failure)
    set(value "")
  elseif(missing OR type STREQUAL "NULL")
    set(value "<none>")
  else()
    string(JSON value GET "${text}" ${section} ${key})
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

function(_tfaot_yaml_value text section key out)
  set(${out} "" PARENT_SCOPE)
  if(NOT "\n${text}" MATCHES "\n[\"']?${section}[\"']?[ \t]*:")
    set(${out} "<none>" PARENT_SCOPE)
    return()
  endif()
  set(blank_lines "([ \t]*(#[^\n]*)?\n)*")
  if(NOT "\n${text}\n" MATCHES "\n[\"']?${section}[\"']?[ \t]*:[ \t]*(#[^\n]*)?\n${blank_lines}( +)[^ \t\n]")
    return()
  endif()
  set(indent "${CMAKE_MATCH_4}")
  # The section ends at the next line that starts in the first column and is no comment.
  string(REGEX MATCH "\n[\"']?${section}[\"']?[ \t]*:[ \t]*(#[^\n]*)?\n(([ \t][^\n]*|#[^\n]*)?\n)*" body "\n${text}\n")
  if(body MATCHES "\n${indent}(<<|[?&*!{%])")
    return()
  endif()
  if(NOT body MATCHES "\n${indent}[\"']?${key}[\"']?[ \t]*:[ \t]*([^\n]*)\n")
    set(${out} "<none>" PARENT_SCOPE)
    return()
  endif()
  set(value "${CMAKE_MATCH_1}")
  if(body MATCHES "\n${indent}[\"']?${key}[\"']?[ \t]*:[^\n]*\n${indent} +[^ #\n]")
    return()  # the word goes on in the next line
  endif()
  set(rest "([ \t]+#.*|[ \t]*)$")
  if(value MATCHES "^(null|Null|NULL|~|)${rest}")
    set(${out} "<none>" PARENT_SCOPE)
  elseif(value MATCHES "^\"([A-Za-z0-9_:]+)\"${rest}")
    set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  elseif(value MATCHES "^'([A-Za-z0-9_:]+)'${rest}")
    set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  elseif(value MATCHES "^([A-Za-z0-9_:]+)${rest}")
    set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()
