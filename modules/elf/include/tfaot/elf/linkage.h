// SPDX-License-Identifier: Apache-2.0
// Finds out from an object's relocations whether it can be linked into a shared library. Reads
// headers and relocations, not the code.
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

enum class Linkage {
  kUnknown,              // not an object for x86-64 or aarch64
  kPositionIndependent,  // as far as its relocations say
  kPositionDependent,    // holds absolute 32-bit addresses: only for programs at a fixed place
};

Linkage linkage_of(const FileSystem& fs, const Path& object);

}  // namespace tfaot::toolkit
