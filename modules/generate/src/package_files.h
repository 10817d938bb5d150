// SPDX-License-Identifier: Apache-2.0
// The files for other build systems: the CMake package and the pkg-config file. Both find the
// package from their own place, so the tree may be moved. Pure functions.
#pragma once

#include <string>

#include "names.h"

namespace tfaot::toolkit {

std::string cmake_config(const ModelSpec& spec, const PackageNames& names);
std::string cmake_version(const ModelSpec& spec, const CompiledModel& compiled,
                          const PackageNames& names);
std::string pkg_config(const ModelSpec& spec, const CompiledModel& compiled,
                       const PackageNames& names);

}  // namespace tfaot::toolkit
