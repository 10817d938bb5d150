// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/packing.h"

#include <algorithm>

#include "compiler/hlo/match.h"
#include "compiler/hlo/weight_store.h"
#include "compiler/kernels/kernel_call.h"

namespace tfaot::toolkit::engine {
namespace {

HloInstruction* named_as_packed(HloInstruction* made) {
  xla::OpMetadata name;
  name.set_op_name(kPackedName);
  made->set_metadata(name);
  return made;
}

// Blocks of all gates' columns from `first` on: [blocks, depth, gates * panels, width].
HloInstruction* pack_blocks(const Instructions& gates, std::int64_t first, std::int64_t blocks,
                            std::int64_t panels, std::int64_t width) {
  const Dimensions sizes = dimensions_of(*gates.front());
  const std::int64_t columns = blocks * panels * width;
  Instructions cut;
  for (HloInstruction* gate : gates) {
    gate = slice_along(gate, 1, first, std::min(columns, sizes[1] - first));
    cut.push_back(reshape(pad_end(gate, 1, columns), {sizes[0], blocks, panels, width}));
  }
  return transpose(concatenate(cut, 2), {1, 0, 2, 3});
}

HloInstruction* pack_whole_blocks(const Instructions& gates, std::int64_t panels) {
  const std::int64_t width = kernels::panel_columns(element_bytes(*gates.front()));
  const std::int64_t blocks =
      (dimensions_of(*gates.front())[1] + panels * width - 1) / (panels * width);
  return named_as_packed(pack_blocks(gates, 0, blocks, panels, width));
}

}  // namespace

HloInstruction* pack(HloInstruction* matrices) {
  const Dimensions sizes = dimensions_of(*matrices);
  const std::int64_t bytes = element_bytes(*matrices);
  const std::int64_t width = kernels::panel_columns(bytes);
  const std::int64_t panels = kernels::panel_count(sizes[2], bytes);
  HloInstruction* padded = pad_end(matrices, 2, panels * width);
  // A single panel is a reshape, which costs nothing and changes no byte.
  HloInstruction* cut = reshape(padded, {sizes[0], sizes[1], panels, width});
  HloInstruction* packed =
      panels == 1 ? reshape(cut, {sizes[0], 1, sizes[1], width}) : transpose(cut, {0, 2, 1, 3});
  return named_as_packed(packed);
}

HloInstruction* pack_words(HloInstruction* matrices, xla::PrimitiveType type,
                           std::int64_t numbers) {
  HloInstruction* const packed = pack(matrices);
  const Dimensions sizes = dimensions_of(*packed);
  const std::int64_t words = (sizes[2] + numbers - 1) / numbers;
  HloInstruction* const padded = pad_end(packed, 2, words * numbers);
  HloInstruction* const cut = reshape(padded, {sizes[0] * sizes[1], words, numbers, sizes[3]});
  return named_as_packed(convert(transpose(cut, {0, 1, 3, 2}), type));
}

HloInstruction* pack_together(const Instructions& packed) {
  if (packed.size() == 1) return packed.front();
  Instructions parts;
  for (HloInstruction* one : packed) parts.push_back(reshape(one, {elements_of(*one)}));
  return named_as_packed(concatenate(parts, 0));
}

HloInstruction* pack_gates(const Instructions& gates, std::int64_t panels) {
  const std::int64_t width = kernels::panel_columns(element_bytes(*gates.front()));
  const std::int64_t hidden = dimensions_of(*gates.front())[1];
  const std::int64_t block = panels * width, whole = hidden / block;
  if (!kernels::ends_in_half_block(hidden, block)) return pack_whole_blocks(gates, panels);
  HloInstruction* const half = panels > 1 ? pack_blocks(gates, whole * block, 1, panels / 2, width)
                                          : pack_blocks(gates, whole * block, 1, 1, width / 2);
  return pack_together({pack_blocks(gates, 0, whole, panels, width), half});
}

HloInstruction* pack_biases(const Instructions& gates, std::int64_t panels) {
  HloInstruction* const packed = pack_whole_blocks(gates, panels);
  const Dimensions sizes = dimensions_of(*packed);
  return reshape(packed, {sizes[0], sizes[2], sizes[3]});
}

HloInstruction* join_depths(const PackedGates& first, HloInstruction* second) {
  const std::int64_t width = kernels::panel_columns(element_bytes(*second));
  const std::int64_t step = first.gates * first.panels * width;  // elements of a block
  const std::int64_t blocks = first.hidden / (first.panels * width);
  if (!kernels::ends_in_half_block(first.hidden, first.panels * width)) {
    return concatenate({first.weights, second}, 1);
  }
  Instructions whole, half;
  for (HloInstruction* one : {first.weights, second}) {
    const std::int64_t size = dimensions_of(*one)[0];
    const std::int64_t depth = size / (blocks * step + step / 2);
    const std::int64_t end = blocks * depth * step;
    whole.push_back(reshape(slice_along(one, 0, 0, end), {blocks, depth, step}));
    half.push_back(reshape(slice_along(one, 0, end, size - end), {1, depth, step / 2}));
  }
  return pack_together({concatenate(whole, 1), concatenate(half, 1)});
}

}  // namespace tfaot::toolkit::engine
