# Made by tfaot from model sized, version 1.0.0. Do not edit.
# find_package(tfaot-model-sized) defines the target tfaot_model::sized: link it and include "tfaot-model-sized/model.h".
# Needs CMake 3.20. The folder may be moved, and may be reached by a symlink.
get_filename_component(_tfaot_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_tfaot_prefix "${_tfaot_prefix}/../../.." ABSOLUTE)

# find_package() wants another version of this release area; the version file found it.
set(_tfaot_other "${_tfaot_prefix}/../${${CMAKE_FIND_PACKAGE_NAME}_VERSION}/lib/cmake/tfaot-model-sized/tfaot-model-sized-config.cmake")
if(${CMAKE_FIND_PACKAGE_NAME}_VERSION AND NOT ${CMAKE_FIND_PACKAGE_NAME}_VERSION STREQUAL "1.0.0" AND EXISTS "${_tfaot_other}")
  include("${_tfaot_other}")
  return()
endif()
set(_tfaot_runtime_version "0.0.0")
set(_tfaot_objects
    sized_bs1_x86-64.o
    sized_bs1_x86-64-v3.o
    sized_bs2_x86-64.o
    sized_bs2_x86-64-v3.o
    sized_bs4_x86-64.o
    sized_bs4_x86-64-v3.o
    test_weights.o
)

set(${CMAKE_FIND_PACKAGE_NAME}_FOUND TRUE)
list(TRANSFORM _tfaot_objects PREPEND lib/ OUTPUT_VARIABLE _tfaot_files)
foreach(_tfaot_file IN LISTS _tfaot_files
        ITEMS include/tfaot-model-sized/model.h runtime/lib/libtfaot_runtime.a runtime/include/tfaot/runtime/model.h)
  if(NOT EXISTS "${_tfaot_prefix}/${_tfaot_file}")
    set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
    set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE
        "the model package in ${_tfaot_prefix} is damaged: ${_tfaot_file} is missing. Install it again.")
  endif()
endforeach()

if(${CMAKE_FIND_PACKAGE_NAME}_FOUND AND TARGET tfaot_model::sized)
  get_target_property(_tfaot_other tfaot_model::sized INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT _tfaot_other STREQUAL "${_tfaot_prefix}/include")
    set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
    set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE
        "the target tfaot_model::sized exists already, made from ${_tfaot_other}; one project can use one version of a model.")
  endif()
endif()

if(${CMAKE_FIND_PACKAGE_NAME}_FOUND AND NOT TARGET tfaot_model::sized)
  # One runtime for all models of a project, the newest: it serves older models too.
  if(NOT TARGET tfaot::runtime)
    add_library(tfaot::runtime STATIC IMPORTED)
    set_target_properties(tfaot::runtime PROPERTIES TFAOT_VERSION "none")
  endif()
  get_target_property(_tfaot_other tfaot::runtime TFAOT_VERSION)
  # Without a version it is the runtime of a toolkit in this build.
  if(_tfaot_other STREQUAL "none"
     OR (_tfaot_other AND _tfaot_runtime_version VERSION_GREATER _tfaot_other))
    set_target_properties(tfaot::runtime PROPERTIES
      IMPORTED_LOCATION "${_tfaot_prefix}/runtime/lib/libtfaot_runtime.a"
      INTERFACE_INCLUDE_DIRECTORIES "${_tfaot_prefix}/runtime/include"
      TFAOT_VERSION "${_tfaot_runtime_version}")
  endif()

  # A target for each object: otherwise CMake would not put the runtime after the objects of every model.
  list(TRANSFORM _tfaot_objects PREPEND tfaot_model::sized:: OUTPUT_VARIABLE _tfaot_targets)
  foreach(_tfaot_file IN LISTS _tfaot_objects)
    add_library(tfaot_model::sized::${_tfaot_file} UNKNOWN IMPORTED)
    set_target_properties(tfaot_model::sized::${_tfaot_file} PROPERTIES
      IMPORTED_LOCATION "${_tfaot_prefix}/lib/${_tfaot_file}"
      INTERFACE_LINK_LIBRARIES tfaot::runtime)
  endforeach()

  # PhysicsTools/TensorFlowAOT/interface/*.h, outside CMSSW, if you link it too.
  if(NOT TARGET tfaot::drop_in)
    add_library(tfaot::drop_in INTERFACE IMPORTED)
    set_target_properties(tfaot::drop_in PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${_tfaot_prefix}/runtime/include/tfaot/cmssw/drop_in"
      INTERFACE_LINK_LIBRARIES tfaot::runtime)
  endif()

  add_library(tfaot_model::sized INTERFACE IMPORTED)
  set_target_properties(tfaot_model::sized PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_tfaot_prefix}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_17
    INTERFACE_LINK_LIBRARIES "${_tfaot_targets}")
endif()

set(${CMAKE_FIND_PACKAGE_NAME}_VERSION "1.0.0")
set(${CMAKE_FIND_PACKAGE_NAME}_INCLUDE_DIRS "${_tfaot_prefix}/include")
set(${CMAKE_FIND_PACKAGE_NAME}_LIBRARIES tfaot_model::sized)

unset(_tfaot_prefix)
unset(_tfaot_runtime_version)
unset(_tfaot_objects)
unset(_tfaot_files)
unset(_tfaot_targets)
unset(_tfaot_file)
unset(_tfaot_other)
