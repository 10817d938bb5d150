// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/tensor_block.h"

#include "tfaot/runtime/detail/tensor.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

namespace {

std::size_t buffer_bytes(const TensorInfo& info, std::size_t rows) {
  const std::size_t beyond = info.free_shape == nullptr ? 0 : kElementsBeyond * size_of(info.dtype);
  return aligned_size(rows * row_bytes(info) + beyond);
}

}  // namespace

TensorBlock::TensorBlock(const TensorInfo* infos, std::size_t count, std::size_t rows) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += buffer_bytes(infos[i], rows);
  memory_ = AlignedMemory(bytes);
  std::byte* next = memory_.data();
  for (std::size_t i = 0; i < count; ++i) {
    tensors_.push_back(next);
    if (next != nullptr) next += buffer_bytes(infos[i], rows);
  }
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
