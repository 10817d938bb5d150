# SPDX-License-Identifier: Apache-2.0
# Run by CPack once the files of a package are in a folder, before they are packed (TfaotPackage.cmake).
cmake_minimum_required(VERSION 3.20)

set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
set(tool_base "@TOOL_BASE@")  # unknown until a tarball is unpacked
if(CPACK_GENERATOR STREQUAL "DEB")
  set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX}")
  set(tool_base "${CPACK_PACKAGING_INSTALL_PREFIX}")
endif()

file(READ "${CPACK_TFAOT_RUNTIME_TOOL}" text)
string(REPLACE "{{tool_base}}" "${tool_base}" text "${text}")
file(WRITE "${root}/${CPACK_TFAOT_DATADIR}/tfaot/tfaot-runtime.xml" "${text}")

if(NOT CPACK_GENERATOR STREQUAL "TGZ")
  return()
endif()
# A tarball needs only Debian's C and C++ libraries, which a machine with a compiler has. They must not be older than those of our
# build. The other libraries are in the tarball, each with its licence.
file(GLOB programs "${root}/${CPACK_TFAOT_BINDIR}/tfaot*" "${root}/${CPACK_TFAOT_LIBEXECDIR}/tfaot-*")
file(GLOB_RECURSE modules "${root}/${CPACK_TFAOT_PYTHON_DIR}/*.so")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs} MODULES ${modules}
  RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR not_found
  PRE_EXCLUDE_REGEXES "^libtensorflow" "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so")
if(not_found)
  message(FATAL_ERROR "tfaot: the tarball would lack ${not_found}")
endif()
foreach(library IN LISTS libraries)
  file(INSTALL "${library}" DESTINATION "${root}/${CPACK_TFAOT_LIBRARY_DIR}" FOLLOW_SYMLINK_CHAIN)
  # By its file name: the package may list it in /lib, which is /usr/lib now.
  file(REAL_PATH "${library}" file)
  get_filename_component(name "${file}" NAME)
  execute_process(COMMAND dpkg-query --search "*/${name}" OUTPUT_VARIABLE owner ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "tfaot: ${file} is not in any Debian package, so its licence is not known: ${error}")
  endif()
  string(REGEX REPLACE ":.*" "" owner "${owner}")
  file(INSTALL "/usr/share/doc/${owner}/copyright" DESTINATION "${root}/${CPACK_TFAOT_DOCDIR}/libraries" RENAME "${owner}.copyright")
endforeach()
# The files that they refer to.
foreach(name IN ITEMS Apache-2.0 GPL-2 GPL-3 LGPL-2 LGPL-2.1 LGPL-3)
  file(INSTALL "/usr/share/common-licenses/${name}" DESTINATION "${root}/${CPACK_TFAOT_DOCDIR}/libraries" FOLLOW_SYMLINK_CHAIN)
endforeach()
