// SPDX-License-Identifier: Apache-2.0
// The files that other build systems read: the CMake package and the pkg-config file. Both find the
// package from where they lie, so the tree may be moved. Pure functions.
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
