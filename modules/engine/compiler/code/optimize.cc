// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/optimize.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/simplify.h"
#include "tfaot/base/printable.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {

namespace {

using enum Fact;

Status run_over(PassContext& context, Status (*function)(xla::HloModule&, PassContext&)) {
  return function(context.module, context);
}

// Operands come before what is computed from them.
Status run_over(PassContext& context, Status (*function)(HloInstruction&, PassContext&)) {
  for (xla::HloComputation* computation : context.module.MakeComputationPostOrder()) {
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      const std::int64_t before = computation->instruction_count();
      TFAOT_TRY(function(*instruction, context));
      if (computation->instruction_count() > before) {
        context.rewritten.emplace_back(instruction->name());
      }
    }
  }
  return {};
}

template <typename Over, Status (*kFunction)(Over&, PassContext&)>
Status run(PassContext& context) {
  context.begin_pass();
  TFAOT_TRY(run_over(context, kFunction));
  return remove_dead_code(context.module);
}

template <typename Over>
constexpr bool is_of_one = std::is_same_v<Over, HloInstruction>;

#define NEEDS(...) \
  { __VA_ARGS__ }
#define GIVES NEEDS
#define ENDS NEEDS
#define TFAOT_PASS(file, over, function, needs, gives, ends, stage, why) \
  Pass{#function, run<xla::over, function>, why, needs, gives, ends, stage, is_of_one<xla::over>},
constexpr std::array kPasses = {
#include "compiler/hlo/passes.def"
};
#undef TFAOT_PASS
#undef ENDS
#undef GIVES
#undef NEEDS

// The first pass whose needs are not met, or the number of passes.
consteval std::size_t first_out_of_order() {
  Facts holds = kLoweredFacts;
  for (std::size_t i = 0; i < kPasses.size(); ++i) {
    if (!holds.contain(kPasses[i].needs)) return i;
    holds = holds.without(kPasses[i].ends).with(kPasses[i].gives);
  }
  return kPasses.size();
}
static_assert(first_out_of_order() == kPasses.size(), "a pass needs what does not hold there");

// By parameter: whether the entry computation still needs it. Inputs are always kept.
std::vector<bool> needed_parameters(const xla::HloModule& module, std::size_t inputs) {
  std::vector<bool> needed;
  const auto& entry = *module.entry_computation();
  for (const auto* parameter : entry.parameter_instructions()) {
    needed.push_back(needed.size() < inputs || parameter->user_count() > 0 || parameter->IsRoot());
  }
  return needed;
}

// Removes the parameters that are not needed. XLA would remove unused inputs, too, so they get a
// user meanwhile, and it makes the others anew, so they get their metadata back.
Status remove_parameters(xla::HloModule& module, const std::vector<bool>& needed,
                         std::size_t inputs) {
  xla::HloComputation& entry = *module.entry_computation();
  std::vector<xla::OpMetadata> kept;
  for (const auto* parameter : entry.parameter_instructions()) {
    if (engine::entry(needed, parameter->parameter_number())) kept.push_back(parameter->metadata());
  }
  HloInstruction* const user = entry.AddInstruction(HloInstruction::CreateTuple(
      absl::MakeConstSpan(entry.parameter_instructions()).first(inputs)));
  TFAOT_TRY(checked(entry.RemoveUnusedParametersFromAnyComputation()));
  TFAOT_TRY(checked(entry.RemoveInstruction(user)));
  for (auto* parameter : entry.parameter_instructions()) {
    parameter->set_metadata(engine::entry(kept, parameter->parameter_number()));
  }
  module.mutable_config().SetDefaultComputationLayout(entry.ComputeProgramShape());
  return {};
}

// Gives the parameters after the inputs, `weights` in their order, the names that the model has.
void name_parameters(xla::HloModule& module, const LoweredModel& lowered, const WeightStore& store,
                     const std::vector<std::size_t>& weights) {
  for (auto* parameter : module.entry_computation()->parameter_instructions()) {
    const auto number = static_cast<std::size_t>(parameter->parameter_number());
    const std::size_t inputs = lowered.inputs.size();
    parameter->set_metadata_op_name(printable_line(  // HLO files hold UTF-8 alone
        number < inputs                          ? lowered.inputs[number].name
        : number - inputs < weights.size()       ? store.name(weights[number - inputs])
        : parameter->name().starts_with("tasks") ? "tasks"
                                                 : "live rows"));
  }
}

// Whole numbers that are counted, such as the number of each row of a batch: those of a row alone
// are not those of the same row in a batch.
class CountedNumbers {
 public:
  bool hold(const HloInstruction& one) {
    const auto known = known_.find(&one);
    if (known != known_.end()) return known->second;
    const auto holds = [this](const auto* from) { return hold(*from); };
    const bool is = one.shape().IsArray() && xla::primitive_util::IsIntegralType(type_of(one)) &&
                    (one.opcode() == kIota || std::ranges::any_of(one.operands(), holds));
    return known_[&one] = is;
  }

 private:
  std::map<const HloInstruction*, bool> known_;
};

std::vector<std::size_t> all_raw(const LoweredModel& lowered) {
  const auto parameters = static_cast<std::size_t>(lowered.shape.parameters_size());
  std::vector<std::size_t> raw(parameters - lowered.inputs.size());
  std::iota(raw.begin(), raw.end(), std::size_t{0});
  return raw;
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

bool computes(const HloInstruction& one) {
  static const std::set<HloOpcode> kMoves = {
      kParameter, kConstant,    kTuple, kBitcast, kIota,    kBroadcast,    kReshape, kTranspose,
      kCopy,      kConcatenate, kSlice, kPad,     kReverse, kDynamicSlice, kGather};
  if (one.shape().IsTuple() || kMoves.contains(one.opcode())) return false;
  return one.opcode() != kGetTupleElement || one.operand(0)->opcode() != kParameter;
}

const Pass* find_pass(std::string_view name) {
  const auto* const found = std::ranges::find(kPasses, name, &Pass::name);
  return found == kPasses.end() ? nullptr : found;
}

Status run_passes(PassContext& context, std::string_view last, const PassViewer& viewer) {
  for (const Pass& pass : kPasses) {
    TFAOT_TRY(pass.run(context));
    if (viewer) TFAOT_TRY(viewer(pass));
    if (pass.name == last) break;
  }
  return {};
}

Status run_passes_after(std::string_view first, std::string_view last, PassContext& context) {
  for (const Pass* pass = find_pass(first) + 1; pass <= find_pass(last); ++pass) {
    TFAOT_TRY(pass->run(context));
  }
  return {};
}

Result<OptimizedModel> optimize(const LoweredModel& lowered, WeightStore& weights,
                                const Choices& choices, Traces traces, const StepViewer& viewer,
                                BatchForm* form) {
  const auto inputs = static_cast<std::int64_t>(lowered.inputs.size());
  TFAOT_ASSIGN(const auto module, make_module(lowered.computation.proto()));
  PassContext state{*module, inputs, choices, &weights, form, all_raw(lowered)};
  PassViewer show;
  std::string last;  // the text of what the pass before left
  if (viewer.show) {
    name_parameters(*module, lowered, weights, state.known);
    TFAOT_TRY(viewer.show("lowered", *module));
    last = module->ToString();
    show = [&](const Pass& pass) -> Status {
      if (pass.stage.empty() && !viewer.passes) return {};
      name_parameters(*module, lowered, weights, state.known);
      const std::string before = std::exchange(last, module->ToString());
      if (pass.stage.empty() && last == before) return {};
      return viewer.show(std::string(pass.stage.empty() ? pass.name : pass.stage), *module);
    };
  }
  TFAOT_TRY(run_passes(state, "", show));

  OptimizedModel optimized;
  if (viewer.show) name_parameters(*module, lowered, weights, state.known);
  optimized.remarks = std::move(state.remarks);
  optimized.has_live_rows = state.has_live_rows;
  optimized.has_tasks = state.has_tasks;
  optimized.xla_products = products_of_xla(*module, {inputs, 0, kUsualKernels});
  optimized.inputs = lowered.inputs;
  optimized.outputs = lowered.outputs;
  const auto needed = needed_parameters(*module, lowered.inputs.size());
  for (std::size_t i = 0; i < state.known.size(); ++i) {
    if (needed[lowered.inputs.size() + i]) optimized.weights.push_back(state.known[i]);
  }
  TFAOT_TRY(remove_parameters(*module, needed, lowered.inputs.size()));
  TFAOT_ASSIGN(optimized.computation, canonical(xla::XlaComputation(module->ToProto()), traces));
  optimized.shape = xla::ProgramShape(optimized.computation.proto().host_program_shape());
  return optimized;
}

Result<OptimizedModel> with_operation_results(const OptimizedModel& model, std::int64_t rows,
                                              std::vector<OperationResult>& results) {
  TFAOT_ASSIGN(const auto module, make_module(model.computation.proto()));
  xla::HloComputation& entry = *module->entry_computation();
  HloInstruction* const root = entry.root_instruction();
  std::vector<HloInstruction*> outputs(root->operands().begin(), root->operands().end());
  OptimizedModel made;
  made.inputs = model.inputs;
  made.outputs = model.outputs;
  made.weights = model.weights;
  made.has_live_rows = model.has_live_rows;
  made.has_tasks = model.has_tasks;
  CountedNumbers counted;
  for (HloInstruction* const one : entry.MakeInstructionPostOrder()) {
    const std::int64_t elements = elements_of(*one);
    const auto dtype = dtype_of(type_of(*one));
    if (!computes(*one) || counted.hold(*one)) continue;
    if (!dtype || elements == 0 || elements % rows != 0) continue;
    const HloInstruction& by = one->opcode() == kGetTupleElement ? *one->operand(0) : *one;
    outputs.push_back(one);
    made.outputs.push_back({"result_" + std::to_string(results.size()), *dtype, {elements / rows}});
    results.push_back({by.opcode() == kCustomCall ? by.custom_call_target()
                                                  : std::string(xla::HloOpcodeString(by.opcode())),
                       by.metadata().op_name(), dimensions_of(*one)});
  }
  HloInstruction* const all = entry.AddInstruction(HloInstruction::CreateTuple(outputs));
  entry.set_root_instruction(all, /*accept_different_shape=*/true);
  TFAOT_TRY(checked(entry.RemoveInstruction(root)));
  module->mutable_config().SetDefaultComputationLayout(entry.ComputeProgramShape());
  made.computation = xla::XlaComputation(module->ToProto());
  made.shape = xla::ProgramShape(made.computation.proto().host_program_shape());
  return made;
}

}  // namespace tfaot::toolkit::engine
