# SPDX-License-Identifier: Apache-2.0
# Checks of keywords, shared by all public functions, so that no typing error goes unnoticed.

#[=[
_tfaot_parse_args(<function> [OPTIONS <keyword>...] [VALUES <keyword>...] [LISTS <keyword>...]
                  [REQUIRED <keyword>...] [EXCLUSIVE <keyword>...])
Reads the arguments of the calling public function, from the second on, into arg_<keyword>. It is a macro, because a function could
not see them. Stops the configure step with an error that names <function>: for an unknown word, a keyword without a value, a missing
REQUIRED keyword, or two EXCLUSIVE keywords.
]=]
macro(_tfaot_parse_args function)
  cmake_parse_arguments(keywords "" "" "OPTIONS;VALUES;LISTS;REQUIRED;EXCLUSIVE" ${ARGN})
  cmake_parse_arguments(PARSE_ARGV 1 arg "${keywords_OPTIONS}" "${keywords_VALUES}" "${keywords_LISTS}")
  # A misspelt keyword after a list becomes one of its values, but real values are never all capitals.
  set(keywords_UNKNOWN ${arg_UNPARSED_ARGUMENTS})
  foreach(keyword IN LISTS keywords_LISTS)
    set(keywords_SWALLOWED ${arg_${keyword}})
    list(FILTER keywords_SWALLOWED INCLUDE REGEX "^[A-Z][A-Z_]+$")
    list(APPEND keywords_UNKNOWN ${keywords_SWALLOWED})
  endforeach()
  foreach(word IN LISTS keywords_UNKNOWN)
    string(JOIN " " keywords_KNOWN ${keywords_OPTIONS} ${keywords_VALUES} ${keywords_LISTS})
    message(FATAL_ERROR "${function}: unknown keyword '${word}'\n  Known keywords: ${keywords_KNOWN}")
  endforeach()
  foreach(keyword IN LISTS arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${function}: ${keyword} needs a value")
  endforeach()
  foreach(keyword IN LISTS keywords_REQUIRED)
    if("${arg_${keyword}}" STREQUAL "")
      message(FATAL_ERROR "${function}: ${keyword} is required")
    endif()
  endforeach()
  set(keywords_GIVEN "")
  foreach(keyword IN LISTS keywords_EXCLUSIVE)
    if(arg_${keyword})
      list(APPEND keywords_GIVEN ${keyword})
    endif()
  endforeach()
  list(LENGTH keywords_GIVEN keywords_COUNT)
  if(keywords_COUNT GREATER 1)
    list(JOIN keywords_GIVEN " and " keywords_GIVEN)
    message(FATAL_ERROR "${function}: ${keywords_GIVEN} exclude each other; give only one")
  endif()
endmacro()

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
