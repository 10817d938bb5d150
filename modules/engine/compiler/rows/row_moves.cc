// SPDX-License-Identifier: Apache-2.0
// Rows through operations that move elements and compute nothing.
#include <algorithm>

#include "compiler/rows/row_flow.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

const Axis& axis(const RowFlow& flow, const HloInstruction* one, std::int64_t dimension) {
  return flow.of(one).axes[static_cast<std::size_t>(dimension)];
}

Axis other_elements(std::int64_t size, bool same) {
  return axis_of(size, same ? Along::kSame : Along::kVaries);
}

RowFact with_axes(std::vector<Axis> axes) { return RowFact{std::move(axes), nullptr, nullptr, {}}; }

RowFact after_reshape(const HloInstruction& one, RowFlow& flow) {
  const RowFact& from = flow.of(one.operand(0));
  auto axes = regroup(from.axes, one.shape().dimensions());
  if (axes) return with_axes(std::move(*axes));
  if (!from.has_rows()) return fact_of(one.shape(), Along::kVaries);
  return flow.not_clear(one, "splits the batch, but not by rows");
}

RowFact after_broadcast(const HloInstruction& one, RowFlow& flow) {
  RowFact fact = fact_of(one.shape(), Along::kSame);
  for (std::size_t i = 0; i < one.dimensions().size(); ++i) {
    fact.axes[static_cast<std::size_t>(one.dimensions()[i])] =
        axis(flow, one.operand(0), static_cast<std::int64_t>(i));
  }
  return fact;
}

RowFact after_transpose(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (const auto d : one.dimensions()) fact.axes.push_back(axis(flow, one.operand(0), d));
  return fact;
}

RowFact after_slice(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const auto part = cut(axis(flow, one.operand(0), d),
                          {one.slice_starts(d), one.slice_limits(d), one.slice_strides(d)});
    if (!part) return flow.mixed(one, "takes some rows of the batch by their position");
    fact.axes.push_back(*part);
  }
  return fact;
}

RowFact pad(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const auto& padding = one.padding_config().dimensions(static_cast<int>(d));
    const Axis& from = axis(flow, one.operand(0), d);
    if (padding.edge_padding_low() == 0 && padding.edge_padding_high() == 0 &&
        padding.interior_padding() == 0) {
      fact.axes.push_back(from);
      continue;
    }
    if (has_rows(from)) return flow.not_clear(one, "adds other rows to those of the batch");
    fact.axes.push_back(axis_of(one.shape().dimensions(static_cast<int>(d)), Along::kVaries));
  }
  return fact;
}

RowFact after_reverse(const HloInstruction& one, RowFlow& flow) {
  const RowFact& from = flow.of(one.operand(0));
  for (const auto d : one.dimensions()) {
    if (has_rows(axis(flow, one.operand(0), d))) {
      return flow.mixed(one, "reverses the rows of the batch");
    }
  }
  auto axes = from.axes;
  for (const auto d : one.dimensions()) {
    Axis& turned = axes[static_cast<std::size_t>(d)];
    turned = other_elements(size_of(turned), is_same(turned));
  }
  return with_axes(std::move(axes));
}

// Tensors joined one after the other: [parts, rows, ...] if each is made from the rows in the same
// way.
std::optional<Axis> joined(const HloInstruction& one, const RowFlow& flow, std::int64_t dimension) {
  const auto& operands = one.operands();
  const auto found = std::find_if(operands.begin(), operands.end(), [&](const auto* operand) {
    return has_rows(axis(flow, operand, dimension));
  });
  const auto size = one.shape().dimensions(static_cast<int>(dimension));
  if (found == operands.end()) return axis_of(size, Along::kVaries);
  const Axis part = axis(flow, *found, dimension);
  for (const auto* operand : operands) {
    const Axis& other = axis(flow, operand, dimension);
    if (size_of(other) != size_of(part) || meet(part, other) != part) return std::nullopt;
  }
  Axis made = axis_of(std::ssize(operands), Along::kVaries);
  made.insert(made.end(), part.begin(), part.end());
  return tidy(made);
}

RowFact after_concatenate(const HloInstruction& one, RowFlow& flow) {
  RowFlow::Sources sources(static_cast<std::size_t>(one.shape().rank()));
  const auto dimension = one.concatenate_dimension();
  const auto parts = joined(one, flow, dimension);
  if (!parts) return flow.not_clear(one, "adds other rows to those of the batch");
  const RowFact ends = with_axes({*parts});
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    auto& from = sources[static_cast<std::size_t>(d)];
    if (d == dimension) {
      from.push_back({&ends, 0});
      continue;
    }
    for (const auto* operand : one.operands()) from.push_back({&flow.of(operand), d});
  }
  return flow.made(one, one.shape(), sources);
}

RowFact dynamic_slice(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const Axis& from = axis(flow, one.operand(0), d);
    const auto size = one.shape().dimensions(static_cast<int>(d));
    if (size == size_of(from)) {
      fact.axes.push_back(from);
    } else if (has_rows(from)) {
      return flow.not_clear(one, "takes some rows of the batch");
    } else {
      fact.axes.push_back(other_elements(size, is_same(from)));
    }
  }
  return fact;
}

RowFact dynamic_update_slice(const HloInstruction& one, RowFlow& flow) {
  const RowFact& into = flow.of(one.operand(0));
  const RowFact& part = flow.of(one.operand(1));
  RowFlow::Sources sources(into.axes.size());
  for (std::size_t d = 0; d < sources.size(); ++d) {
    const auto dimension = static_cast<std::int64_t>(d);
    if (size_of(into.axes[d]) == size_of(part.axes[d])) {
      sources[d] = {{&into, dimension}, {&part, dimension}};
    } else if (has_rows(into.axes[d]) || has_rows(part.axes[d])) {
      return flow.not_clear(one, "writes some rows of the batch");
    }
  }
  return flow.made(one, one.shape(), sources);
}

// It only sets how many elements count; all of them stay.
RowFact set_dimension_size(const HloInstruction& one, RowFlow& flow) {
  if (has_rows(axis(flow, one.operand(0), one.dimension()))) {
    return flow.not_clear(one, "leaves out rows of the batch");
  }
  return with_axes(flow.of(one.operand(0)).axes);
}

RowFact iota(const HloInstruction& one) {
  RowFact fact = fact_of(one.shape(), Along::kSame);
  const auto d = xla::Cast<xla::HloIotaInstruction>(&one)->iota_dimension();
  fact.axes[static_cast<std::size_t>(d)] =
      axis_of(one.shape().dimensions(static_cast<int>(d)), Along::kVaries);
  return fact;
}

}  // namespace

std::optional<RowFact> visit_move(const HloInstruction& one, RowFlow& flow) {
  switch (one.opcode()) {
    case HloOpcode::kReshape:
    case HloOpcode::kBitcast:
      return after_reshape(one, flow);
    case HloOpcode::kBroadcast:
      return after_broadcast(one, flow);
    case HloOpcode::kTranspose:
      return after_transpose(one, flow);
    case HloOpcode::kSlice:
      return after_slice(one, flow);
    case HloOpcode::kPad:
      return pad(one, flow);
    case HloOpcode::kReverse:
      return after_reverse(one, flow);
    case HloOpcode::kConcatenate:
      return after_concatenate(one, flow);
    case HloOpcode::kDynamicSlice:
      return dynamic_slice(one, flow);
    case HloOpcode::kDynamicUpdateSlice:
      return dynamic_update_slice(one, flow);
    case HloOpcode::kSetDimensionSize:
      return set_dimension_size(one, flow);
    case HloOpcode::kIota:
      return iota(one);
    default:
      return std::nullopt;
  }
}

}  // namespace tfaot::toolkit::engine
