// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/gathered_parts.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "compiler/hlo/match.h"
#include "compiler/kernels/kernel_call.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

kernels::PlaceType place_type(xla::PrimitiveType type) {
  switch (type) {
    case xla::S32:
      return kernels::kPlacesInt32;
    case xla::S64:
      return kernels::kPlacesInt64;
    case xla::F32:
      return kernels::kPlacesFloat32;
    case xla::F64:
      return kernels::kPlacesFloat64;
    default:
      return kernels::kPlacesInOrder;
  }
}

// True if the kernel finds the same place without the conversion. XLA's conversions of numbers that
// are out of range give the nearest integer, too.
bool keeps_place(const HloInstruction& convert) {
  const auto from = convert.operand(0)->shape().element_type();
  const bool narrows = from == xla::S64 && convert.shape().element_type() == xla::S32;
  return !narrows && place_type(from) != kernels::kPlacesInOrder;
}

// The elements of a row of the operand that a slice takes, if its outer dimensions, `count`
// elements, are whole and it cuts only one dimension. Nothing for other slices.
struct CutRow {
  std::int64_t first, operand_elements;
};
std::optional<CutRow> cut_row(const HloInstruction& slice, std::int64_t count) {
  const auto sizes = slice.operand(0)->shape().dimensions();
  const auto rank = std::ssize(sizes);
  std::int64_t rows = 1;
  std::int64_t d = 0;
  const auto size = [&](std::int64_t at) { return sizes[static_cast<std::size_t>(at)]; };
  const auto is_whole = [&](std::int64_t at) {
    return slice.shape().dimensions(static_cast<int>(at)) == size(at);
  };
  while (d < rank && rows < count) {
    if (!is_whole(d)) return std::nullopt;
    rows *= size(d++);
  }
  while (d < rank && is_whole(d) && size(d) == 1) ++d;
  if (rows != count || d == rank || slice.slice_strides(d) != 1) return std::nullopt;
  std::int64_t inner = 1;
  for (std::int64_t after = d + 1; after < rank; ++after) {
    if (!is_whole(after)) return std::nullopt;
    inner *= size(after);
  }
  return CutRow{slice.slice_starts(d) * inner, size(d) * inner};
}

}  // namespace

StridedRows strided_rows(HloInstruction* instruction, std::int64_t count) {
  StridedRows rows = {instruction, 0, xla::ShapeUtil::ElementsIn(instruction->shape()) / count};
  while (true) {
    if (rows.base->opcode() == HloOpcode::kReshape) {
      rows.base = rows.base->mutable_operand(0);
      continue;
    }
    if (rows.base->opcode() != HloOpcode::kSlice) return rows;
    const auto cut = cut_row(*rows.base, count);
    if (!cut) return rows;
    rows = {rows.base->mutable_operand(0), rows.at + cut->first, cut->operand_elements};
  }
}

GatheredPart part_in_order(HloInstruction* x, std::int64_t rows) {
  const StridedRows strided = strided_rows(x, rows);
  GatheredPart part{strided.base};
  part.of.x_at = strided.at;
  part.of.x_step = strided.step;
  part.of.x_rows = rows;
  part.of.elements = xla::ShapeUtil::ElementsIn(x->shape()) / rows;
  return part;
}

GatheredPart part_by_places(HloInstruction* x, HloInstruction* places, std::int64_t elements) {
  const std::int64_t rows = xla::ShapeUtil::ElementsIn(places->shape());
  while (true) {
    const bool passes = places->opcode() == HloOpcode::kReshape ||
                        (places->opcode() == HloOpcode::kConvert && keeps_place(*places));
    if (!passes) break;
    places = places->mutable_operand(0);
  }
  const StridedRows strided = strided_rows(places, rows);
  GatheredPart part{x, strided.base};
  part.of.x_step = part.of.elements = elements;
  part.of.x_rows = xla::ShapeUtil::ElementsIn(x->shape()) / elements;
  part.of.place_type = place_type(strided.base->shape().element_type());
  part.of.place_at = strided.at;
  part.of.place_step = strided.step;
  return part;
}

HloInstruction* add_gather(const std::vector<GatheredPart>& parts, const Dimensions& result,
                           const HloInstruction& model) {
  kernels::GatherCall call{};
  call.parts = std::ssize(parts);
  for (const GatheredPart& part : parts) call.row += part.of.elements;
  call.rows = product(result) / call.row;
  return add_call_of_parts({Kernel::kGather, as_words(call), {}, result}, parts, model);
}

HloInstruction* add_call_of_parts(KernelCall made, const std::vector<GatheredPart>& parts,
                                  const HloInstruction& model) {
  const auto number_of = [&](HloInstruction* operand) -> std::int64_t {
    const auto found = std::ranges::find(made.operands, operand);
    const std::int64_t number = found - made.operands.begin() + 1;  // in[0] is the struct
    if (found == made.operands.end()) made.operands.push_back(operand);
    return number;
  };
  for (const GatheredPart& part : parts) {
    kernels::GatherPart of = part.of;
    of.x = number_of(part.x);
    if (part.places != nullptr) of.places = number_of(part.places);
    std::ranges::copy(as_words(of), std::back_inserter(made.words));
  }
  return add_kernel_call(made, model);
}

std::vector<kernels::GatherPart> gather_parts(const HloInstruction& kernel) {
  return parts_after<kernels::GatherCall, kernels::GatherPart>(
      kernel, call_of<kernels::GatherCall>(kernel).parts);
}

}  // namespace tfaot::toolkit::engine
