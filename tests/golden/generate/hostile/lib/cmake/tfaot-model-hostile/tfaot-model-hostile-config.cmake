# Made by tfaot from model hostile, version 2.1-rc+1. Do not edit.
# find_package(tfaot-model-hostile) defines the target tfaot_model::hostile: link it and include "tfaot-model-hostile/model.h".
# Needs CMake 3.20. The folder may be moved, and may be reached by a symlink.
get_filename_component(_tfaot_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_tfaot_prefix "${_tfaot_prefix}/../../.." ABSOLUTE)
set(_tfaot_runtime "${_tfaot_prefix}/lib/libtfaot_runtime.a")
set(_tfaot_runtime_version "0.0.0")
set(_tfaot_objects
    "${_tfaot_prefix}/lib/hostile_bs1_x86-64.o"
)

set(${CMAKE_FIND_PACKAGE_NAME}_FOUND TRUE)
foreach(_tfaot_file IN ITEMS ${_tfaot_objects} "${_tfaot_runtime}"
        "${_tfaot_prefix}/include/tfaot-model-hostile/model.h" "${_tfaot_prefix}/include/tfaot/runtime/model.h")
  if(NOT EXISTS "${_tfaot_file}")
    set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
    set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE
        "the model package in ${_tfaot_prefix} is damaged: ${_tfaot_file} is missing. Install it again.")
  endif()
endforeach()

if(${CMAKE_FIND_PACKAGE_NAME}_FOUND AND TARGET tfaot_model::hostile)
  get_target_property(_tfaot_other tfaot_model::hostile INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT _tfaot_other STREQUAL "${_tfaot_prefix}/include")
    set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
    set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE
        "the target tfaot_model::hostile exists already, made from ${_tfaot_other}; one project can use one version of a model.")
  endif()
endif()

if(${CMAKE_FIND_PACKAGE_NAME}_FOUND AND NOT TARGET tfaot_model::hostile)
  # One runtime for all models of a project, the newest: it serves older models too.
  if(NOT TARGET tfaot::runtime)
    add_library(tfaot::runtime STATIC IMPORTED)
    set_target_properties(tfaot::runtime PROPERTIES TFAOT_VERSION "0")
  endif()
  get_target_property(_tfaot_other tfaot::runtime TFAOT_VERSION)
  if(_tfaot_runtime_version VERSION_GREATER "${_tfaot_other}")
    set_target_properties(tfaot::runtime PROPERTIES
      IMPORTED_LOCATION "${_tfaot_runtime}"
      TFAOT_VERSION "${_tfaot_runtime_version}")
  endif()

  add_library(tfaot_model::hostile INTERFACE IMPORTED)
  set_target_properties(tfaot_model::hostile PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_tfaot_prefix}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_17
    INTERFACE_LINK_LIBRARIES "${_tfaot_objects};tfaot::runtime")
endif()

set(${CMAKE_FIND_PACKAGE_NAME}_VERSION "2.1-rc+1")
set(${CMAKE_FIND_PACKAGE_NAME}_INCLUDE_DIRS "${_tfaot_prefix}/include")
set(${CMAKE_FIND_PACKAGE_NAME}_LIBRARIES tfaot_model::hostile)

unset(_tfaot_prefix)
unset(_tfaot_runtime)
unset(_tfaot_runtime_version)
unset(_tfaot_objects)
unset(_tfaot_file)
unset(_tfaot_other)
