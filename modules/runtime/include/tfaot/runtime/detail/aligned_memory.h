// SPDX-License-Identifier: Apache-2.0
// Owns one zeroed block of bytes, aligned to kAlignment. Its address stays the same if the owner is
// moved.
#pragma once

#include <cstddef>
#include <memory>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// `bytes` rounded up to a multiple of kAlignment.
std::size_t aligned_size(std::size_t bytes) noexcept;

class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(std::size_t bytes);

  std::byte* data() const noexcept { return data_.get(); }  // null if empty
  explicit operator bool() const noexcept { return data_ != nullptr; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept;
  };
  std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
