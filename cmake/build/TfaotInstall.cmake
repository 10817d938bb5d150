# SPDX-License-Identifier: Apache-2.0
# The installed toolkit: PREFIX/bin/tfaot, PREFIX/libexec/tfaot/tfaot-engine, the runtime's library and headers (each room
# installs its own) and the CMake package, so that find_package(tfaot) gives what add_subdirectory() gives:
# tfaot::tfaot, tfaot::engine, tfaot::runtime and the functions of cmake/tfaot.cmake.
include(CMakePackageConfigHelpers)

# Rules of the component "here" are right only on this machine: packages of the toolkit are made without them
# (TfaotPackage.cmake).
set(engine_dir "${CMAKE_INSTALL_LIBEXECDIR}/tfaot")
if(TARGET tfaot-engine)
  option(TFAOT_INSTALL_TENSORFLOW "Install TensorFlow's two libraries (650 MB) beside the engine, instead of a link to \
where they are now" OFF)
  install(TARGETS tfaot-engine EXPORT tfaotTargets RUNTIME DESTINATION "${engine_dir}")
  if(TFAOT_INSTALL_TENSORFLOW)
    install(FILES "${TFAOT_TENSORFLOW_ROOT}/libtensorflow_cc.so.2"
                  "${TFAOT_TENSORFLOW_ROOT}/libtensorflow_framework.so.2"
                  "${TFAOT_TENSORFLOW_ROOT}/THIRD_PARTY_NOTICES.txt"
            DESTINATION "${engine_dir}/tensorflow")
  else()
    install(CODE "set(place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${engine_dir}/tensorflow\")
file(REMOVE_RECURSE \"\${place}\")
file(CREATE_LINK \"${TFAOT_TENSORFLOW_ROOT}\" \"\${place}\" SYMBOLIC)" COMPONENT here)
  endif()
endif()

# The tarball contains Debian's libraries. RPATH also applies to the libraries that these need; RUNPATH would not. TensorFlow is not
# in it, because an RPATH beats LD_LIBRARY_PATH: tfaot names TensorFlow's folder when it starts the engine (tool_layout.h).
set(library_dir "${CMAKE_INSTALL_LIBDIR}/tfaot/libraries")
foreach(program IN ITEMS tfaot tfaot-tfcompile tfaot-buildfile tfaot-engine tfaot-runner tfaot-runner-tensorflow tfaot_python)
  if(TARGET ${program})
    target_link_options(${program} PRIVATE LINKER:--disable-new-dtags)
  endif()
endforeach()
set_target_properties(tfaot tfaot-tfcompile PROPERTIES INSTALL_RPATH "$ORIGIN/../${library_dir}")
set_target_properties(tfaot-buildfile tfaot-runner PROPERTIES INSTALL_RPATH "$ORIGIN/../../${library_dir}")
# In the tarball, and where pip puts it, lib/python3.11/site-packages/tfaot (lib64 on some systems).
set_target_properties(tfaot_python PROPERTIES INSTALL_RPATH
  "$ORIGIN/../../libraries;$ORIGIN/../../../tfaot/libraries;$ORIGIN/../../../../${library_dir}")
if(TARGET tfaot-engine)
  set_target_properties(tfaot-engine tfaot-runner-tensorflow PROPERTIES INSTALL_RPATH "$ORIGIN/../../${library_dir}")
endif()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tfaot")
install(EXPORT tfaotTargets NAMESPACE tfaot:: DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/" DESTINATION "${package_dir}"
        FILES_MATCHING PATTERN "*.cmake" PATTERN build EXCLUDE)

configure_file(cmake/tfaotConfig.cmake.in "${PROJECT_BINARY_DIR}/tfaotConfig.cmake" @ONLY)
# Below 1.0 a minor version may change what users see.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tfaotConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tfaotConfig.cmake" "${PROJECT_BINARY_DIR}/tfaotConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/templates/aot_config.schema.json" DESTINATION "${CMAKE_INSTALL_DATADIR}/tfaot")
# The pages link to each other.
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
              "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}/SECURITY.md"
              "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/NOTICE"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/modules/runtime/NOTICE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME NOTICE.runtime)
# Files that the tool puts into every package.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/modules/runtime/NOTICE"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/tfaot/runtime")

# scram's tool for the toolkit's own runtime, like the one in packages (docs/scram.md). The prefix is known only at install time. Its
# headers come before those of all tools, so they are in a folder of their own: PREFIX/include may contain models or other programs'
# headers.
set(runtime_include "${CMAKE_INSTALL_DATADIR}/tfaot/runtime/include")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/modules/runtime/include/tfaot" "${PROJECT_SOURCE_DIR}/modules/cmssw/include/tfaot"
        DESTINATION "${runtime_include}")
file(READ "${PROJECT_SOURCE_DIR}/templates/runtime_tool.xml.mustache" runtime_tool)
foreach(pair IN ITEMS "tool=tfaot-runtime" "base=TFAOT_RUNTIME_BASE" "version=${PROJECT_VERSION}" "libdir=${CMAKE_INSTALL_LIBDIR}"
             "includedir=${runtime_include}")
  string(REGEX MATCH "^([a-z]+)=(.*)$" matched "${pair}")
  string(REPLACE "{{${CMAKE_MATCH_1}}}" "${CMAKE_MATCH_2}" runtime_tool "${runtime_tool}")
endforeach()
file(WRITE "${PROJECT_BINARY_DIR}/tfaot-runtime.xml.in" "${runtime_tool}")
install(CODE "file(READ \"${PROJECT_BINARY_DIR}/tfaot-runtime.xml.in\" text)
string(REPLACE [[{{tool_base}}]] \"\${CMAKE_INSTALL_PREFIX}\" text \"\${text}\")
file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/tfaot/tfaot-runtime.xml\" \"\${text}\")" COMPONENT here)
