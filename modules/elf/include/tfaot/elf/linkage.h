// SPDX-License-Identifier: Apache-2.0
// How objects and programs are linked: finds out from an object's relocations whether it can be
// linked into a shared library, without reading its code, and where the loader looks for the
// libraries of a program.
#pragma once

#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

enum class Linkage {
  kUnknown,              // not an object for x86-64 or aarch64
  kPositionIndependent,  // as far as its relocations say
  kPositionDependent,    // holds absolute 32-bit addresses: only for programs at a fixed place
};

Linkage linkage_of(const FileSystem& fs, const Path& object);

// The RUNPATH or RPATH of these bytes of a program; empty if it has none.
Result<std::string> run_path(const std::string& program);

}  // namespace tfaot::toolkit
