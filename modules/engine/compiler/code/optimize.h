// SPDX-License-Identifier: Apache-2.0
// Turns the HLO that a front end makes into the HLO that code is made from, the same for all CPU
// levels: simplified, with calls of our kernels, and with everything that depends only on weights
// computed ahead. Runs the passes of hlo/passes.def for it. Used by one thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/cost/static_cost.h"
#include "compiler/hlo/lowering.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/weight_store.h"
#include "tfaot/records/operation_result.h"

namespace tfaot::toolkit::engine {

struct Pass {
  std::string_view name;
  Status (*run)(PassContext& context);  // over the module, then dead code is removed
  std::string_view why;
  Facts needs, gives, ends;
  std::string_view stage;
  bool is_of_one;  // instruction
};
// They hold of a module as it was lowered.
inline constexpr Facts kLoweredFacts = {Fact::kAsLowered, Fact::kPlainGathers, Fact::kPlainSums,
                                        Fact::kPlainConcatenations, Fact::kOperandShapes};

// In the order in which they run.
std::span<const Pass> passes();
// Null if there is none of this name.
const Pass* find_pass(std::string_view name);

// Called after each pass that ran.
using PassViewer = std::function<Status(const Pass& pass)>;
// Runs all passes, up to and with `last` if it is not empty. REQUIRES: `last` is a pass.
Status run_passes(PassContext& context, std::string_view last = {}, const PassViewer& viewer = {});
// The same from the one after `first` on. REQUIRES: so is `first`.
Status run_passes_after(std::string_view first, std::string_view last, PassContext& context);

struct OptimizedModel {
  xla::XlaComputation computation;  // canonical(); kernel calls have no level yet
  xla::ProgramShape shape;          // parameters: inputs, weights, live rows, tasks, sizes
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<std::size_t> weights;           // indices into the store, in parameter order
  std::vector<XlaProduct> xla_products = {};  // by their shares at a usual level
  std::vector<Remark> remarks = {};           // of passes
  bool has_live_rows = false;                 // a parameter is their number (finished_calls.cc)
  bool has_tasks = false;                     // a parameter is their address (static_cost.cc)
  bool has_sizes = false;  // the last parameter holds the free sizes (sizes/sized_model.h)
};

// Looks at the module after a step. Its parameters have the names of inputs and weights as their
// op_name.
struct StepViewer {
  std::function<Status(const std::string& step, const xla::HloModule& module)> show = {};
  // Also after each pass that changed something, else after those that end a stage.
  bool passes = false;
};

// REQUIRES: `weights` is the store made from the lowering's weight parameters. Traces of the model
// that the computation keeps do not change the code. `form`: of the model in any batch, if known.
Result<OptimizedModel> optimize(const LoweredModel& lowered, WeightStore& weights,
                                const Choices& choices = {}, Traces traces = Traces::kRemoved,
                                const StepViewer& viewer = {}, BatchForm* form = nullptr);

// True if the numbers of its result are new: neither weights nor elements that were moved.
bool computes(const HloInstruction& one);

// The model with the results of its operations as further outputs, in an order in which they can be
// computed. What only moves elements or counts them is left out, and so are results whose elements
// `rows` rows do not share equally, and those inside of loops and branches.
Result<OptimizedModel> with_operation_results(const OptimizedModel& model, std::int64_t rows,
                                              std::vector<OperationResult>& results);

}  // namespace tfaot::toolkit::engine
