# SPDX-License-Identifier: Apache-2.0
# Checks of keywords, shared by all public functions, so that no typing error goes unnoticed.

#[=[
_tfaot_check_args(<function> <known keywords> <unparsed words> <values of lists> <keywords without a value>)
Ends the configure, naming <function>, for a word that is not a keyword and a keyword without a value. The last four are lists: what
cmake_parse_arguments() was given and what it found.
]=]
function(_tfaot_check_args function known unparsed listed missing)
  # A misspelt keyword after a list is taken as one of its values. No value is written in capitals.
  list(FILTER listed INCLUDE REGEX "^[A-Z][A-Z_]+$")
  foreach(word IN LISTS unparsed listed)
    string(JOIN " " known ${known})
    message(FATAL_ERROR "${function}: unknown keyword '${word}'\n  Known keywords: ${known}")
  endforeach()
  foreach(keyword IN LISTS missing)
    message(FATAL_ERROR "${function}: ${keyword} needs a value")
  endforeach()
endfunction()

# _tfaot_require(<function> <keyword> <value>): ends the configure when the value is empty.
function(_tfaot_require function keyword value)
  if("${value}" STREQUAL "")
    message(FATAL_ERROR "${function}: ${keyword} is required")
  endif()
endfunction()

# _tfaot_absolute_path(<variable> <base>): makes the path in <variable> absolute and normalised; an empty one stays empty.
function(_tfaot_absolute_path variable base)
  if(NOT "${${variable}}" STREQUAL "")
    get_filename_component(absolute "${${variable}}" ABSOLUTE BASE_DIR "${base}")
    set(${variable} "${absolute}" PARENT_SCOPE)
  endif()
endfunction()

# _tfaot_get_model(<function> <target> <out-target> <out-tree>): the real target for <target>, which may be an alias, and the
# folder of its package tree. Error, naming <function>, if tfaot_add_model() did not make the target.
function(_tfaot_get_model function target out_target out_tree)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${function}: there is no target '${target}'; make it with tfaot_add_model() first")
  endif()
  get_target_property(aliased "${target}" ALIASED_TARGET)
  if(aliased)
    set(target "${aliased}")
  endif()
  get_target_property(tree "${target}" TFAOT_PACKAGE_TREE)
  if(NOT tree)
    message(FATAL_ERROR "${function}: target '${target}' was not made by tfaot_add_model()")
  endif()
  set(${out_target} "${target}" PARENT_SCOPE)
  set(${out_tree} "${tree}" PARENT_SCOPE)
endfunction()

# _tfaot_check_new_target(<function> <target> <hint>): error, naming <function>, if the target exists already.
function(_tfaot_check_new_target function target hint)
  if(TARGET "${target}")
    message(FATAL_ERROR "${function}: there is already a target '${target}'\n  ${hint}")
  endif()
endfunction()
