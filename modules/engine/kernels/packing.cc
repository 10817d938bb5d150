// SPDX-License-Identifier: Apache-2.0
#include "kernels/packing.h"

#include "hlo/fold.h"
#include "kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

xla::HloInstruction* named_as_packed(xla::HloInstruction* made) {
  xla::OpMetadata name;
  name.set_op_name(kPackedName);
  made->set_metadata(name);
  return made;
}

}  // namespace

xla::HloInstruction* pack(xla::HloInstruction* matrices) {
  const Dimensions sizes = dimensions_of(*matrices);
  const std::int64_t bytes = element_bytes(*matrices);
  const std::int64_t width = kernels::panel_columns(bytes);
  const std::int64_t panels = kernels::panel_count(sizes[2], bytes);
  xla::HloInstruction* padded = pad_end(matrices, 2, panels * width);
  // A single panel is a reshape, which costs nothing and changes no byte.
  xla::HloInstruction* cut = reshape(padded, {sizes[0], sizes[1], panels, width});
  xla::HloInstruction* packed =
      panels == 1 ? reshape(cut, {sizes[0], 1, sizes[1], width}) : transpose(cut, {0, 2, 1, 3});
  return named_as_packed(packed);
}

xla::HloInstruction* pack_narrow(xla::HloInstruction* packed, std::int64_t width) {
  const std::int64_t panel = kernels::panel_columns(element_bytes(*packed));
  const std::int64_t depth = elements_of(*packed) / panel;
  const std::int64_t lines = (depth * width + panel - 1) / panel;
  xla::HloInstruction* const first =
      packed->parent()->AddInstruction(xla::HloInstruction::CreateSlice(
          shape_of(packed->shape().element_type(), {depth, width}), reshape(packed, {depth, panel}),
          {0, 0}, {depth, width}, {1, 1}));
  xla::HloInstruction* const padded = pad_end(reshape(first, {depth * width}), 0, lines * panel);
  return named_as_packed(reshape(padded, {lines, panel}));
}

xla::HloInstruction* pack_together(const std::vector<xla::HloInstruction*>& packed) {
  if (packed.size() == 1) return packed.front();
  std::vector<xla::HloInstruction*> parts;
  std::int64_t size = 0;
  for (xla::HloInstruction* one : packed) {
    parts.push_back(reshape(one, {xla::ShapeUtil::ElementsIn(one->shape())}));
    size += parts.back()->shape().dimensions(0);
  }
  const xla::Shape shape = shape_of(parts.front()->shape().element_type(), {size});
  return named_as_packed(parts.front()->parent()->AddInstruction(
      xla::HloInstruction::CreateConcatenate(shape, parts, 0)));
}

}  // namespace tfaot::toolkit::engine
