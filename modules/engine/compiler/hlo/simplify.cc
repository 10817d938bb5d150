// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/simplify.h"

#include <algorithm>
#include <cmath>

#include "compiler/hlo/build.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/hlo/pass/hlo_pass_fix.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/hlo/pass/hlo_pass_pipeline.h"
#include "xla/primitive_util.h"
#include "xla/service/algebraic_simplifier.h"
#include "xla/service/batchnorm_expander.h"
#include "xla/service/call_inliner.h"
#include "xla/service/conditional_simplifier.h"
#include "xla/service/dynamic_dimension_simplifier.h"
#include "xla/service/dynamic_padder.h"
#include "xla/service/flatten_call_graph.h"
#include "xla/service/hlo_cse.h"
#include "xla/service/hlo_dce.h"
#include "xla/service/tuple_simplifier.h"
#include "xla/service/while_loop_invariant_code_motion.h"
#include "xla/service/while_loop_simplifier.h"

namespace tfaot::toolkit::engine {

namespace {

bool has_whole_numbers(const HloInstruction& one) {
  return one.shape().IsArray() && xla::primitive_util::IsIntegralType(type_of(one));
}

bool has_reals(const HloInstruction& one) {
  const auto type = type_of(one);
  return type == xla::F16 || type == xla::BF16 || type == xla::F32 || type == xla::F64;
}

bool is_normal(double number, xla::PrimitiveType type) {
  const double size = std::abs(number);
  return size >= std::ldexp(1.0, xla::primitive_util::UnderflowExponent(type) - 1) &&
         size < std::ldexp(1.0, xla::primitive_util::OverflowExponent(type));
}

// The same value in a form that the simplifier does not know.
HloInstruction* guarded(HloInstruction* value) {
  if (!has_reals(*value)) return binary(kXor, value, fill_like(value, 0));
  const auto type = type_of(*value);
  return add_next_to(value, HloInstruction::CreateReducePrecision(
                                value->shape(), value, xla::primitive_util::ExponentWidth(type),
                                xla::primitive_util::SignificandWidth(type) - 1));
}

bool is_power_of_two(double number) {
  int exponent = 0;
  return std::abs(std::frexp(number, &exponent)) == 0.5;
}

// The constant, with its sign, of a sum or difference of a value and a constant.
std::optional<double> offset_of(const HloInstruction& sum) {
  if (!xla::HloPredicateIsOp<kAdd, kSubtract>(&sum)) return std::nullopt;
  if (const auto first = number_of(*sum.operand(0))) return first;
  const auto second = number_of(*sum.operand(1));
  if (second && sum.opcode() == kSubtract) return -*second;
  return second;
}

// (x + 2^23) - 2^23 rounds x.
bool rounds(const HloInstruction& sum, std::int64_t inner) {
  const auto first = offset_of(*sum.operand(inner));
  const auto second = offset_of(sum);
  if (!first || !second || number_of(*sum.operand(inner))) return false;
  const bool is_negated = sum.opcode() == kSubtract && inner == 1;
  return *first * *second * (is_negated ? -1 : 1) < 0;
}

// x / 2 + y / 2: the sum of x and y may overflow.
bool is_mean(const HloInstruction& sum) {
  const HloInstruction& a = *sum.operand(0);
  const HloInstruction& b = *sum.operand(1);
  if (sum.opcode() != kAdd || a.opcode() != kMultiply || b.opcode() != kMultiply) {
    return false;
  }
  return std::ranges::any_of(a.operands(), [&](const auto* factor) {
    const auto number = number_of(*factor);
    return number && std::abs(*number) < 1 && b.IsUserOf(factor);
  });
}

// (x * a) * b: the product of the constants may be none of the type.
bool overflows(const HloInstruction& product, std::int64_t inner) {
  const HloInstruction& first = *product.operand(inner);
  const auto b = number_of(*product.operand(1 - inner));
  if (!b || first.opcode() != kMultiply) return false;
  return std::ranges::any_of(first.operands(), [&](const auto* factor) {
    const auto a = number_of(*factor);
    return a && *a != 0 && *b != 0 && !is_normal(*a * *b, type_of(product));
  });
}

bool is_quotient(const HloInstruction& value) {
  return value.opcode() == kDivide && !number_of(*value.operand(1));
}

// True if a rule for real numbers would merge the operation with that of an operand.
bool would_merge(const HloInstruction& one, std::int64_t i) {
  const HloInstruction& operand = *one.operand(i);
  const bool is_power = xla::HloPredicateIsOp<kExp, kPower>(&operand);
  switch (one.opcode()) {
    case kAdd:
      return rounds(one, i) || (i == 0 && is_mean(one));
    case kSubtract:
      return rounds(one, i);
    case kDivide:
      if (i == 1) return is_power || is_quotient(operand);
      return is_quotient(operand) && is_quotient(one);
    case kLog:
      return is_power;
    case kMultiply:
      if (operand.opcode() == kConvert) {
        return type_of(*operand.operand(0)) == xla::PRED && !number_of(*one.operand(1 - i));
      }
      return overflows(one, i) ||
             (i == 0 && operand.opcode() == kExp && one.operand(1)->opcode() == kExp);
    case kPower:
      return i == 0 && operand.opcode() == kExp;
    case kRsqrt:
      return operand.opcode() == kPower;
    case kSqrt:
      return operand.opcode() == kMultiply && operand.operand(0) == operand.operand(1);
    default:
      return false;
  }
}

// True if the last digit of the value can change a whole number or a truth value.
bool is_rounded(const HloInstruction& value, int steps) {
  if (steps == 0) return false;
  return std::ranges::any_of(value.users(), [&](const auto* user) {
    if (user->opcode() == kConvert) {
      return !has_reals(*user) || is_rounded(*user, steps - 1);
    }
    if (user->opcode() == kCompare) {
      return std::ranges::none_of(user->operands(),
                                  [](const auto* operand) { return number_of(*operand) == 0; });
    }
    if (xla::HloPredicateIsOp<kCeil, kFloor, kRoundNearestAfz, kRoundNearestEven>(user))
      return true;
    const bool passes_on =
        xla::HloPredicateIsOp<kAbs, kAdd, kBroadcast, kClamp, kMaximum, kMinimum, kMultiply,
                              kNegate, kReshape, kSelect, kSubtract, kTranspose>(user);
    return passes_on && is_rounded(*user, steps - 1);
  });
}

// True if a product with the rounded inverse of the divisor is not exact enough.
bool needs_quotient(const HloInstruction& one) {
  constexpr int kMostSteps = 6;
  const auto divisor = number_of(*one.operand(1));
  if (!divisor || !has_reals(one) || !is_normal(*divisor, xla::F64)) return false;
  if (!is_normal(1 / *divisor, type_of(one))) return true;
  return !is_power_of_two(*divisor) && is_rounded(one, kMostSteps);
}

// True if a slice of a slice becomes one slice, which starts at the sum of both starts.
bool is_stacked(const HloInstruction& one) {
  if (!xla::HloPredicateIsOp<kDynamicSlice, kDynamicUpdateSlice>(&one)) return false;
  const HloInstruction* under = one.operand(one.opcode() == kDynamicSlice ? 0 : 1);
  while (xla::HloPredicateIsOp<kBroadcast, kCopy, kReshape, kTranspose>(under)) {
    under = under->operand(0);
  }
  return under->opcode() == one.opcode();
}

// The start of a slice, clamped as XLA would clamp it; null: it is already inside.
HloInstruction* start_within(HloInstruction& slice, std::int64_t i) {
  const bool is_update = slice.opcode() == kDynamicUpdateSlice;
  const auto d = static_cast<int>(i - (is_update ? 2 : 1));
  HloInstruction* const start = slice.mutable_operand(i);
  if (d < 0 || start->shape().rank() != 0 || start->opcode() == kClamp) return nullptr;
  const xla::Shape& part = is_update ? slice.operand(1)->shape() : slice.shape();
  const std::int64_t most = slice.operand(0)->shape().dimensions(d) - part.dimensions(d);
  const auto number = number_of(*start);
  if (number && *number >= 0 && *number <= static_cast<double>(most)) return nullptr;
  const auto type = type_of(*start);
  HloInstruction* const zero = scalar_next_to(start, type, 0);
  return clamp(zero, start,
               xla::primitive_util::FitsInIntegralType(most, type)
                   ? scalar_next_to(start, type, static_cast<double>(most))
                   : start);
}

// The replacement of an operand; null: there is none.
HloInstruction* guarded_operand(HloInstruction& one, std::int64_t i) {
  HloInstruction* const operand = one.mutable_operand(i);
  if (is_stacked(one)) return start_within(one, i);
  if (one.opcode() == kScatter) {
    // XLA compares with the last place as a number of this type.
    const bool is_narrow =
        has_whole_numbers(*operand) && xla::primitive_util::BitWidth(type_of(*operand)) < 32;
    const auto& scatter = *xla::Cast<xla::HloScatterInstruction>(&one);
    return is_narrow && operand == scatter.scatter_indices() ? convert(operand, xla::S32) : nullptr;
  }
  if (has_whole_numbers(one)) {
    const bool is_power = one.opcode() == kDivide && i == 1 && operand->opcode() == kPower;
    return is_power ? guarded(operand) : nullptr;
  }
  if (!one.shape().IsArray() || !has_reals(one)) return nullptr;
  if (would_merge(one, i)) return guarded(operand);
  if (one.opcode() != kDivide || i == 0 || !needs_quotient(one)) return nullptr;
  // The divisor, for every dividend.
  return clamp(operand, one.mutable_operand(0), operand);
}

// The replacement of an operation on whole numbers; null: there is none.
HloInstruction* guarded_operation(HloInstruction& one) {
  if (!has_whole_numbers(one)) return nullptr;
  if (one.opcode() == kAbs) {
    HloInstruction* const value = one.mutable_operand(0);
    if (xla::primitive_util::IsUnsignedIntegralType(type_of(one))) return value;
    return binary(kMaximum, value, negate(value));
  }
  if (one.opcode() != kIota) return nullptr;
  const auto d = xla::Cast<xla::HloIotaInstruction>(&one)->iota_dimension();
  if (xla::primitive_util::FitsInIntegralType(size_of(one, d) - 1, type_of(one))) return nullptr;
  return convert(iota_next_to(&one, shape_of(xla::S64, one.shape().dimensions()), d), type_of(one));
}

absl::StatusOr<bool> guard(HloInstruction& one) {
  if (HloInstruction* const made = guarded_operation(one)) {
    return one.parent()->ReplaceInstruction(&one, made, /*preserve_sharding=*/false);
  }
  bool changed = false;
  for (std::int64_t i = 0; i < one.operand_count(); ++i) {
    HloInstruction* const made = guarded_operand(one, i);
    if (made == nullptr) continue;
    const auto done = one.ReplaceOperandWithDifferentShape(i, made);
    if (!done.ok()) return done;
    changed = true;
  }
  return changed;
}

// A function as a pass of XLA's.
class FunctionPass : public xla::HloModulePass {
 public:
  using Function = absl::StatusOr<bool> (*)(xla::HloModule&);
  FunctionPass(absl::string_view name, Function function) : name_(name), function_(function) {}

  absl::string_view name() const override { return name_; }
  using HloPassInterface::Run;
  absl::StatusOr<bool> Run(xla::HloModule* module,
                           const absl::flat_hash_set<absl::string_view>& /*threads*/) override {
    return function_(*module);
  }

 private:
  absl::string_view name_;
  Function function_;
};

class PlainCallInliner : public xla::CallInliner {
  bool IsInlineableCallOp(HloInstruction* one) const override {
    return !one->is_composite() && CallInliner::IsInlineableCallOp(one);
  }
};

// Guards operations against rules of XLA's simplifier that hold only for real numbers. It takes
// every square for non-negative, even one of integers that overflows, and merges operations
// although the merged one overflows, yields NaN or rounds where the separate ones do not. A guarded
// operand has the same value in a form that no rule matches. The guards stay for XLA's own run of
// its simplifier, and cost nothing in the code.
absl::StatusOr<bool> guard_all(xla::HloModule& module) {
  bool changed = false;
  for (xla::HloComputation* computation : module.MakeNonfusionComputations()) {
    for (HloInstruction* one : computation->MakeInstructionPostOrder()) {
      auto done = guard(*one);
      if (!done.ok()) return done;
      changed = changed || *done;
    }
  }
  return changed;
}

bool has_dynamic_sizes(const xla::HloModuleProto& module) {
  return std::ranges::any_of(module.computations(), [](const auto& computation) {
    return std::ranges::any_of(computation.instructions(), [](const auto& one) {
      return !xla::Shape(one.shape()).is_static();
    });
  });
}

// The number of the branch; nothing if it depends on the inputs.
std::optional<int> branch_taken(const HloInstruction& instruction) {
  if (instruction.opcode() != kConditional || instruction.operand(0)->opcode() != kConstant ||
      instruction.HasControlDependencies()) {
    return std::nullopt;
  }
  const xla::Literal& choice = instruction.operand(0)->literal();
  if (choice.shape().element_type() == xla::PRED) return choice.Get<bool>({}) ? 0 : 1;
  const int wanted = choice.Get<std::int32_t>({});
  const int count = instruction.branch_count();
  return wanted < 0 || wanted >= count ? count - 1 : wanted;
}

// Conditions whose choice is known become the branch that is taken. XLA's own simplifier keeps them
// if one of the branches draws random numbers, as that of a dropout does.
absl::StatusOr<bool> take_known_branches(xla::HloModule& module) {
  auto known = instructions_of(module);
  std::erase_if(known, [](const auto* one) { return !branch_taken(*one); });
  for (auto* condition : known) {
    const int branch = *branch_taken(*condition);
    auto* const call = condition->parent()->AddInstruction(
        HloInstruction::CreateCall(condition->shape(), {condition->mutable_operand(1 + branch)},
                                   condition->branch_computation(branch)));
    call->set_metadata(condition->metadata());
    const auto replaced = condition->parent()->ReplaceInstruction(condition, call);
    if (!replaced.ok()) return replaced;
    const auto inlined = xla::CallInliner::Inline(call);
    if (!inlined.ok()) return inlined.status();
  }
  return !known.empty();
}

// TensorFlow sets sizes that depend on data, of which some turn out to be those that tensors have.
absl::StatusOr<bool> keep_whole_tensors(xla::HloModule& module) {
  bool changed = false;
  for (HloInstruction* one : instructions_of(module)) {
    const bool is_whole =
        one->opcode() == kSetDimensionSize && (one->user_count() > 0 || one->IsRoot()) &&
        xla::ShapeUtil::Compatible(one->shape(), one->operand(0)->shape()) &&
        number_of(*one->operand(1)) == static_cast<double>(size_of(*one, one->dimension()));
    if (!is_whole) continue;
    const auto replaced = one->ReplaceAllUsesWith(one->mutable_operand(0));
    if (!replaced.ok()) return replaced;
    changed = true;
  }
  return changed;
}

// As in XLA's CPU compiler, except that products keep their form: our passes match them.
xla::AlgebraicSimplifierOptions algebra() {
  xla::AlgebraicSimplifierOptions options;
  options.set_enable_dot_strength_reduction(false);
  options.set_enable_dot_to_multiply_rewrite(false);
  options.set_enable_conv_simplification(false);
  options.set_enable_conv_operand_swap(false);
  options.set_enable_move_dot_param_to_rhs(false);
  options.set_minmax_propagate_nan(true);
  options.set_executing_on_cpu(true);
  return options;
}

// Turns constants of one element into scalars, the form that XLA's passes and ours look for.
Status make_numbers_scalars(xla::HloModule& module) {
  for (HloInstruction* one : instructions_of(module)) {
    if (!xla::Match(one, m::Reshape(m::Constant())) || one->shape().rank() != 0) continue;
    TFAOT_ASSIGN(auto number, or_internal(one->operand(0)->literal().Reshape({})));
    TFAOT_TRY(checked(one->ReplaceAllUsesWith(constant_next_to(one, std::move(number)))));
  }
  return {};
}

Status run(xla::HloPassPipeline& pipeline, xla::HloModule& module) {
  return checked(pipeline.Run(&module, {}).status());
}

}  // namespace

Status make_sizes_static(xla::XlaComputation& computation) {
  if (!has_dynamic_sizes(computation.proto())) return {};
  TFAOT_ASSIGN(const auto module, make_module(computation.proto()));
  TFAOT_TRY(inline_calls(*module));
  xla::HloPassPipeline pipeline("tfaot-static-sizes");
  pipeline.AddPass<xla::DynamicDimensionSimplifier>();
  pipeline.AddPass<xla::DynamicPadder>();
  const auto done = pipeline.Run(module.get(), {});
  if (!done.ok()) {
    return fail(error_of(done.status(), "XLA cannot compute with a size that depends on the data"));
  }
  computation = xla::XlaComputation(module->ToProto());
  return {};
}

Status inline_calls(xla::HloModule& module, Calls calls) {
  xla::HloPassPipeline pipeline("tfaot-inline");
  pipeline.AddPass<xla::FlattenCallGraph>();
  if (calls == Calls::kAll) pipeline.AddPass<xla::CallInliner>();
  if (calls == Calls::kPlain) pipeline.AddPass<PlainCallInliner>();
  return run(pipeline, module);
}

Status simplify(xla::HloModule& module) {
  TFAOT_TRY(inline_calls(module));
  xla::HloPassPipeline once("tfaot-expand");
  once.AddPass<xla::BatchNormExpander>(true, true, true);
  TFAOT_TRY(run(once, module));
  TFAOT_TRY(make_numbers_scalars(module));

  xla::HloPassPipeline again("tfaot-simplify");
  auto& fixed = again.AddPass<xla::HloPassFix<xla::HloPassPipeline>>("tfaot-simplify-loop");
  fixed.AddPass<FunctionPass>("tfaot-simplifier-guards", guard_all);
  fixed.AddPass<xla::AlgebraicSimplifier>(algebra());
  fixed.AddPass<xla::TupleSimplifier>();
  fixed.AddPass<xla::WhileLoopSimplifier>();
  fixed.AddPass<FunctionPass>("tfaot-known-branches", take_known_branches);
  fixed.AddPass<FunctionPass>("tfaot-whole-tensors", keep_whole_tensors);
  fixed.AddPass<xla::ConditionalSimplifier>();
  fixed.AddPass<xla::HloDCE>();
  fixed.AddPass<xla::HloCSE>(false);
  return run(again, module);
}

Status hoist_invariants(xla::HloModule& module, Hoisted hoisted) {
  xla::HloPassPipeline pipeline("tfaot-hoist");
  pipeline.AddPass<xla::WhileLoopInvariantCodeMotion>(hoisted == Hoisted::kAll, true);
  pipeline.AddPass<xla::TupleSimplifier>();
  TFAOT_TRY(run(pipeline, module));
  return remove_dead_code(module);
}

Status remove_dead_code(xla::HloModule& module) {
  xla::HloPassPipeline pipeline("tfaot-clean");
  pipeline.AddPass<xla::HloDCE>();
  pipeline.AddPass<xla::HloCSE>(false);
  return run(pipeline, module);
}

Status simplify(xla::HloModule& module, PassContext& /*context*/) { return simplify(module); }

Status hoist_invariants(xla::HloModule& module, PassContext& /*context*/) {
  return hoist_invariants(module);
}

Status guard_from_simplifier(xla::HloModule& module, PassContext& /*context*/) {
  return checked(guard_all(module).status());
}

}  // namespace tfaot::toolkit::engine
