// SPDX-License-Identifier: Apache-2.0
#include "inspect/node_facts.h"

#include <fmt/format.h>

#include <cmath>

#include "compiler/hlo/loop.h"
#include "compiler/kernels/kernel_facts.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

std::int64_t shape_bytes(const xla::Shape& shape) {
  return xla::ShapeUtil::ByteSizeOf(shape, sizeof(void*));
}

NodeKind node_kind(const HloInstruction& one) {
  switch (one.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kConstant:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kParameter:
    case HloOpcode::kTuple:
      return NodeKind::kData;
    case HloOpcode::kCustomCall:
      return is_kernel_call(one) ? NodeKind::kKernel : NodeKind::kCall;
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
      return NodeKind::kProduct;
    case HloOpcode::kFusion:
      return NodeKind::kFusion;
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
    case HloOpcode::kWhile:
      return NodeKind::kControl;
    default:
      return NodeKind::kLoop;
  }
}

// Tensors that a kernel reads and writes, without its struct and its scratch.
std::int64_t kernel_bytes(const HloInstruction& one) {
  std::int64_t bytes = shape_bytes(first_shape(one));
  for (std::int64_t i = 1; i < one.operand_count(); ++i)
    bytes += shape_bytes(one.operand(i)->shape());
  return bytes;
}

std::string attributes_of(const HloInstruction& one) {
  if (one.opcode() == HloOpcode::kParameter) {
    return fmt::format("parameter {}", one.parameter_number());
  }
  const auto options =
      xla::HloPrintOptions::ShortParsable().set_print_metadata(false).set_print_large_constants(
          false);
  if (one.opcode() == HloOpcode::kConstant) {
    const std::string text = one.ToString(options);
    const auto start = text.find("constant(");
    return start == std::string::npos ? "" : text.substr(start);
  }
  std::string text;
  for (const auto& attribute : one.ExtraAttributesToString(options)) {
    text += (text.empty() ? "" : ", ") + std::string(attribute);
  }
  return text;
}

}  // namespace

NodeFacts::NodeFacts(const xla::HloModule& module, const FactsOptions& options)
    : has_constants_(options.has_constants) {
  if (has_constants_) costs_ = instruction_costs(module, options.code);
  for (const HloInstruction* one : instructions_of(module)) {
    if (one->opcode() != HloOpcode::kWhile) continue;
    if (const auto turns = loop_turns(*one)) turns_[one] = *turns;
  }
}

HloComputation NodeFacts::describe(const xla::HloComputation& computation) const {
  HloComputation described;
  described.name = computation.name();
  described.root = computation.root_instruction()->name();
  described.is_fused = computation.IsFusionComputation();
  // Counts of a computation alone: a fusion's own would hide those of its instructions.
  xla::HloCostAnalysis analysis(shape_bytes);
  const bool counted = computation.Accept(&analysis).ok();
  for (const HloInstruction* one : computation.MakeInstructionPostOrder()) {
    described.nodes.push_back(describe(*one, counted ? &analysis : nullptr));
  }
  return described;
}

HloNode NodeFacts::describe(const HloInstruction& one, const xla::HloCostAnalysis* analysis) const {
  HloNode node;
  node.name = one.name();
  node.opcode = xla::HloOpcodeString(one.opcode());
  node.kind = node_kind(one);
  node.shape = xla::ShapeUtil::HumanString(one.shape());
  for (const auto* operand : one.operands()) node.operands.emplace_back(operand->name());
  for (const auto* called : one.called_computations()) {
    node.computations.emplace_back(called->name());
  }
  node.origin = one.metadata().op_name();
  node.detail = attributes_of(one);
  if (analysis != nullptr) {
    node.flops = analysis->flop_count(one) + analysis->transcendental_count(one);
    node.bytes = analysis->bytes_accessed(one);
  }
  if (node.kind == NodeKind::kData) node.flops = node.bytes = 0;
  if (node.kind == NodeKind::kControl) node.flops = node.bytes = -1;
  if (one.opcode() == HloOpcode::kCustomCall) {
    node.callee = one.custom_call_target();
    node.flops = -1;
  }
  if (node.kind == NodeKind::kKernel) {
    const KernelWork work = has_constants_ ? kernel_work(one) : KernelWork();
    node.flops = work.flops;
    node.bytes = kernel_bytes(one);
    node.detail = work.text;
  }
  if (const auto cost = costs_.find(&one); cost != costs_.end()) {
    node.picoseconds = std::llround(cost->second);
  }
  if (const auto turns = turns_.find(&one); turns != turns_.end()) node.turns = turns->second;
  return node;
}

}  // namespace tfaot::toolkit::engine
