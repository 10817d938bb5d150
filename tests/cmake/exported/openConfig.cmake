# SPDX-License-Identifier: Apache-2.0
include(CMakeFindDependencyMacro)
find_dependency(tfaot)
include("${CMAKE_CURRENT_LIST_DIR}/openTargets.cmake")
