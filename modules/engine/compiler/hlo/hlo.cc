// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/hlo.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/layout_util.h"
#include "xla/primitive_util.h"
#include "xla/service/batched_gather_scatter_normalizer.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;

namespace {

void make_row_major(xla::HloConstantInstruction& constant) {
  const xla::Shape& shape = constant.shape();
  if (!shape.IsArray() || xla::LayoutUtil::IsMonotonicWithDim0Major(shape.layout())) return;
  constant.RelayoutConstant(xla::LayoutUtil::GetDefaultLayoutForShape(shape), {});
}

// XLA's evaluator counts -32 zeros before a negative number of 32 bits.
Status count_zeros_of_unsigned(xla::HloComputation& computation) {
  for (HloInstruction* one : computation.MakeInstructionPostOrder()) {
    const xla::PrimitiveType type = type_of(*one);
    if (one->opcode() != xla::HloOpcode::kClz || !xla::primitive_util::IsSignedIntegralType(type)) {
      continue;
    }
    const xla::Shape shape = xla::ShapeUtil::ChangeElementType(
        one->shape(),
        xla::primitive_util::UnsignedIntegralTypeForBitWidth(xla::primitive_util::BitWidth(type)));
    HloInstruction* const bits = computation.AddInstruction(
        HloInstruction::CreateBitcastConvert(shape, one->mutable_operand(0)));
    HloInstruction* const count =
        computation.AddInstruction(HloInstruction::CreateUnary(shape, xla::HloOpcode::kClz, bits));
    TFAOT_TRY(checked(computation.ReplaceWithNewInstruction(
        one, HloInstruction::CreateConvert(one->shape(), count))));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<xla::HloModule>> module_as_it_is(const xla::HloModuleProto& proto) {
  TFAOT_ASSIGN(const auto config, or_internal(xla::HloModule::CreateModuleConfigFromProto(
                                      proto, xla::DebugOptions())));
  return or_internal(xla::HloModule::CreateFromProto(proto, config));
}

Result<std::unique_ptr<xla::HloModule>> make_module(const xla::HloModuleProto& proto) {
  TFAOT_ASSIGN(auto module, module_as_it_is(proto));
  // XlaBuilder gives a transpose the layout in which nothing moves.
  for (xla::HloComputation* computation : module->computations()) {
    for (HloInstruction* one : computation->instructions()) {
      if (auto* const constant = xla::DynCast<xla::HloConstantInstruction>(one)) {
        make_row_major(*constant);
      } else {
        xla::LayoutUtil::SetToDefaultLayout(one->mutable_shape());
      }
    }
  }
  module->mutable_entry_computation_layout()->SetToDefaultLayout();
  for (xla::HloComputation* computation : module->computations()) {
    TFAOT_TRY(count_zeros_of_unsigned(*computation));
  }
  // XLA's evaluator takes no batching dimensions of gathers and scatters.
  xla::BatchedGatherScatterNormalizer plain;
  TFAOT_TRY(checked(plain.Run(module.get(), {}).status()));
  return module;
}

std::vector<HloInstruction*> instructions_of(const xla::HloModule& module) {
  std::vector<HloInstruction*> all;
  for (const xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    absl::c_move(computation->MakeInstructionPostOrder(), std::back_inserter(all));
  }
  return all;
}

std::int64_t product(absl::Span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t elements_of(const HloInstruction& value) {
  return value.shape().IsArray() ? xla::ShapeUtil::ElementsIn(value.shape()) : 0;
}

xla::Shape resized(xla::Shape shape, std::int64_t dimension, std::int64_t size) {
  shape.set_dimensions(static_cast<int>(dimension), size);
  return shape;
}

Dimensions sorting_order(absl::Span<const std::int64_t> values) {
  Dimensions order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t place) { return entry(values, place); });
  return order;
}

Dimensions order_of(const xla::HloInstruction& transpose) {
  return {transpose.dimensions().begin(), transpose.dimensions().end()};
}

std::vector<ReshapeGroup> groups_of(const xla::HloInstruction& reshape) {
  const auto from = reshape.operand(0)->shape().dimensions();
  const auto to = reshape.shape().dimensions();
  std::vector<ReshapeGroup> groups;
  std::int64_t i = 0;
  std::int64_t j = 0;
  while (i < std::ssize(from) || j < std::ssize(to)) {
    ReshapeGroup group;
    std::int64_t a = 1;
    std::int64_t b = 1;
    do {
      if (i < std::ssize(from) && (a <= b || j == std::ssize(to))) {
        a *= entry(from, i);
        group.from.push_back(i++);
      } else {
        b *= entry(to, j);
        group.to.push_back(j++);
      }
    } while (a != b);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace tfaot::toolkit::engine
