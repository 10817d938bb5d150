// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/static_cost.h"

#include <algorithm>
#include <cmath>

#include "compiler/cost/xla_products.h"
#include "compiler/hlo/hlo.h"
#include "compiler/hlo/loop.h"
#include "compiler/kernels/kernel_call.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/machine_model.h"
#include "tfaot/records/hlo_graph.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

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

ProgramSpeed speed_of(const xla::HloModule& module, const CodeSize& code) {
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
  return {machine_of(code.kernels), footprint, weights};
}

class Estimate {
 public:
  Estimate(const xla::HloModule& module, const CodeSize& code) : speed_(speed_of(module, code)) {}

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
        return is_kernel_call(one) ? kernel_cycles(one, speed_) : loop(one);
    }
  }

 private:
  double loop(const HloInstruction& one) const {
    const Kind kind = kind_of(one.opcode());
    if (kind == Kind::kFree || !one.shape().IsArray()) return 0;
    double bytes = bytes_of(one.shape());
    if (kind != Kind::kElement) {
      const double each = kind == Kind::kPlain  ? kPlainCycles
                          : kind == Kind::kSlow ? kSlowCycles
                                                : kDearCycles;
      return kLoopCycles + speed_.vectors(bytes) * each;
    }
    auto elements = static_cast<double>(xla::ShapeUtil::ElementsIn(one.shape()));
    for (const auto* operand : one.operands()) {
      if (!operand->shape().IsArray()) continue;
      bytes += bytes_of(operand->shape());
      elements =
          std::max(elements, static_cast<double>(xla::ShapeUtil::ElementsIn(operand->shape())));
    }
    return kLoopCycles + elements * kElementCycles + speed_.waiting(bytes);
  }

  // A product or a convolution that XLA makes.
  double multiply_by_xla(const HloInstruction& one) const {
    return kLoopCycles + xla_product_cycles(speed_.machine(), one) +
           speed_.waiting(bytes_of(one.operand(0)->shape()) + bytes_of(one.operand(1)->shape()) +
                          bytes_of(one.shape()));
  }

  ProgramSpeed speed_;
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
