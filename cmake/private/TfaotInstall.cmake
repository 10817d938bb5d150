# SPDX-License-Identifier: Apache-2.0
# What find_package(tfaot) needs, beside the targets that the rooms put into the export set tfaotTargets.
include(CMakePackageConfigHelpers)
set(tfaot_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tfaot")

install(EXPORT tfaotTargets NAMESPACE tfaot:: DESTINATION "${tfaot_cmake_dir}")
configure_package_config_file(cmake/tfaotConfig.cmake.in "${PROJECT_BINARY_DIR}/tfaotConfig.cmake"
                              INSTALL_DESTINATION "${tfaot_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tfaotConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/tfaotConfig.cmake"
  "${PROJECT_BINARY_DIR}/tfaotConfigVersion.cmake"
  cmake/tfaot.cmake
  cmake/tfaot_add_model.cmake
  cmake/tfaot_install_model.cmake
  cmake/tfaot_package_model.cmake
  DESTINATION "${tfaot_cmake_dir}")
install(FILES
  cmake/private/tfaot_args.cmake
  cmake/private/tfaot_command.cmake
  cmake/private/tfaot_install_step.cmake
  cmake/private/tfaot_model.cmake
  cmake/private/tfaot_read_config.cmake
  cmake/private/tfaot_renew_times.cmake
  DESTINATION "${tfaot_cmake_dir}/private")
install(FILES templates/aot_config.schema.json DESTINATION "${CMAKE_INSTALL_DATADIR}/tfaot")
