// SPDX-License-Identifier: Apache-2.0
// Turns the HLO that TensorFlow makes into the HLO that code is made from, the same for all CPU
// levels: simplified, with calls of our kernels, and with everything that depends only on weights
// computed ahead. Used by one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/cost/xla_products.h"
#include "compiler/hlo/canonical.h"
#include "compiler/hlo/lowering.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/weight_store.h"

namespace tfaot::toolkit::engine {

struct OptimizedModel {
  xla::XlaComputation computation;  // canonical(); kernel calls have no level yet
  xla::ProgramShape shape;          // parameters: the inputs, the weights, the live rows, tasks
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<std::size_t> weights;           // indices into the store, in parameter order
  std::vector<XlaProduct> xla_products = {};  // by their shares at a usual level
  std::vector<Remark> remarks = {};           // of passes
  bool has_live_rows = false;                 // a parameter is their number (live_rows.cc)
  bool has_tasks = false;  // the last parameter is their address (share_kernels.h)
};

// Looks at the module after a step. Its parameters have the names of inputs and weights as their
// op_name.
struct StepViewer {
  std::function<Status(const std::string& step, const xla::HloModule& module)> show = {};
  // Also after each pass that changed something (passes.h), else after those that end a stage.
  bool passes = false;
};

// REQUIRES: `weights` is the store made from the lowering's weight parameters. Traces of the model
// that the computation keeps do not change the code.
Result<OptimizedModel> optimize(const LoweredModel& lowered, WeightStore& weights,
                                const Choices& choices = {}, Traces traces = Traces::kRemoved,
                                const StepViewer& viewer = {});

}  // namespace tfaot::toolkit::engine
