# SPDX-License-Identifier: Apache-2.0
# The installed toolkit: PREFIX/bin/tfaot, PREFIX/libexec/tfaot/tfaot-engine, the runtime's library and headers (each room
# installs its own) and the CMake package, so that find_package(tfaot) gives what add_subdirectory() gives:
# tfaot::tfaot, tfaot::engine, tfaot::runtime and the functions of cmake/tfaot.cmake.
include(CMakePackageConfigHelpers)

if(TARGET tfaot-engine)
  option(TFAOT_INSTALL_TENSORFLOW "Install TensorFlow's two libraries (650 MB) beside the engine, which finds them \
where they are now otherwise" OFF)
  set(engine_dir "${CMAKE_INSTALL_LIBEXECDIR}/tfaot")
  install(TARGETS tfaot-engine EXPORT tfaotTargets RUNTIME DESTINATION "${engine_dir}")
  set(engine_rpath "${TFAOT_TENSORFLOW_ROOT}")
  if(TFAOT_INSTALL_TENSORFLOW)
    set(engine_rpath "$ORIGIN")
    install(FILES "${TFAOT_TENSORFLOW_ROOT}/libtensorflow_cc.so.2"
                  "${TFAOT_TENSORFLOW_ROOT}/libtensorflow_framework.so.2"
                  "${TFAOT_TENSORFLOW_ROOT}/THIRD_PARTY_NOTICES.txt"
            DESTINATION "${engine_dir}")
  endif()
  set_target_properties(tfaot-engine PROPERTIES INSTALL_RPATH "${engine_rpath}")
endif()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tfaot")
install(EXPORT tfaotTargets NAMESPACE tfaot:: DESTINATION "${package_dir}")
# Files named tfaot* are for users of the toolkit; Tfaot* are for its own build.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cmake/" DESTINATION "${package_dir}"
        FILES_MATCHING REGEX "/tfaot[^/]*\\.cmake$")

configure_file(cmake/tfaotConfig.cmake.in "${PROJECT_BINARY_DIR}/tfaotConfig.cmake" @ONLY)
# Below 1.0 a minor version may change what users see.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tfaotConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tfaotConfig.cmake" "${PROJECT_BINARY_DIR}/tfaotConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(FILES templates/aot_config.schema.json DESTINATION "${CMAKE_INSTALL_DATADIR}/tfaot" OPTIONAL)
