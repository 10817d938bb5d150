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

// Of each weight.
inline constexpr std::uint64_t kWeightAlignment = 64;

struct DataSymbol {
  std::string name;
  std::uint64_t offset = 0;  // in the blob
  std::uint64_t size = 0;
  bool is_hidden = false;  // visible only in the program or library it is linked into
  bool is_weak = false;    // the same object may be linked twice
};

// A relocatable object with `blob` in .rodata under these global symbols, or from 256 MiB on in
// .lrodata. It is aligned to 64 bytes, or to 4096 if it has 4096 bytes or more. target_triple
// selects the machine: x86_64-* or aarch64-*.
Result<std::string> make_data_object(std::string_view blob, const std::vector<DataSymbol>& symbols,
                                     const std::string& target_triple);

// The bytes before and after the blob in that object, for a caller that writes the blob itself.
struct DataObjectFrame {
  std::string head;
  std::string tail;
};
DataObjectFrame data_object_frame(std::uint64_t blob_size, const std::vector<DataSymbol>& symbols,
                                  const std::string& target_triple);

}  // namespace tfaot::toolkit
