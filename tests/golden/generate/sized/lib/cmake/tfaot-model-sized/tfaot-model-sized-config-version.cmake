# Made by tfaot from model sized, version 1.0.0. Do not edit.
# A dotted version serves requests for the same major version that are not newer; any other version serves only
# the request for exactly itself.
set(PACKAGE_VERSION "1.0.0")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
set(PACKAGE_VERSION_EXACT FALSE)

if(PACKAGE_FIND_VERSION_RANGE)
  if(PACKAGE_FIND_VERSION_MIN_MAJOR EQUAL "1"
     AND PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION_MIN
     AND ((PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE"
           AND PACKAGE_VERSION VERSION_LESS_EQUAL PACKAGE_FIND_VERSION_MAX)
          OR (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "EXCLUDE"
              AND PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX)))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
elseif(PACKAGE_FIND_VERSION_MAJOR EQUAL "1"
       AND PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()

# The objects are for one processor.
if(CMAKE_SYSTEM_PROCESSOR AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(PACKAGE_VERSION "1.0.0 (for x86_64)")
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()

# In a release area, AREA/TOOL/VERSION: another installed version, the newest one, serves what this one does not. Without a
# requested version every version serves that is for the processor.
if((PACKAGE_FIND_VERSION OR PACKAGE_VERSION_UNSUITABLE) AND NOT DEFINED _tfaot_versions)
  get_filename_component(_tfaot_versions "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(_tfaot_versions "${_tfaot_versions}/../../../.." ABSOLUTE)
  get_filename_component(_tfaot_tool "${_tfaot_versions}" NAME)
  set(_tfaot_files "")
  if(_tfaot_tool STREQUAL "tfaot-model-sized")
    file(GLOB _tfaot_files "${_tfaot_versions}/*/lib/cmake/tfaot-model-sized/tfaot-model-sized-config-version.cmake")
  endif()
  set(_tfaot_chosen "${CMAKE_CURRENT_LIST_FILE}")
  set(_tfaot_newest "")
  foreach(_tfaot_file IN LISTS _tfaot_files)
    unset(PACKAGE_VERSION_UNSUITABLE)
    include("${_tfaot_file}")
    if((PACKAGE_VERSION_COMPATIBLE OR NOT PACKAGE_FIND_VERSION) AND NOT PACKAGE_VERSION_UNSUITABLE
       AND (PACKAGE_VERSION_EXACT OR NOT ${PACKAGE_FIND_NAME}_FIND_VERSION_EXACT))
      if(PACKAGE_VERSION STREQUAL "1.0.0")
        set(_tfaot_chosen "${_tfaot_file}")
        break()
      elseif(_tfaot_newest STREQUAL "" OR PACKAGE_VERSION VERSION_GREATER _tfaot_newest)
        set(_tfaot_newest "${PACKAGE_VERSION}")
        set(_tfaot_chosen "${_tfaot_file}")
      endif()
    endif()
  endforeach()
  unset(PACKAGE_VERSION_UNSUITABLE)
  include("${_tfaot_chosen}")
  unset(_tfaot_versions)
  unset(_tfaot_tool)
  unset(_tfaot_files)
  unset(_tfaot_file)
  unset(_tfaot_chosen)
  unset(_tfaot_newest)
endif()
