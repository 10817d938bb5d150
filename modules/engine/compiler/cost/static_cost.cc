// SPDX-License-Identifier: Apache-2.0
#include "compiler/cost/static_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/hlo/foreign_operations.h"
#include "compiler/hlo/loop.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/kernel_call.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/machine_model.h"
#include "tfaot/records/hlo_graph.h"
#include "xla/service/hlo_cost_analysis.h"

namespace tfaot::toolkit::engine {

namespace {

enum class Kind { kFree, kPlain, kSlow, kDear, kElement };

Kind kind_of(const HloInstruction& one) {
  if (xla::HloPredicateIsOp<kParameter, kConstant, kTuple, kGetTupleElement, kReshape, kBitcast,
                            kBroadcast, kIota>(&one))
    return Kind::kFree;
  if (xla::HloPredicateIsOp<kDivide, kRemainder, kSqrt, kRsqrt>(&one)) return Kind::kSlow;
  if (xla::HloPredicateIsOp<kAtan2, kCbrt, kCos, kErf, kExp, kExpm1, kLog, kLog1p, kLogistic,
                            kPower, kSin, kTan, kTanh>(&one))
    return Kind::kDear;
  const bool goes_by_elements = xla::HloPredicateIsOp<kCustomCall, kGather, kReduce, kReduceWindow,
                                                      kReverse, kScatter, kSort, kTranspose>(&one);
  return goes_by_elements ? Kind::kElement : Kind::kPlain;
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
  for (const auto* one : instructions_of(module)) {
    if (one->opcode() == kConstant) weights += bytes_of(one->shape());
  }
  return {machine_of(code.kernels), footprint, weights};
}

constexpr double kLeastShare = 0.01;
constexpr std::size_t kMostNamed = 8;

// The sizes of one of `batch` products.
ProductSize size_of_dot(const HloInstruction& dot, std::int64_t& batch) {
  const xla::Shape& left = dot.operand(0)->shape();
  const xla::Shape& right = dot.operand(1)->shape();
  const auto sizes = [&left](const auto& dimensions) {
    return std::max<std::int64_t>(product(picked(left.dimensions(), dimensions)), 1);
  };
  const auto& numbers = dot.dot_dimension_numbers();
  const std::int64_t depth = sizes(numbers.lhs_contracting_dimensions());
  batch = sizes(numbers.lhs_batch_dimensions());
  return {xla::ShapeUtil::ElementsIn(left) / depth / batch,
          xla::ShapeUtil::ElementsIn(right) / depth / batch, depth,
          xla::ShapeUtil::ByteSizeOfPrimitiveType(type_of(dot))};
}

const char* rounded_share(double share) {
  return share > 0.5 ? "more than half" : share > 0.1 ? "more than a tenth" : "less than a tenth";
}

// Products below `computation`, each with how often it runs.
void collect(const xla::HloComputation& computation, double runs,
             std::vector<std::pair<const HloInstruction*, double>>& found) {
  for (const HloInstruction* one : computation.MakeInstructionPostOrder()) {
    switch (one->opcode()) {
      case kDot:
      case kConvolution:
        found.emplace_back(one, runs);
        break;
      case kWhile:
        collect(*one->while_body(),
                runs * static_cast<double>(loop_turns(*one).value_or(kAssumedTurns)), found);
        break;
      case kConditional:
        for (const auto* branch : one->branch_computations()) collect(*branch, runs, found);
        break;
      default:
        break;
    }
  }
}

// The cycles of its multiply-adds. REQUIRES: a dot or a convolution.
double xla_product_cycles(const Machine& machine, const HloInstruction& product) {
  if (product.opcode() == kConvolution) {
    const auto flops = xla::HloCostAnalysis::GetConvolutionFlops(
        &product, product.operand(0)->shape(), product.operand(1)->shape(), product.shape());
    return static_cast<double>(flops) / 2 * kXlaMultiplyCycles;
  }
  std::int64_t batch = 1;
  const ProductSize size = size_of_dot(product, batch);
  const auto type = type_of(product);
  const auto products = static_cast<double>(batch);
  if (has_kernels(type)) return products * product_cycles(machine, size);
  const bool is_vector = size.rows == 1 || size.columns == 1;
  return products * (is_vector ? kXlaMultiplyCycles : kXlaMatrixCycles) *
         static_cast<double>(size.rows) * static_cast<double>(size.columns) *
         static_cast<double>(size.depth);
}

class Estimate {
 public:
  Estimate(const xla::HloModule& module, const CodeSize& code) : speed_(speed_of(module, code)) {}

  // The sum over the instructions for which `counts`, or over all.
  double cycles(const xla::HloComputation& computation,
                bool (*counts)(const HloInstruction&) = nullptr) const {
    double sum = 0;
    for (const auto* one : computation.instructions()) {
      if (counts == nullptr || counts(*one)) sum += cycles(*one);
    }
    return sum;
  }

  double cycles(const HloInstruction& one) const {
    switch (one.opcode()) {
      case kWhile: {
        return static_cast<double>(loop_turns(one).value_or(kAssumedTurns)) *
               (cycles(*one.while_body()) + cycles(*one.while_condition()));
      }
      case kConditional: {
        double most = 0;
        for (const auto* branch : one.branch_computations()) {
          most = std::max(most, cycles(*branch));
        }
        return most;
      }
      case kCall:  // before they are inlined, for `tfaot inspect`
        return cycles(*one.to_apply());
      case kConvolution:
      case kDot:
        return multiply_by_xla(one);
      case kFusion:
        return cycles(*one.fused_instructions_computation());
      default:
        return is_kernel_call(one) ? kernel_cycles(one, speed_) : loop(one);
    }
  }

 private:
  double loop(const HloInstruction& one) const {
    const Kind kind = kind_of(one);
    if (kind == Kind::kFree || !one.shape().IsArray()) return 0;
    double bytes = bytes_of(one.shape());
    if (kind != Kind::kElement) {
      const double each = kind == Kind::kPlain  ? kPlainCycles
                          : kind == Kind::kSlow ? kSlowCycles
                                                : kDearCycles;
      return kLoopCycles + speed_.vectors(bytes) * each;
    }
    auto elements = static_cast<double>(elements_of(one));
    for (const auto* operand : one.operands()) {
      if (!operand->shape().IsArray()) continue;
      bytes += bytes_of(operand->shape());
      elements = std::max(elements, static_cast<double>(elements_of(*operand)));
    }
    return kLoopCycles + elements * kElementCycles + speed_.waiting(bytes);
  }

  double multiply_by_xla(const HloInstruction& one) const {
    return kLoopCycles + xla_product_cycles(speed_.machine(), one) +
           speed_.waiting(bytes_of(one.operand(0)->shape()) + bytes_of(one.operand(1)->shape()) +
                          bytes_of(one.shape()));
  }

  ProgramSpeed speed_;
};

// Of a call: rounded, and at least 1.
double call_picoseconds(double cycles) {
  return std::clamp(std::round(cycles * kPicosecondsPerCycle), 1.0, kLongestCall);
}

}  // namespace

StaticCost static_cost(const xla::HloModule& module, const CodeSize& code) {
  const Estimate estimate(module, code);
  const auto& entry = *module.entry_computation();
  const double all = kRunCycles + estimate.cycles(entry);
  StaticCost cost;
  cost.picoseconds = static_cast<std::uint64_t>(call_picoseconds(all));
  // Only the entry computation has calls that skip rows of padding, or that share their work.
  cost.live_permille =
      static_cast<std::uint32_t>(estimate.cycles(entry, skips_padding) / all * 1000);
  cost.shared_permille = static_cast<std::uint32_t>(estimate.cycles(entry, is_shared) / all * 1000);
  return cost;
}

std::map<const HloInstruction*, double> instruction_costs(const xla::HloModule& module,
                                                          const CodeSize& code) {
  const Estimate estimate(module, code);
  std::map<const HloInstruction*, double> costs;
  for (const auto* one : instructions_of(module)) {
    costs[one] = estimate.cycles(*one) * kPicosecondsPerCycle;
  }
  return costs;
}

std::vector<XlaProduct> products_of_xla(const xla::HloModule& module, const CodeSize& code) {
  std::vector<std::pair<const HloInstruction*, double>> found;
  collect(*module.entry_computation(), 1, found);
  if (found.empty()) return {};
  const Estimate estimate(module, code);
  const double all = call_picoseconds(kRunCycles + estimate.cycles(*module.entry_computation()));
  std::vector<XlaProduct> products;
  for (const auto& [one, runs] : found) {
    const double share = std::min(1.0, estimate.cycles(*one) * kPicosecondsPerCycle * runs / all);
    if (share < kLeastShare) continue;
    products.push_back({describe_node(*one), share});
  }
  return products;
}

std::string warning_of(const std::vector<XlaProduct>& products) {
  std::string text;
  for (std::size_t i = 0; i < std::min(products.size(), kMostNamed); ++i) {
    text += fmt::format("{}{}: {} of the estimated time", i == 0 ? "" : "; ", products[i].text,
                        rounded_share(products[i].share));
  }
  if (products.size() > kMostNamed) {
    text += fmt::format(" and {} more", products.size() - kMostNamed);
  }
  return text.empty()
             ? text
             : "XLA computes products for which tfaot has no kernel, which is slower: " + text;
}

// Large kernels share their work among tasks of the runtime, if it has some. They get the address
// of the tasks (abi.h) as their last operand, which is a parameter after all others. Kernels in
// loops and branches, and those too small to be worth the threads, stay as they are.
Status share_kernels(xla::HloModule& module, PassContext& context) {
  if (context.choices.smallest_free_size > 0) return {};  // what is worthwhile depends on the size
  // Picoseconds: a few times what handing pieces out and waiting for the last one takes.
  constexpr double kWorthwhile = 20e6;
  xla::HloComputation& entry = *module.entry_computation();
  const Estimate estimate(module, {context.inputs, 0, kUsualKernels});
  std::vector<HloInstruction*> able;
  for (HloInstruction* one : entry.MakeInstructionPostOrder()) {
    if (shared_words(*one).empty()) continue;
    if (estimate.cycles(*one) * kPicosecondsPerCycle >= kWorthwhile) able.push_back(one);
  }
  if (able.empty()) return {};
  HloInstruction* const tasks = entry.AddEntryComputationParameter(
      HloInstruction::CreateParameter(entry.num_parameters(), shape_of(xla::S64, {}), "tasks"));
  for (HloInstruction* kernel : able) {
    TFAOT_TRY(extend_kernel_call(*kernel, shared_words(*kernel), tasks));
  }
  context.has_tasks = true;
  return {};
}

}  // namespace tfaot::toolkit::engine
