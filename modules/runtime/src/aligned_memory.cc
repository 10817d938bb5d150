// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/aligned_memory.h"

#include <cstring>
#include <new>

#include "tfaot/runtime/description.h"

namespace tfaot {
inline namespace v1 {

std::size_t aligned_size(std::size_t bytes) noexcept {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

AlignedMemory::AlignedMemory(std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t size = aligned_size(bytes);
  data_.reset(static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment})));
  std::memset(data_.get(), 0, size);
}

void AlignedMemory::Free::operator()(std::byte* data) const noexcept {
  ::operator delete (data, std::align_val_t{kAlignment});
}

}  // namespace v1
}  // namespace tfaot
