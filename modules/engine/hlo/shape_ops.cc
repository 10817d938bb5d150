// SPDX-License-Identifier: Apache-2.0
#include "hlo/shape_ops.h"

#include <algorithm>
#include <cstring>

#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Elements of a box: `sizes` of them, with these distances (in elements) in source and destination.
struct Box {
  Dimensions sizes, from_strides, to_strides;
  std::int64_t from_start = 0, to_start = 0;
};

Dimensions row_major_strides(const xla::Shape& shape) {
  Dimensions strides(static_cast<std::size_t>(shape.rank()));
  std::int64_t stride = 1;
  for (std::size_t d = strides.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape.dimensions(static_cast<int>(d));
  }
  return strides;
}

template <typename T>
void copy_dimension(const Box& box, std::size_t d, const T* from, T* to) {
  const std::int64_t from_step = box.from_strides[d];
  const std::int64_t to_step = box.to_strides[d];
  if (d + 1 < box.sizes.size()) {
    for (std::int64_t i = 0; i < box.sizes[d]; ++i) {
      copy_dimension(box, d + 1, from + i * from_step, to + i * to_step);
    }
    return;
  }
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(box.sizes[d]) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < box.sizes[d]; ++i) to[i * to_step] = from[i * from_step];
}

template <typename T>
void copy(Box box, const void* from, void* to) {
  if (box.sizes.empty()) {  // a scalar
    box.sizes = box.from_strides = box.to_strides = {1};
  }
  copy_dimension(box, 0, static_cast<const T*>(from) + box.from_start,
                 static_cast<T*>(to) + box.to_start);
}

// Which elements move where; nothing for all other instructions.
std::optional<Box> box_of(const HloInstruction& instruction) {
  const auto& from = instruction.operand(0)->shape();
  const auto& to = instruction.shape();
  const Dimensions from_strides = row_major_strides(from);
  Box box{{to.dimensions().begin(), to.dimensions().end()}, {}, row_major_strides(to)};
  switch (instruction.opcode()) {
    case HloOpcode::kTranspose:
      for (const auto d : instruction.dimensions()) {
        box.from_strides.push_back(from_strides[static_cast<std::size_t>(d)]);
      }
      return box;
    case HloOpcode::kBroadcast:
      box.from_strides.assign(box.sizes.size(), 0);
      for (std::size_t i = 0; i < instruction.dimensions().size(); ++i) {
        box.from_strides[static_cast<std::size_t>(instruction.dimensions()[i])] = from_strides[i];
      }
      return box;
    case HloOpcode::kReverse:
      box.from_strides = from_strides;
      for (const auto dimension : instruction.dimensions()) {
        const auto d = static_cast<std::size_t>(dimension);
        box.from_start += (box.sizes[d] - 1) * from_strides[d];
        box.from_strides[d] = -from_strides[d];
      }
      return box;
    case HloOpcode::kSlice:
      for (std::size_t d = 0; d < from_strides.size(); ++d) {
        const auto dimension = static_cast<int>(d);
        box.from_start += instruction.slice_starts(dimension) * from_strides[d];
        box.from_strides.push_back(instruction.slice_strides(dimension) * from_strides[d]);
      }
      return box;
    case HloOpcode::kPad:
      box.sizes.assign(from.dimensions().begin(), from.dimensions().end());
      box.from_strides = from_strides;
      for (std::size_t d = 0; d < from_strides.size(); ++d) {
        const auto& padding = instruction.padding_config().dimensions(static_cast<int>(d));
        if (padding.edge_padding_low() < 0 || padding.edge_padding_high() < 0) return {};
        box.to_start += padding.edge_padding_low() * box.to_strides[d];
        box.to_strides[d] *= padding.interior_padding() + 1;
      }
      return box;
    default:
      return {};
  }
}

template <typename T>
void run(const HloInstruction& instruction, const Box& box,
         absl::Span<const xla::LiteralBase* const> operands, xla::Literal& result) {
  if (instruction.opcode() == HloOpcode::kPad) {
    T* elements = static_cast<T*>(result.untyped_data());
    std::fill(elements, elements + result.element_count(),
              *static_cast<const T*>(operands[1]->untyped_data()));
  }
  copy<T>(box, operands[0]->untyped_data(), result.untyped_data());
}

}  // namespace

std::optional<xla::Literal> evaluate_shape_op(const HloInstruction& instruction,
                                              absl::Span<const xla::LiteralBase* const> operands) {
  if (operands.empty()) return {};
  const auto box = box_of(instruction);
  if (!box) return {};
  xla::Literal result(instruction.shape());
  switch (xla::primitive_util::ByteWidth(instruction.shape().element_type())) {
    case 1:
      run<std::uint8_t>(instruction, *box, operands, result);
      return result;
    case 4:
      run<std::uint32_t>(instruction, *box, operands, result);
      return result;
    case 8:
      run<std::uint64_t>(instruction, *box, operands, result);
      return result;
    default:
      return {};
  }
}

}  // namespace tfaot::toolkit::engine
