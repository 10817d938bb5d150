// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/optimize.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/code/passes.h"
#include "compiler/hlo/canonical.h"
#include "compiler/hlo/simplify.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr const char* kUsualKernels = "x86_64_v3";  // shares hardly depend on the level

// By parameter: whether the entry computation still needs it. Inputs are always kept.
std::vector<bool> needed_parameters(const xla::HloModule& module, std::size_t inputs) {
  std::vector<bool> needed;
  const auto& entry = *module.entry_computation();
  for (const auto* parameter : entry.parameter_instructions()) {
    needed.push_back(needed.size() < inputs || parameter->user_count() > 0 || parameter->IsRoot());
  }
  return needed;
}

xla::ProgramShapeProto kept_shape(const xla::ProgramShapeProto& shape,
                                  const std::vector<bool>& needed) {
  xla::ProgramShapeProto kept;
  *kept.mutable_result() = shape.result();
  for (int i = 0; i < shape.parameters_size(); ++i) {
    if (!needed[static_cast<std::size_t>(i)]) continue;
    *kept.add_parameters() = shape.parameters(i);
    if (i < shape.parameter_names_size()) kept.add_parameter_names(shape.parameter_names(i));
  }
  return kept;
}

// XLA cannot remove parameters of an entry computation, but its serialised form can be edited.
void remove_parameters(xla::HloModuleProto& module, const std::vector<bool>& needed) {
  *module.mutable_host_program_shape() = kept_shape(module.host_program_shape(), needed);
  for (auto& computation : *module.mutable_computations()) {
    if (computation.id() != module.entry_computation_id()) continue;
    *computation.mutable_program_shape() = kept_shape(computation.program_shape(), needed);
    auto& instructions = *computation.mutable_instructions();
    const auto is_parameter = [](const auto& one) { return one.opcode() == "parameter"; };
    instructions.erase(
        std::remove_if(instructions.begin(), instructions.end(),
                       [&](const auto& one) {
                         return is_parameter(one) &&
                                !needed[static_cast<std::size_t>(one.parameter_number())];
                       }),
        instructions.end());
    for (auto& one : instructions) {
      if (!is_parameter(one)) continue;
      one.set_parameter_number(
          std::count(needed.begin(), needed.begin() + one.parameter_number(), true));
    }
  }
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

std::vector<std::size_t> all_raw(const LoweredModel& lowered) {
  const auto parameters = static_cast<std::size_t>(lowered.shape.parameters_size());
  std::vector<std::size_t> raw(parameters - lowered.inputs.size());
  std::iota(raw.begin(), raw.end(), std::size_t{0});
  return raw;
}

}  // namespace

Result<OptimizedModel> optimize(const LoweredModel& lowered, WeightStore& weights,
                                const Choices& choices, Traces traces, const StepViewer& viewer) {
  const auto inputs = static_cast<std::int64_t>(lowered.inputs.size());
  TFAOT_ASSIGN(const auto module, make_module(lowered.computation.proto()));
  PassContext state{*module, inputs, choices, &weights, all_raw(lowered)};
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
  xla::HloModuleProto proto = module->ToProto();
  remove_parameters(proto, needed);
  TFAOT_ASSIGN(optimized.computation, canonical(xla::XlaComputation(std::move(proto)), traces));
  optimized.shape = xla::ProgramShape(optimized.computation.proto().host_program_shape());
  return optimized;
}

}  // namespace tfaot::toolkit::engine
