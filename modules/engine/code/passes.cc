// SPDX-License-Identifier: Apache-2.0
#include "code/passes.h"

#include <array>

#include "code/share_kernels.h"
#include "graph/random_numbers.h"
#include "hlo/fold.h"
#include "hlo/layouts.h"
#include "hlo/passes.h"
#include "hlo/simplify.h"
#include "kernels/live_rows.h"
#include "kernels/passes.h"

namespace tfaot::toolkit::engine {
namespace {

using enum Fact;

// Passes of a whole module.
template <Status (*kPass)(xla::HloModule&)>
Status run(PassState& state) {
  return kPass(state.module);
}
template <Status (*kPass)(xla::HloModule&, std::int64_t)>
Status run(PassState& state) {
  return kPass(state.module, state.inputs);
}

// Passes of one instruction, over all of a module: operands come before what is computed from them.
template <typename Rewrite>
Status run_on_each(xla::HloModule& module, const Rewrite& rewrite) {
  for (xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    for (xla::HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      TFAOT_TRY(rewrite(*instruction));
    }
  }
  return {};
}
template <Status (*kPass)(xla::HloInstruction&)>
Status each(PassState& state) {
  return run_on_each(state.module, kPass);
}
template <Status (*kPass)(xla::HloInstruction&, const WeightValues&)>
Status each(PassState& state) {
  const WeightValues values(state.module, state.inputs);
  return run_on_each(state.module, [&](xla::HloInstruction& one) { return kPass(one, values); });
}
template <Status (*kPass)(xla::HloInstruction&, const WeightValues&, const Choices&)>
Status each(PassState& state) {
  const WeightValues values(state.module, state.inputs);
  return run_on_each(state.module,
                     [&](xla::HloInstruction& one) { return kPass(one, values, state.choices); });
}

Status settle(PassState& state) { return settle_layouts(state.module, state.inputs); }

Status swap_products(PassState& state) {
  if (state.choices.weights_type != WeightsType::kFloat32) return {};  // those are right sides
  return settle_layouts(state.module, state.inputs, ProductSides::kMaySwap);
}

Status check_random(PassState& state) { return check_random_numbers(state.module); }

Status hoist(PassState& state) { return hoist_invariants(state.module); }

Status fold(PassState& state) {
  if (state.weights == nullptr) return fail(Error("there are no weights to fold"));
  TFAOT_ASSIGN(state.known, fold_weights(state.module, state.inputs, *state.weights));
  return {};
}

Status add_live_rows(PassState& state) {
  TFAOT_ASSIGN(state.has_live_rows, leave_out_padding(state.module, state.inputs));
  return {};
}

Status add_tasks(PassState& state) {
  TFAOT_ASSIGN(state.has_tasks, share_kernels(state.module, state.inputs));
  return {};
}

constexpr Facts kLowered = {kAsLowered, kPlainGathers, kPlainSums, kPlainConcatenations,
                            kOperandShapes};

// {name, run, why, needs, gives, ends, stage}
// clang-format off
constexpr std::array kPasses = {
    Pass{"replace_forests", each<replace_forest>,
         "A forest is a call of a computation, and is known by its name until calls are inlined.",
         {kAsLowered}},
    Pass{"widen_whole_means", each<widen_whole_mean>,
         "XLA's simplifier turns quotients of whole numbers into shifts, where no mean is seen.",
         {kAsLowered}},
    Pass{"widen_halves", run<widen_halves>,
         "All patterns and kernels below are for float32 and float64.",
         {kAsLowered}},
    Pass{"simplify", run<simplify>,
         "Patterns have one form once calls are inlined and duplicates are gone.",
         {kAsLowered}, {kSimplified}, {kAsLowered}},
    Pass{"restore_sliced_transposes", each<restore_sliced_transpose>,
         "The simplifier slices the transposes of attention's heads, which products read through.",
         {kSimplified}},
    Pass{"restore_dilated_windows", each<restore_dilated_window>,
         "TensorFlow writes a dilated convolution as three operations, which move the image twice.",
         {kSimplified}},
    Pass{"widen_scatter_windows", each<widen_scatter_window>,
         "XLA adds rows as vectors, but PyTorch scatters each element by itself.",
         {kSimplified}},
    Pass{"gather_chosen_rows", run<gather_chosen_rows>,
         "A product with zeros and ones that chooses rows is a gather, which multiplies nothing.",
         {kSimplified, kPlainGathers}},
    Pass{"settle_layouts", settle,
         "Repeated rows lie side by side only where no transpose is between them.",
         {kSimplified}, {kLayoutsSettled}},
    Pass{"multiply_before_repeating", each<multiply_before_repeating>,
         "A row that is repeated for each pair of nodes is multiplied once.",
         {kLayoutsSettled, kPlainGathers}},
    Pass{"replace_resizes", run<replace_resizes>,
         "A kernel reads the few neighbours of an element, which a product would read all.",
         {kSimplified, kPlainGathers}, {}, {kLayoutsSettled}},
    Pass{"replace_sorts", run<replace_sorts>,
         "A kernel sorts no further than what is used.",
         {kSimplified}, {}, {kLayoutsSettled}},
    Pass{"settle_layouts_of_calls", settle,
         "Calls that keep the order of dimensions let transposes through.",
         {kSimplified}, {kLayoutsSettled}},
    Pass{"swap_products", swap_products,
         "A product whose result is transposed swaps its sides, as its weight is packed anyway.",
         {kLayoutsSettled}, {}, {}, "simplified"},
    Pass{"check_random_numbers", check_random,
         "Compiled code would draw other numbers than TensorFlow; unused ones are gone by now.",
         {kSimplified}},
    Pass{"hoist_step_products", run<hoist_step_products>,
         "One large product of a whole sequence is faster than one in each step.",
         {kSimplified}},
    Pass{"replace_recurrent_cells", each<replace_recurrent_cell>,
         "Cells are patterns of products and gates, which later passes would take apart.",
         {kLayoutsSettled}, {kCellCalls}},
    Pass{"replace_recurrent_layers", each<replace_recurrent_layer>,
         "One call with all steps keeps the weights of a cell in the caches.",
         {kCellCalls}},
    Pass{"replace_gathers", each<replace_gather>,
         "Which elements lie together, and are copied at once, depends on layouts.",
         {kLayoutsSettled, kPlainGathers}, {kGatherCalls}, {kPlainGathers}},
    Pass{"move_scales_into_weights", each<move_scale_into_weight>,
         "A scale of columns costs nothing once it is in the weight of the next product.",
         {kLayoutsSettled}},
    Pass{"replace_normalisations", each<replace_normalisation>,
         "Their sums must not become calls by themselves.",
         {kPlainSums}},
    Pass{"settle_means", run<settle_means>,
         "Means that are no normalisation's are as exact as those of kernels.",
         {kSimplified, kPlainSums}},
    Pass{"replace_dots", each<replace_dot>,
         "Products, convolutions and pools are most of the time of most nets.",
         {kLayoutsSettled}},
    Pass{"replace_convolutions", each<replace_convolution>,
         "They take in what products do: biases, scales, sums and functions.",
         {kLayoutsSettled}},
    Pass{"replace_pools", each<replace_pool>,
         "XLA reduces each window by a loop of its own.",
         {kLayoutsSettled}},
    Pass{"replace_reductions", each<replace_reduction>,
         "Over dimensions between the batch and the channels they are pools of one window.",
         {kLayoutsSettled}, {kProductCalls}},
    Pass{"replace_softmax", each<replace_softmax>,
         "The larger function first: a softmax holds sums of rows.",
         {kProductCalls, kPlainSums}},
    Pass{"replace_row_sums", each<replace_row_sum>,
         "XLA's loop over a row adds one number at a time.",
         {kProductCalls}, {}, {kPlainSums}},
    Pass{"replace_gelus", each<replace_gelu>,
         "What a product can do with its result is left to the product.",
         {kProductCalls}, {kRowCalls}},
    Pass{"replace_attention", each<replace_attention>,
         "Two products and the softmax between them keep the scores in the caches as one call.",
         {kProductCalls, kRowCalls}},
    Pass{"replace_dense_chains", run<replace_dense_chains>,
         "Small layers take less time than the calls and tensors between them.",
         {kProductCalls, kRowCalls}, {kChainCalls}},
    Pass{"absorb_functions", each<absorb_function>,
         "A function of results that are still in the caches; chains have functions of their own.",
         {kChainCalls}},
    Pass{"replace_added_rows", run<replace_added_rows>,
         "What multiply_before_repeating left is added in one pass over memory.",
         {kProductCalls, kPlainConcatenations}},
    Pass{"replace_concatenations", each<replace_concatenation>,
         "XLA's loop asks for each element which operand it comes from.",
         {kProductCalls, kGatherCalls}, {}, {kPlainConcatenations}},
    Pass{"write_out_short_sums", each<write_out_short_sum>,
         "XLA's loop of two or three turns for each sum is not vectorised.",
         {kRowCalls}, {}, {}, "kernel_calls"},
    Pass{"hoist_invariants", hoist,
         "Packed weights of a loop's calls are packed once, and can then be folded.",
         {kProductCalls}, {}, {}, "hoisted"},
    Pass{"fold_weights", fold,
         "What depends on weights alone is computed while compiling.",
         {kProductCalls}, {kFolded}, {}, "folded"},
    Pass{"leave_out_padding", add_live_rows,
         "Calls skip rows that only fill the batch.",
         {kFolded, kOperandShapes}, {kLiveRows}},
    Pass{"share_kernels", add_tasks,
         "The address of the tasks is a call's last operand, after the number of live rows.",
         {kLiveRows, kOperandShapes}, {kAllOperands}},
    Pass{"pass_before_reshapes", each<pass_before_reshapes>,
         "XLA would copy a tensor to reshape it, which a kernel reads as it lies.",
         {kAllOperands}, {}, {kOperandShapes}},
    Pass{"guard_from_simplifier", run<guard_from_simplifier>,
         "XLA runs its simplifier again, with rules that are wrong for numbers that overflow.",
         {kSimplified}},
    Pass{"align_temporaries", run<align_temporaries>,
         "It counts the calls, so no call may come or go after it.",
         {kAllOperands}},
};
// clang-format on

// The first pass whose needs are not met, or the number of passes.
consteval std::size_t first_out_of_order() {
  Facts holds = kLowered;
  for (std::size_t i = 0; i < kPasses.size(); ++i) {
    if (!holds.contain(kPasses[i].needs)) return i;
    holds = holds.without(kPasses[i].ends).with(kPasses[i].gives);
  }
  return kPasses.size();
}
static_assert(first_out_of_order() == kPasses.size(), "a pass needs what does not hold there");

}  // namespace

std::span<const Pass> passes() { return kPasses; }

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

Status run_passes(PassState& state, std::string_view last, const PassViewer& viewer) {
  for (const Pass& pass : kPasses) {
    TFAOT_TRY(pass.run(state));
    TFAOT_TRY(remove_dead_code(state.module));
    if (viewer) TFAOT_TRY(viewer(pass));
    if (pass.name == last) break;
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
