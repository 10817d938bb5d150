# SPDX-License-Identifier: Apache-2.0
# The pinned TensorFlow, only for the engine. Sets TFAOT_TENSORFLOW_ROOT to the folder in use
# (the cache variable, else the environment's, else the shared cache, filled if needed by fetch_tensorflow.sh) and creates
#   tfaot_tensorflow_headers  the include folders, as system headers
#   tfaot_tensorflow          those and the two libraries
include_guard()

#[=[
tfaot_read_wheel(<prefix>)
Sets <prefix>_project, _version, _sha256 and _folder to what packaging/tensorflow_wheel.txt says.
#]=]
function(tfaot_read_wheel prefix)
  set(file "${PROJECT_SOURCE_DIR}/packaging/tensorflow_wheel.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(STRINGS "${file}" lines REGEX "^[a-z0-9]+=")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z0-9]+)=(.*)$" matched "${line}")
    set(${prefix}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  endforeach()
endfunction()

if(NOT TFAOT_BUILD_ENGINE)
  return()
endif()

function(_tfaot_find_tensorflow out)
  set(asked "$ENV{TFAOT_TENSORFLOW_ROOT}")
  if(TFAOT_TENSORFLOW_ROOT)
    set(asked "${TFAOT_TENSORFLOW_ROOT}")
  endif()
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "TFAOT_TENSORFLOW_ROOT=${asked}"
            bash "${PROJECT_SOURCE_DIR}/packaging/fetch_tensorflow.sh"
    OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "tfaot: no TensorFlow to build the engine with; the reason is above. "
      "Without the engine: -DTFAOT_BUILD_ENGINE=OFF.")
  endif()
  file(REAL_PATH "${root}" root)
  set(${out} "${root}" PARENT_SCOPE)
endfunction()

_tfaot_find_tensorflow(TFAOT_TENSORFLOW_ROOT)
message(STATUS "TensorFlow: ${TFAOT_TENSORFLOW_ROOT}")

# The libraries are built with NDEBUG, which changes the classes in their headers.
add_library(tfaot_tensorflow_headers INTERFACE IMPORTED GLOBAL)
set_target_properties(tfaot_tensorflow_headers PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES
    "${TFAOT_TENSORFLOW_ROOT}/include;${TFAOT_TENSORFLOW_ROOT}/include/external/llvm-project/mlir/include;${TFAOT_TENSORFLOW_ROOT}/include/external/com_googlesource_code_re2"
  INTERFACE_COMPILE_DEFINITIONS NDEBUG)

add_library(tfaot_tensorflow INTERFACE IMPORTED GLOBAL)
foreach(name IN ITEMS cc framework)
  add_library(tfaot_tensorflow_${name} SHARED IMPORTED GLOBAL)
  set_target_properties(tfaot_tensorflow_${name} PROPERTIES
    IMPORTED_LOCATION "${TFAOT_TENSORFLOW_ROOT}/libtensorflow_${name}.so.2"
    IMPORTED_SONAME "libtensorflow_${name}.so.2")
  target_link_libraries(tfaot_tensorflow INTERFACE tfaot_tensorflow_${name})
endforeach()
target_link_libraries(tfaot_tensorflow INTERFACE tfaot_tensorflow_headers)
