# SPDX-License-Identifier: Apache-2.0
# The runtime for packages of other machines: built by a second CMake with a cross compiler, as lib/tfaot/<machine>/
# libtfaot_runtime.a in the build folder and where the toolkit is installed. `tfaot compile` puts it into packages of that target.
include_guard()
include(ExternalProject)

# TFAOT_RUNTIME_TARGETS: other machines, such as aarch64, to build the packages' runtime for, with <machine>-linux-gnu-g++. By
# default those that `tfaot compile` knows and whose cross compiler is installed; looked for again when CMake runs again.
set(cross_targets "")
if(PROJECT_IS_TOP_LEVEL AND TFAOT_BUILD_ENGINE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  find_program(TFAOT_AARCH64_COMPILER aarch64-linux-gnu-g++)
  mark_as_advanced(TFAOT_AARCH64_COMPILER)
  if(TFAOT_AARCH64_COMPILER)
    set(cross_targets aarch64)
  endif()
endif()
if(NOT DEFINED TFAOT_RUNTIME_TARGETS)
  set(TFAOT_RUNTIME_TARGETS ${cross_targets})
endif()

# _tfaot_add_runtime_target(<machine>)
function(_tfaot_add_runtime_target machine)
  string(TOUPPER "${machine}" name)
  find_program(TFAOT_${name}_COMPILER "${machine}-linux-gnu-g++")
  if(NOT TFAOT_${name}_COMPILER)
    message(FATAL_ERROR "tfaot: TFAOT_RUNTIME_TARGETS names ${machine}, but there is no ${machine}-linux-gnu-g++; install it "
      "(Debian: g++-${machine}-linux-gnu), or name a compiler with -DTFAOT_${name}_COMPILER=<file>")
  endif()
  set(library "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/tfaot/${machine}/libtfaot_runtime.a")
  get_filename_component(folder "${library}" DIRECTORY)
  ExternalProject_Add(tfaot_runtime_${machine}
    SOURCE_DIR "${PROJECT_SOURCE_DIR}"
    BINARY_DIR "${PROJECT_BINARY_DIR}/runtime_${machine}"
    PREFIX "${PROJECT_BINARY_DIR}/runtime_${machine}/steps"
    CMAKE_ARGS
      -DCMAKE_SYSTEM_NAME=Linux
      "-DCMAKE_SYSTEM_PROCESSOR=${machine}"
      "-DCMAKE_CXX_COMPILER=${TFAOT_${name}_COMPILER}"
      "-DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
      "-DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}"
      "-DTFAOT_WARNINGS_AS_ERRORS=${TFAOT_WARNINGS_AS_ERRORS}"
      "-DTFAOT_BUILD_ENGINE=${TFAOT_BUILD_ENGINE}"
      "-DTFAOT_TENSORFLOW_ROOT=${TFAOT_TENSORFLOW_ROOT}"
      -DTFAOT_RUNTIME_ONLY=ON
      "-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=${folder}"
    BUILD_ALWAYS ON
    BUILD_BYPRODUCTS "${library}"
    INSTALL_COMMAND ""
    EXCLUDE_FROM_ALL OFF)
  if(TFAOT_INSTALL)
    install(FILES "${library}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/tfaot/${machine}")
  endif()
endfunction()

foreach(machine IN LISTS TFAOT_RUNTIME_TARGETS)
  _tfaot_add_runtime_target("${machine}")
endforeach()
