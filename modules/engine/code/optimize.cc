// SPDX-License-Identifier: Apache-2.0
#include "code/optimize.h"

#include <algorithm>
#include <numeric>

#include "code/share_kernels.h"
#include "graph/random_numbers.h"
#include "hlo/canonical.h"
#include "hlo/dilated_windows.h"
#include "hlo/fold.h"
#include "hlo/layouts.h"
#include "hlo/repeated_rows.h"
#include "hlo/scaled_products.h"
#include "hlo/scatter_windows.h"
#include "hlo/simplify.h"
#include "hlo/sliced_transposes.h"
#include "hlo/step_products.h"
#include "hlo/widened_halves.h"
#include "kernels/added_rows.h"
#include "kernels/aligned_temporaries.h"
#include "kernels/attention_calls.h"
#include "kernels/concatenation_calls.h"
#include "kernels/dense_chain_calls.h"
#include "kernels/forest_calls.h"
#include "kernels/function_calls.h"
#include "kernels/gather_calls.h"
#include "kernels/live_rows.h"
#include "kernels/means.h"
#include "kernels/recurrent_cells.h"
#include "kernels/recurrent_layers.h"
#include "kernels/reshaped_operands.h"
#include "kernels/resize_calls.h"
#include "kernels/rewrite_to_kernel_calls.h"
#include "kernels/row_calls.h"
#include "kernels/short_sums.h"
#include "kernels/top_k_calls.h"
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

// Shows a module to a viewer, if there is one.
class Steps {
 public:
  Steps(const LoweredModel& lowered, const WeightStore& weights, xla::HloModule& module,
        const StepViewer& viewer)
      : lowered_(lowered), weights_(weights), module_(module), viewer_(viewer) {}

  // `known`: the weights of the parameters after the inputs.
  void name_parameters(const std::vector<std::size_t>& known) {
    if (!viewer_) return;
    for (auto* parameter : module_.entry_computation()->parameter_instructions()) {
      const auto number = static_cast<std::size_t>(parameter->parameter_number());
      const std::size_t inputs = lowered_.inputs.size();
      parameter->set_metadata_op_name(printable_line(  // HLO files hold UTF-8 alone
          number < inputs                          ? lowered_.inputs[number].name
          : number - inputs < known.size()         ? weights_.name(known[number - inputs])
          : parameter->name().starts_with("tasks") ? "tasks"
                                                   : "live rows"));
    }
  }
  Status show(const char* step) { return viewer_ ? viewer_(step, module_) : Status(); }
  // Without what a step left unused.
  Status show_clean(const char* step) {
    if (!viewer_) return {};
    const auto clean = module_.Clone("");
    TFAOT_TRY(remove_dead_code(*clean));
    return viewer_(step, *clean);
  }

 private:
  const LoweredModel& lowered_;
  const WeightStore& weights_;
  xla::HloModule& module_;
  const StepViewer& viewer_;
};

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
  Steps steps(lowered, weights, *module, viewer);
  steps.name_parameters(all_raw(lowered));
  TFAOT_TRY(steps.show("lowered"));
  TFAOT_TRY(replace_forests(*module));
  TFAOT_TRY(widen_whole_means(*module));
  TFAOT_TRY(widen_halves(*module));
  TFAOT_TRY(simplify(*module));
  TFAOT_TRY(restore_sliced_transposes(*module));
  TFAOT_TRY(restore_dilated_windows(*module));
  TFAOT_TRY(widen_scatter_windows(*module));
  TFAOT_TRY(gather_chosen_rows(*module));
  TFAOT_TRY(settle_layouts(*module, inputs));
  TFAOT_TRY(multiply_before_repeating(*module, inputs, choices));
  TFAOT_TRY(replace_resizes(*module));
  TFAOT_TRY(replace_sorts(*module, inputs));
  TFAOT_TRY(settle_layouts(*module, inputs));
  if (choices.weights_type == WeightsType::kFloat32) {  // narrow weights are right sides
    TFAOT_TRY(settle_layouts(*module, inputs, ProductSides::kMaySwap));
  }
  TFAOT_TRY(steps.show("simplified"));
  TFAOT_TRY(check_random_numbers(*module));
  TFAOT_TRY(hoist_step_products(*module));
  TFAOT_TRY(replace_recurrent_cells(*module, inputs));
  TFAOT_TRY(replace_recurrent_layers(*module, inputs, choices));
  TFAOT_TRY(replace_gathers(*module, inputs));
  TFAOT_TRY(move_scales_into_weights(*module, inputs, choices));
  TFAOT_TRY(replace_normalisations(*module, inputs));
  TFAOT_TRY(settle_means(*module));
  TFAOT_TRY(rewrite_to_kernel_calls(*module, inputs, choices));
  TFAOT_TRY(replace_row_functions(*module, inputs));
  TFAOT_TRY(replace_attention(*module));
  TFAOT_TRY(replace_dense_chains(*module, inputs));
  TFAOT_TRY(absorb_functions(*module));
  TFAOT_TRY(replace_added_rows(*module));
  TFAOT_TRY(replace_concatenations(*module, inputs));
  TFAOT_TRY(write_out_short_sums(*module));
  TFAOT_TRY(steps.show_clean("kernel_calls"));
  TFAOT_TRY(hoist_invariants(*module));
  TFAOT_TRY(steps.show("hoisted"));
  TFAOT_ASSIGN(const auto known, fold_weights(*module, inputs, weights));
  TFAOT_TRY(remove_dead_code(*module));
  steps.name_parameters(known);
  TFAOT_TRY(steps.show("folded"));

  OptimizedModel optimized;
  TFAOT_ASSIGN(optimized.has_live_rows, leave_out_padding(*module, inputs));
  TFAOT_ASSIGN(optimized.has_tasks, share_kernels(*module, inputs));
  TFAOT_TRY(pass_before_reshapes(*module));
  TFAOT_TRY(guard_from_simplifier(*module));
  TFAOT_TRY(remove_dead_code(*module));
  TFAOT_TRY(align_temporaries(*module));
  steps.name_parameters(known);
  optimized.xla_products = products_of_xla(*module, {inputs, 0, kUsualKernels});
  optimized.inputs = lowered.inputs;
  optimized.outputs = lowered.outputs;
  const auto needed = needed_parameters(*module, lowered.inputs.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (needed[lowered.inputs.size() + i]) optimized.weights.push_back(known[i]);
  }
  xla::HloModuleProto proto = module->ToProto();
  remove_parameters(proto, needed);
  TFAOT_ASSIGN(optimized.computation, canonical(xla::XlaComputation(std::move(proto)), traces));
  optimized.shape = xla::ProgramShape(optimized.computation.proto().host_program_shape());
  return optimized;
}

}  // namespace tfaot::toolkit::engine
