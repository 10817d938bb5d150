# SPDX-License-Identifier: Apache-2.0
# What a build that uses tfaot includes, by find_package, add_subdirectory or FetchContent: the public functions.
include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.31)
include("${CMAKE_CURRENT_LIST_DIR}/private/tfaot_args.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/tfaot_read_config.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/tfaot_model.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/private/tfaot_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/tfaot_add_model.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/tfaot_package_model.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/tfaot_install_model.cmake")
cmake_policy(POP)
