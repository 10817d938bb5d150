// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/tensor_block.h"

#include "tfaot/runtime/detail/tensor.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

TensorBlock::TensorBlock(const TensorInfo* infos, std::size_t count, std::size_t rows) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += aligned_size(rows * row_bytes(infos[i]));
  memory_ = AlignedMemory(bytes);
  std::byte* next = memory_.data();
  for (std::size_t i = 0; i < count; ++i) {
    tensors_.push_back(next);
    if (next != nullptr) next += aligned_size(rows * row_bytes(infos[i]));
  }
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
