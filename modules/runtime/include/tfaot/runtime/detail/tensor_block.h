// SPDX-License-Identifier: Apache-2.0
// Memory for the inputs, or the outputs, of one batch: one row-major tensor each, aligned to
// kAlignment and initially zero. Pointers stay valid if the block is moved.
#pragma once

#include <cstddef>
#include <vector>

#include "tfaot/runtime/detail/aligned_memory.h"
#include "tfaot/runtime/detail/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class TensorBlock {
 public:
  TensorBlock() = default;
  // `count` tensors of `rows` rows each, the largest if their sizes are free.
  TensorBlock(const TensorInfo* infos, std::size_t count, std::size_t rows);

  bool empty() const noexcept { return tensors_.empty(); }
  void* data(std::size_t i) const noexcept { return tensors_[i]; }
  void* const* pointers() const noexcept { return tensors_.data(); }

 private:
  AlignedMemory memory_;
  std::vector<void*> tensors_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
