// SPDX-License-Identifier: Apache-2.0
#include "inspect/node_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "hlo/loop.h"
#include "kernels/gathered_parts.h"
#include "kernels/kernel_call.h"
#include "kernels/window.h"
#include "tfaot/base/text.h"
#include "tfaot/kernels/abi.h"

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

// "28 x 28": a window's last dimensions, without the leading ones that are always 1.
std::string extent(const std::int64_t (&sizes)[kernels::kSpatial]) {
  std::size_t first = 0;
  while (first + 1 < kernels::kSpatial && sizes[first] == 1) ++first;
  return fmt::format("{}", fmt::join(sizes + first, sizes + kernels::kSpatial, " x "));
}

std::string epilogue_text(std::int64_t epilogue) {
  std::string text;
  if ((epilogue & kernels::kEpilogueBias) != 0) text += ", then a bias";
  if ((epilogue & kernels::kEpilogueRowBias) != 0) text += ", then a bias of each row";
  if ((epilogue & kernels::kEpilogueSum) != 0) text += ", then a sum";
  if ((epilogue & kernels::kEpilogueRelu) != 0) {
    text += (epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6 ? ", then relu6"
                                                                            : ", then relu";
  }
  return text;
}

// The work of a kernel call, in a few words and in numbers.
struct KernelWork {
  std::string text = {};
  std::int64_t flops = -1;
};

KernelWork product_work(const kernels::MatMulCall& call) {
  return {fmt::format("{}{} x {} by {} x {}, {}{}",
                      call.batch == 1 ? "" : fmt::format("{} times ", call.batch), call.rows,
                      call.depth, call.depth, call.columns,
                      call.rhs_packed != 0 ? "packed weights" : "packed at each call",
                      epilogue_text(call.epilogue)),
          2 * call.batch * call.rows * call.columns * call.depth};
}

KernelWork attention_work(const kernels::AttentionCall& call) {
  return {fmt::format("{} times {} queries x {} by {} keys, values of {}", call.batch, call.rows,
                      call.depth, call.keys, call.columns),
          2 * call.batch * call.rows * call.keys * (call.depth + call.columns)};
}

const char* function_text(std::int64_t function) {
  switch (function) {
    case kernels::kFunctionTanh:
      return " tanh";
    case kernels::kFunctionSigmoid:
      return " sigmoid";
    case kernels::kFunctionSwish:
      return " swish";
    case kernels::kFunctionGelu:
    case kernels::kFunctionGeluTanh:
      return " gelu";
    case kernels::kFunctionSoftplus:
      return " softplus";
    case kernels::kFunctionLeaky:
      return " leaky relu";
    case kernels::kFunctionElu:
      return " elu";
    case kernels::kFunctionHardSigmoid:
      return " hard sigmoid";
    case kernels::kFunctionHardSwish:
      return " hard swish";
    default:
      return "";
  }
}

std::string layer_text(const kernels::DenseLayer& layer) {
  const bool is_six = (layer.epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6;
  const char* const relu = is_six                                           ? " relu6"
                           : (layer.epilogue & kernels::kEpilogueRelu) != 0 ? " relu"
                                                                            : "";
  return fmt::format("{}{}{}", layer.columns, relu, function_text(layer.function.kind));
}

KernelWork chain_work(const HloInstruction& one) {
  const auto call = call_of<kernels::DenseChainCall>(one);
  std::vector<std::string> layers;
  std::int64_t numbers = 0;  // of all weights
  std::int64_t depth = call.depth;
  for (const kernels::DenseLayer& layer : dense_layers(one)) {
    layers.push_back(layer_text(layer));
    numbers += depth * layer.columns;
    depth = layer.columns;
  }
  return {
      fmt::format("{} x {} through layers of {}", call.rows, call.depth, fmt::join(layers, ", ")),
      2 * call.rows * numbers};
}

KernelWork window_work(const kernels::Window& window, std::int64_t batch, std::int64_t channels) {
  return {fmt::format("{} of {}, to {}, {} channels", extent(window.size), extent(window.in),
                      extent(window.out), channels),
          batch * met_taps(window) * channels};
}

KernelWork resize_work(const kernels::ResizeCall& call) {
  const std::int64_t rows = call.out[0] * call.in[1] * call.taps[0];
  const std::int64_t columns = call.out[0] * call.out[1] * call.taps[1];
  return {fmt::format("{} x {} to {} x {}, {} channels", call.in[0], call.in[1], call.out[0],
                      call.out[1], call.channels),
          2 * call.batch * call.channels * (rows + columns)};
}

std::string top_k_text(const kernels::TopKCall& call) {
  const bool is_descending = (call.order & kernels::kTopKDescending) != 0;
  return fmt::format("{} {} of {}, in {} rows", is_descending ? "largest" : "smallest", call.count,
                     call.size, call.rows);
}

std::string gather_text(const HloInstruction& one) {
  const auto call = call_of<kernels::GatherCall>(one);
  if (call.parts > 1) {
    return fmt::format("{} rows of {} parts, of {} elements", call.rows, call.parts, call.row);
  }
  return fmt::format("{} of {} rows, of {} elements", call.rows, gather_parts(one).front().x_rows,
                     call.row);
}

std::string row_text(const HloInstruction& one) {
  const auto words = call_words(one);
  if (kernel_name(one).starts_with("gelu_")) return fmt::format("{} elements", words[0]);
  if (kernel_name(one).starts_with("group_norm_")) {
    return fmt::format("{} times {} points, {} groups of {} channels", words[0], words[1], words[2],
                       words[3]);
  }
  return fmt::format("{} rows of {}", words[0], words[1]);
}

KernelWork work_of(const HloInstruction& one) {
  switch (kernel_kind(one)) {
    case KernelKind::kMatMul:
      return product_work(call_of<kernels::MatMulCall>(one));
    case KernelKind::kAttention:
      return attention_work(call_of<kernels::AttentionCall>(one));
    case KernelKind::kDenseChain:
      return chain_work(one);
    case KernelKind::kConvolution:
    case KernelKind::kDepthwise: {
      const auto call = call_of<kernels::ConvolutionCall>(one);
      KernelWork work = window_work(call.window, call.batch, call.out_channels);
      work.flops *= 2 * (call.in_channels / call.groups);
      work.text = fmt::format("{} of {} x {}, to {} x {}{}", extent(call.window.size),
                              extent(call.window.in), call.in_channels, extent(call.window.out),
                              call.out_channels, epilogue_text(call.epilogue));
      return work;
    }
    case KernelKind::kPool: {
      const auto call = call_of<kernels::PoolCall>(one);
      return window_work(call.window, call.batch, call.channels);
    }
    case KernelKind::kTopK:
      return {top_k_text(call_of<kernels::TopKCall>(one))};
    case KernelKind::kGather:
      return {gather_text(one)};
    case KernelKind::kResize:
      return resize_work(call_of<kernels::ResizeCall>(one));
    case KernelKind::kForest: {
      const auto call = call_of<kernels::ForestCall>(one);
      const ForestSize size = forest_size(one);
      return {fmt::format("{} rows through {} trees, at most {} steps", call.rows, size.trees,
                          size.depth),
              size.steps};
    }
    case KernelKind::kRecurrent: {
      const auto call = call_of<kernels::RecurrentCall>(one);
      const std::int64_t depth = call.features + call.hidden;
      return {fmt::format("{} steps of {} rows, state of {}", call.steps, call.rows, call.hidden),
              2 * call.steps * call.rows * depth * recurrent_gates(one) * call.hidden};
    }
    case KernelKind::kRows:
      return {row_text(one)};
    case KernelKind::kOther:
      break;
  }
  return {};
}

KernelWork kernel_work(const HloInstruction& one) {
  KernelWork work = work_of(one);
  const std::int64_t function = result_function(one).kind;
  if (function != kernels::kFunctionNone)
    work.text += fmt::format(", then{}", function_text(function));
  if (skips_padding(one)) work.text += ", skips rows of padding";
  return work;
}

// Tensors that a kernel reads and writes, without its struct and its scratch.
std::int64_t kernel_bytes(const HloInstruction& one) {
  std::int64_t bytes =
      shape_bytes(one.shape().IsTuple() ? one.shape().tuple_shapes(0) : one.shape());
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
  std::vector<const HloInstruction*> loops;
  for (const auto* computation : module.computations()) {
    for (const auto* one : computation->instructions()) {
      if (one->opcode() == HloOpcode::kWhile) loops.push_back(one);
    }
  }
  for (const HloInstruction* loop : loops) {
    if (const auto turns = loop_turns(*loop)) turns_[loop] = *turns;
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
