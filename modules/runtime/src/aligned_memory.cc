// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/aligned_memory.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tfaot/runtime/detail/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

std::size_t aligned_size(std::size_t bytes) noexcept {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// calloc takes large blocks from the system: they are zeroed, and cost no memory until touched. The
// code of the largest batch size, which needs most of the memory, may never run. The pointer that
// calloc returned is stored before the data.
AlignedMemory::AlignedMemory(std::size_t bytes) {
  if (bytes == 0) return;
  void* const block = std::calloc(aligned_size(bytes) + kAlignment, 1);
  if (block == nullptr) throw std::bad_alloc();
  const std::size_t past = reinterpret_cast<std::uintptr_t>(block) % kAlignment;
  static_assert(alignof(std::max_align_t) >= sizeof block, "a pointer fits before the data");
  data_.reset(static_cast<std::byte*>(block) + kAlignment - past);
  std::memcpy(data_.get() - sizeof block, &block, sizeof block);
}

void AlignedMemory::Free::operator()(std::byte* data) const noexcept {
  void* block = nullptr;
  std::memcpy(&block, data - sizeof block, sizeof block);
  std::free(block);
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
