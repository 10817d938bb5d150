// SPDX-License-Identifier: Apache-2.0
// Whether an object can be linked into a shared library, by its relocations. Reads headers and
// relocations, not the code.
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

enum class Linkage {
  kUnknown,              // no object for x86-64 or aarch64
  kPositionIndependent,  // as far as its relocations say
  kPositionDependent,    // holds absolute 32-bit addresses: only for programs at a fixed place
};

Linkage linkage_of(const FileSystem& fs, const Path& object);

}  // namespace tfaot::toolkit
