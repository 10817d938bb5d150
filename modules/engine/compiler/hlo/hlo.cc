// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/hlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "tfaot/base/hash.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/layout_util.h"
#include "xla/primitive_util.h"
#include "xla/service/batched_gather_scatter_normalizer.h"
#include "xla/tsl/lib/strings/proto_serialization.h"
#include "xla/util.h"

namespace tfaot::toolkit::engine {

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
    if (one->opcode() != kClz || !xla::primitive_util::IsSignedIntegralType(type)) {
      continue;
    }
    const xla::Shape shape = xla::ShapeUtil::ChangeElementType(
        one->shape(),
        xla::primitive_util::UnsignedIntegralTypeForBitWidth(xla::primitive_util::BitWidth(type)));
    HloInstruction* const bits = computation.AddInstruction(
        HloInstruction::CreateBitcastConvert(shape, one->mutable_operand(0)));
    HloInstruction* const count =
        computation.AddInstruction(HloInstruction::CreateUnary(shape, kClz, bits));
    TFAOT_TRY(checked(computation.ReplaceWithNewInstruction(
        one, HloInstruction::CreateConvert(one->shape(), count))));
  }
  return {};
}

// Counts from 1 in the order of first use: XLA takes 0 for "none".
using Numbers = std::map<std::int64_t, std::int64_t>;
void add_number(Numbers& numbers, std::int64_t id) { numbers.emplace(id, std::ssize(numbers) + 1); }
template <class Ids>
void replace_ids(const Numbers& numbers, Ids& ids) {
  for (auto& id : ids) id = numbers.at(id);
}

// In constants that a package's text holds.
constexpr std::int64_t kMostNumbers = 4096;

void rename_parameters(xla::ProgramShapeProto& shape) {
  int number = 0;
  for (auto& name : *shape.mutable_parameter_names()) name = fmt::format("p{}", number++);
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

std::int64_t stride_along(const xla::Shape& shape, std::int64_t dimension) {
  return product(shape.dimensions().subspan(static_cast<std::size_t>(dimension) + 1));
}

Dimensions picked(absl::Span<const std::int64_t> values, absl::Span<const std::int64_t> places) {
  Dimensions found;
  for (const std::int64_t place : places) found.push_back(entry(values, place));
  return found;
}

Dimensions joined(std::initializer_list<absl::Span<const std::int64_t>> lists) {
  Dimensions all;
  for (const auto list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Dimensions without(absl::Span<const std::int64_t> values, std::int64_t place) {
  const auto at = static_cast<std::size_t>(place);
  return joined({values.first(at), values.subspan(at + 1)});
}

std::int64_t place_among(absl::Span<const std::int64_t> values, std::int64_t value) {
  const auto found = absl::c_find(values, value);
  return found == values.end() ? -1 : found - values.begin();
}

Dimensions counted(std::int64_t count, std::int64_t first) {
  Dimensions numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

Dimensions other_dimensions(std::int64_t rank, absl::Span<const std::int64_t> listed) {
  Dimensions others = counted(rank);
  std::erase_if(others, [&](std::int64_t d) { return absl::c_linear_search(listed, d); });
  return others;
}

std::int64_t elements_of(const HloInstruction& value) {
  return value.shape().IsArray() ? xla::ShapeUtil::ElementsIn(value.shape()) : 0;
}

xla::Shape resized(xla::Shape shape, std::int64_t dimension, std::int64_t size) {
  shape.set_dimensions(static_cast<int>(dimension), size);
  return shape;
}

Dimensions sorting_order(absl::Span<const std::int64_t> values) {
  Dimensions order = counted(std::ssize(values));
  std::ranges::stable_sort(order, {}, [&](std::int64_t place) { return entry(values, place); });
  return order;
}

Dimensions order_of(const HloInstruction& transpose) {
  return {transpose.dimensions().begin(), transpose.dimensions().end()};
}

std::vector<ReshapeGroup> groups_of(const HloInstruction& reshape) {
  const auto bounds =
      xla::CommonFactors(reshape.operand(0)->shape().dimensions(), reshape.shape().dimensions());
  std::vector<ReshapeGroup> groups;
  std::int64_t from = 0, to = 0;
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    const auto [from_end, to_end] = bounds[i];
    // New dimensions of size 1 stay with what follows them.
    if (from_end == from && i + 1 < bounds.size()) continue;
    groups.push_back({counted(from_end - from, from), counted(to_end - to, to)});
    from = from_end;
    to = to_end;
  }
  return groups;
}

Result<xla::XlaComputation> canonical(const xla::XlaComputation& computation, Traces traces) {
  // Via a module: it writes computations and instructions after those that they use.
  TFAOT_ASSIGN(const auto module, make_module(computation.proto()));
  xla::HloModuleProto proto = module->ToProto();
  Numbers computations;
  Numbers instructions;
  for (const auto& one : proto.computations()) {
    add_number(computations, one.id());
    for (const auto& instruction : one.instructions()) add_number(instructions, instruction.id());
  }
  for (auto& one : *proto.mutable_computations()) {
    one.set_id(computations.at(one.id()));
    one.set_root_id(instructions.at(one.root_id()));
    one.set_name(fmt::format("computation.{}", one.id()));
    rename_parameters(*one.mutable_program_shape());
    for (auto& instruction : *one.mutable_instructions()) {
      instruction.set_id(instructions.at(instruction.id()));
      instruction.set_name(fmt::format("{}.{}", instruction.opcode(), instruction.id()));
      replace_ids(instructions, *instruction.mutable_operand_ids());
      replace_ids(instructions, *instruction.mutable_control_predecessor_ids());
      replace_ids(computations, *instruction.mutable_called_computation_ids());
      const std::string origin = instruction.metadata().op_name();
      instruction.clear_metadata();
      if (traces == Traces::kNames) instruction.mutable_metadata()->set_op_name(origin);
      instruction.clear_original_value();
    }
  }
  proto.set_entry_computation_id(computations.at(proto.entry_computation_id()));
  proto.set_entry_computation_name(fmt::format("computation.{}", proto.entry_computation_id()));
  rename_parameters(*proto.mutable_host_program_shape());
  proto.set_name("tfaot");
  proto.set_id(0);
  proto.clear_stack_frame_index();
  return xla::XlaComputation(std::move(proto));
}

std::string hlo_sha256(const xla::XlaComputation& computation) {
  std::string bytes;
  tsl::SerializeToStringDeterministic(computation.proto(), &bytes);
  return sha256_of(bytes);
}

Result<std::string> hlo_text(const xla::XlaComputation& computation) {
  TFAOT_ASSIGN(const auto module, make_module(computation.proto()));
  std::int64_t numbers = 0;
  for (const auto* one : instructions_of(*module)) {
    if (one->IsConstant()) numbers += xla::ShapeUtil::ElementsInRecursive(one->shape());
  }
  return hlo_text(*module, numbers <= kMostNumbers ? Constants::kAll : Constants::kSmall);
}

std::string hlo_text(const xla::HloModule& module, Constants constants) {
  return module.ToString(xla::HloPrintOptions()
                             .set_print_large_constants(constants == Constants::kAll)
                             .set_print_metadata(false)
                             .set_print_percent(false)
                             .set_print_operand_shape(false)
                             .set_print_operand_index_annotation_interval(0)
                             .set_print_program_shape(false)
                             .set_include_layout_in_shapes(false));
}

}  // namespace tfaot::toolkit::engine
