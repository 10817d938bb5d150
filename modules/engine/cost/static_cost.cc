// SPDX-License-Identifier: Apache-2.0
#include "cost/static_cost.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "cost/machine_model.h"
#include "cost/xla_products.h"
#include "hlo/hlo.h"
#include "hlo/loop.h"
#include "kernels/kernel_call.h"
#include "kernels/window.h"
#include "tfaot/kernels/abi.h"
#include "tfaot/records/hlo_graph.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Rows of a product that meet the right side at once (kernels/own/gemm.cc).
constexpr double kBlockRows = 480;

double bytes_of(const xla::Shape& shape) {
  if (shape.IsArray()) return static_cast<double>(xla::ShapeUtil::ByteSizeOf(shape));
  double bytes = 0;
  for (const auto& element : shape.tuple_shapes()) bytes += bytes_of(element);
  return bytes;
}

enum class Kind { kFree, kPlain, kSlow, kDear, kElement };

Kind kind_of(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kParameter:
    case HloOpcode::kConstant:
    case HloOpcode::kTuple:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kReshape:
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kIota:
      return Kind::kFree;
    case HloOpcode::kDivide:
    case HloOpcode::kRemainder:
    case HloOpcode::kSqrt:
    case HloOpcode::kRsqrt:
      return Kind::kSlow;
    case HloOpcode::kAtan2:
    case HloOpcode::kCbrt:
    case HloOpcode::kCos:
    case HloOpcode::kErf:
    case HloOpcode::kExp:
    case HloOpcode::kExpm1:
    case HloOpcode::kLog:
    case HloOpcode::kLog1p:
    case HloOpcode::kLogistic:
    case HloOpcode::kPower:
    case HloOpcode::kSin:
    case HloOpcode::kTan:
    case HloOpcode::kTanh:
      return Kind::kDear;
    case HloOpcode::kCustomCall:
    case HloOpcode::kGather:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kReverse:
    case HloOpcode::kScatter:
    case HloOpcode::kSort:
    case HloOpcode::kTranspose:
      return Kind::kElement;
    default:
      return Kind::kPlain;
  }
}

class Estimate {
 public:
  Estimate(const xla::HloModule& module, const CodeSize& code)
      : machine_(machine_of(code.kernels)) {
    auto footprint = static_cast<double>(code.scratch_bytes);
    const auto& entry = *module.entry_computation();
    footprint += bytes_of(entry.root_instruction()->shape());
    double weights = 0;
    for (const HloInstruction* parameter : entry.parameter_instructions()) {
      (parameter->parameter_number() < code.inputs ? footprint : weights) +=
          bytes_of(parameter->shape());
    }
    for (const auto* computation : module.computations()) {
      for (const auto* one : computation->instructions()) {
        if (one->opcode() == HloOpcode::kConstant) weights += bytes_of(one->shape());
      }
    }
    weight_cycles_ = weight_cycles(footprint + weights);
    wait_cycles_ = wait_cycles(footprint);
  }

  double cycles(const xla::HloComputation& computation) const {
    double sum = 0;
    for (const auto* one : computation.instructions()) sum += cycles(*one);
    return sum;
  }

  // The part that rows of padding do not cost. Only the entry computation has calls like that.
  double live_cycles(const xla::HloComputation& entry) const {
    double sum = 0;
    for (const auto* one : entry.instructions()) {
      if (skips_padding(*one)) sum += cycles(*one);
    }
    return sum;
  }

  // The part of kernels that share their work. Only the entry computation has some.
  double shared_cycles(const xla::HloComputation& entry) const {
    double sum = 0;
    for (const auto* one : entry.instructions()) {
      if (is_shared(*one)) sum += cycles(*one);
    }
    return sum;
  }

  double cycles(const HloInstruction& one) const {
    switch (one.opcode()) {
      case HloOpcode::kWhile: {
        return static_cast<double>(loop_turns(one).value_or(kAssumedTurns)) *
               (cycles(*one.while_body()) + cycles(*one.while_condition()));
      }
      case HloOpcode::kConditional: {
        double most = 0;
        for (const auto* branch : one.branch_computations()) {
          most = std::max(most, cycles(*branch));
        }
        return most;
      }
      case HloOpcode::kCall:
        return cycles(*one.to_apply());
      case HloOpcode::kConvolution:
      case HloOpcode::kDot:
        return multiply_by_xla(one);
      case HloOpcode::kFusion:
        return cycles(*one.fused_instructions_computation());
      default:
        return is_kernel_call(one) ? kernel(one) : loop(one);
    }
  }

 private:
  // `moved`: bytes that are not weights.
  double waiting(double moved) const { return moved * wait_cycles_; }

  double loop(const HloInstruction& one) const {
    const Kind kind = kind_of(one.opcode());
    if (kind == Kind::kFree || !one.shape().IsArray()) return 0;
    double bytes = bytes_of(one.shape());
    if (kind != Kind::kElement) {
      const double each = kind == Kind::kPlain  ? kPlainCycles
                          : kind == Kind::kSlow ? kSlowCycles
                                                : kDearCycles;
      return kLoopCycles + std::ceil(bytes / machine_.vector_bytes) * each;
    }
    auto elements = static_cast<double>(xla::ShapeUtil::ElementsIn(one.shape()));
    for (const auto* operand : one.operands()) {
      if (!operand->shape().IsArray()) continue;
      bytes += bytes_of(operand->shape());
      elements =
          std::max(elements, static_cast<double>(xla::ShapeUtil::ElementsIn(operand->shape())));
    }
    return kLoopCycles + elements * kElementCycles + waiting(bytes);
  }

  // A product or a convolution that XLA makes.
  double multiply_by_xla(const HloInstruction& one) const {
    return kLoopCycles + xla_product_cycles(machine_, one) +
           waiting(bytes_of(one.operand(0)->shape()) + bytes_of(one.operand(1)->shape()) +
                   bytes_of(one.shape()));
  }

  // Another kernel costs what moving its tensors does.
  double kernel(const HloInstruction& one) const {
    const KernelKind kind = kernel_kind(one);
    const std::int64_t bytes = element_bytes(*one.operand(1));
    const double result =
        bytes_of(one.shape().IsTuple() ? one.shape().tuple_shapes(0) : one.shape());
    // A gather reads as much as it writes, however large the tables are.
    if (kind == KernelKind::kGather) return kCallCycles + waiting(2 * result);
    const double moved = kCallCycles + waiting(bytes_of(one.operand(1)->shape()) + result) +
                         function_cycles(result_function(one).kind, result);
    if (kind == KernelKind::kRecurrent) return moved + recur(one);
    if (kind == KernelKind::kDenseChain) return moved + go_through_layers(one);
    if (kind == KernelKind::kRows) return moved + go_over_rows(one);
    if (kind == KernelKind::kMatMul) {
      const auto call = call_of<kernels::MatMulCall>(one);
      const ProductSize size{call.rows, call.columns, call.depth, bytes};
      const double right = bytes_of(one.operand(2)->shape());
      if (call.rhs_packed == 0) {
        return moved + waiting(right) +
               static_cast<double>(call.batch) * product_cycles(machine_, size);
      }
      return moved + static_cast<double>(call.batch) * multiply(size, right);
    }
    if (kind == KernelKind::kAttention) return moved + attend(one);
    if (kind == KernelKind::kConvolution) {
      return moved + convolve(one, call_of<kernels::ConvolutionCall>(one), bytes);
    }
    if (kind == KernelKind::kDepthwise) {
      const auto call = call_of<kernels::ConvolutionCall>(one);
      const std::int64_t inputs = call.in_channels / call.groups;
      return moved + slide(static_cast<double>(inputs) * taps_of(call.window), result);
    }
    if (kind == KernelKind::kPool) {
      return moved + slide(taps_of(call_of<kernels::PoolCall>(one).window), result);
    }
    if (kind == KernelKind::kResize) {
      const auto call = call_of<kernels::ResizeCall>(one);
      const double lines =
          result * static_cast<double>(call.in[1]) / static_cast<double>(call.out[1]);
      return moved + slide(static_cast<double>(call.taps[0]), lines) +
             slide(static_cast<double>(call.taps[1]), result);
    }
    if (kind == KernelKind::kTopK) {
      return moved + select(call_of<kernels::TopKCall>(one), bytes);
    }
    if (kind == KernelKind::kForest) {
      const double steps = static_cast<double>(forest_size(one).steps) * kTreeStepCycles;
      return moved + std::max(steps, bytes_of(one.operand(2)->shape()) * weight_cycles_);
    }
    return moved;
  }

  // Two products, and a softmax of what is between them.
  double attend(const HloInstruction& one) const {
    const auto call = call_of<kernels::AttentionCall>(one);
    const auto batch = static_cast<double>(call.batch);
    const ProductSize scores{call.rows, call.keys, call.depth, sizeof(float)};
    const ProductSize sums{call.rows, call.columns, call.keys, sizeof(float)};
    const double score_bytes = static_cast<double>(call.rows * call.keys) * sizeof(float);
    return waiting(bytes_of(one.operand(2)->shape()) + bytes_of(one.operand(3)->shape())) +
           batch * (product_cycles(machine_, scores) + product_cycles(machine_, sums) +
                    std::ceil(score_bytes / machine_.vector_bytes) * kDearCycles);
  }

  double convolve(const HloInstruction& one, const kernels::ConvolutionCall& call,
                  std::int64_t bytes) const {
    if (kernel_name(one).starts_with("winograd_")) return convolve_by_winograd(one);
    const std::int64_t channels = call.in_channels / call.groups;  // of a group
    const double depth = taps_of(call.window) * static_cast<double>(channels);
    const ProductSize size{call.batch * product(call.window.out), call.out_channels / call.groups,
                           static_cast<std::int64_t>(std::ceil(depth)), bytes};
    const auto groups = static_cast<double>(call.groups);
    return groups * multiply(size, bytes_of(one.operand(2)->shape()) / groups);
  }

  // The products, and moving their numbers in and out, which are read and written once each.
  double convolve_by_winograd(const HloInstruction& one) const {
    const auto call = call_of<kernels::WinogradCall>(one);
    const auto matrices = static_cast<double>(kernels::winograd_matrices(call));
    const ProductSize size{kernels::winograd_tiles(call), call.convolution.out_channels,
                           call.convolution.in_channels, sizeof(float)};
    const auto numbers = static_cast<double>(size.rows * (size.depth + size.columns));
    const double moved = matrices * numbers * sizeof(float) / machine_.vector_bytes;
    return matrices * multiply(size, bytes_of(one.operand(2)->shape()) / matrices) +
           2 * moved * kPlainCycles;
  }

  // Of so many bytes of results.
  double function_cycles(std::int64_t kind, double bytes) const {
    if (kind == kernels::kFunctionNone) return 0;
    const bool is_plain = kind == kernels::kFunctionLeaky ||
                          kind == kernels::kFunctionHardSigmoid ||
                          kind == kernels::kFunctionHardSwish;
    return std::ceil(bytes / machine_.vector_bytes) * (is_plain ? kPlainCycles : kDearCycles);
  }

  // The products and functions of all layers. What is between them stays in the first cache.
  double go_through_layers(const HloInstruction& one) const {
    const auto call = call_of<kernels::DenseChainCall>(one);
    ProductSize size{call.rows, 0, call.depth, sizeof(float)};
    double sum = 0;
    for (const kernels::DenseLayer& layer : dense_layers(one)) {
      size.columns = layer.columns;
      const auto weights =
          static_cast<double>(kernels::panel_count(size.columns, size.element_bytes) *
                              kernels::kPanelBytes * size.depth);
      sum += multiply(size, weights) + (sum > 0 && weights > kSmallLayerBytes ? kCallCycles : 0);
      sum += function_cycles(layer.function.kind,
                             static_cast<double>(size.rows * size.columns * size.element_bytes));
      size.depth = size.columns;
    }
    return sum;
  }

  // Once for a sum, three times for a normalisation; the others are functions of each element.
  double go_over_rows(const HloInstruction& one) const {
    const std::string_view name = kernel_name(one);
    const double each = name.starts_with("row_sum_")       ? kPlainCycles
                        : name.find("_norm_") != name.npos ? 3 * kPlainCycles
                                                           : kDearCycles;
    return std::ceil(bytes_of(one.operand(1)->shape()) / machine_.vector_bytes) * each;
  }

  // All steps' products with the state, and the functions of the gates.
  double recur(const HloInstruction& one) const {
    const auto call = call_of<kernels::RecurrentCall>(one);
    const auto gates = recurrent_gates(one);
    const ProductSize size{call.rows, gates * call.hidden, call.features + call.hidden,
                           element_bytes(*one.operand(1))};
    const auto state = static_cast<double>(call.rows * call.hidden * size.element_bytes);
    const double functions =
        std::ceil(state / machine_.vector_bytes) * static_cast<double>(gates + 1) * kDearCycles;
    return static_cast<double>(call.steps) *
           (multiply(size, bytes_of(one.operand(2)->shape())) + functions);
  }

  // Elements of rows in lanes meet the first ones; or each meets all others, or they are sorted.
  double select(const kernels::TopKCall& call, std::int64_t bytes) const {
    const auto rows = static_cast<double>(call.rows), size = static_cast<double>(call.size);
    const double lanes = machine_.vector_bytes / static_cast<double>(bytes);
    if (bytes == sizeof(float) && are_rows_together(call, static_cast<std::int64_t>(lanes))) {
      return rows * size * (kLaneCycles + static_cast<double>(call.count) * kFirstCycles) / lanes;
    }
    return rows * size *
           std::min(std::ceil(size / lanes) * kMeetCycles,
                    static_cast<double>(bytes) * kSortByteCycles);
  }

  // Of a position, on average.
  static double taps_of(const kernels::Window& window) {
    return static_cast<double>(met_taps(window)) / static_cast<double>(product(window.out));
  }

  // A window that goes over each channel alone, for `result` bytes.
  double slide(double taps, double result) const {
    return std::ceil(result / machine_.vector_bytes) * taps * kSlideCycles;
  }

  // Multiplying and reading weights overlap, but not fully: a sum of cubes is between the sum and
  // the maximum, and close to measurements.
  double multiply(const ProductSize& size, double weights) const {
    const double passes = std::ceil(static_cast<double>(size.rows) / kBlockRows);
    return std::cbrt(std::pow(product_cycles(machine_, size), 3) +
                     std::pow(weights * passes * weight_cycles_, 3));
  }

  const Machine& machine_;
  double weight_cycles_;
  double wait_cycles_;
};

}  // namespace

StaticCost static_cost(const xla::HloModule& module, const CodeSize& code) {
  const Estimate estimate(module, code);
  const auto& entry = *module.entry_computation();
  const double all = kRunCycles + estimate.cycles(entry);
  StaticCost cost;
  cost.picoseconds = static_cast<std::uint64_t>(
      std::clamp(std::round(all * kPicosecondsPerCycle), 1.0, kLongestCall));
  cost.live_permille = static_cast<std::uint32_t>(estimate.live_cycles(entry) / all * 1000);
  cost.shared_permille = static_cast<std::uint32_t>(estimate.shared_cycles(entry) / all * 1000);
  return cost;
}

std::map<const HloInstruction*, double> kernel_costs(const xla::HloModule& module,
                                                     const CodeSize& code) {
  const Estimate estimate(module, code);
  std::map<const HloInstruction*, double> costs;
  for (const auto* one : module.entry_computation()->instructions()) {
    if (is_kernel_call(*one)) costs[one] = estimate.cycles(*one) * kPicosecondsPerCycle;
  }
  return costs;
}

std::map<const HloInstruction*, double> instruction_costs(const xla::HloModule& module,
                                                          const CodeSize& code) {
  const Estimate estimate(module, code);
  std::map<const HloInstruction*, double> costs;
  for (const auto* computation : module.computations()) {
    for (const auto* one : computation->instructions()) costs[one] = 0;
  }
  // XLA adds computations to the module while it counts the turns of some loops.
  for (auto& [one, cost] : costs) cost = estimate.cycles(*one) * kPicosecondsPerCycle;
  return costs;
}

}  // namespace tfaot::toolkit::engine
