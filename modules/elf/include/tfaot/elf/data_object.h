// SPDX-License-Identifier: Apache-2.0
// An object that holds data, such as weights, for code to find by symbols. Pure functions on bytes;
// safe from many threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct DataSymbol {
  std::string name;
  std::uint64_t offset = 0;  // in the blob
  std::uint64_t size = 0;
  bool is_hidden = false;  // known to the program or library that the object is linked into, alone
  bool is_weak = false;    // the same object may be linked twice
};

// A relocatable object with `blob` in .rodata, aligned to 64 bytes, from 4096 bytes on to
// 4096, under these global symbols.
// target_triple decides the machine: x86_64-* or aarch64-*.
Result<std::string> make_data_object(std::string_view blob, const std::vector<DataSymbol>& symbols,
                                     const std::string& target_triple);

// What stands before and behind the blob in that object, for who writes the blob himself.
struct DataObjectFrame {
  std::string head;
  std::string tail;
};
DataObjectFrame data_object_frame(std::uint64_t blob_size, const std::vector<DataSymbol>& symbols,
                                  const std::string& target_triple);

}  // namespace tfaot::toolkit
