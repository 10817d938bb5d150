// SPDX-License-Identifier: Apache-2.0
// What an object needs and does beside the functions that it offers, as its tables say: the symbols
// that others must define, and sections that run code by themselves or keep something from call to
// call. Reads the tables alone, so objects of any size are fine. Safe from many threads.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct ObjectFacts {
  std::string machine;                 // "x86_64" or "aarch64"
  bool has_code = false;               // instructions, not only data
  std::vector<std::string> undefined;  // symbols, sorted, without the one that linkers make
  std::vector<std::string> defined;    // global symbols, sorted
  // ".init_array runs code when it is loaded", in the order of the tables.
  std::vector<std::string> findings;
};

// Fails for anything that is not a relocatable object for x86-64 or aarch64.
Result<ObjectFacts> object_facts(const FileSystem& fs, const Path& object);

}  // namespace tfaot::toolkit
