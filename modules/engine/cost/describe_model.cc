// SPDX-License-Identifier: Apache-2.0
#include "cost/describe_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "graph/conversions.h"
#include "graph/diagnosis.h"
#include "graph/lowering.h"
#include "hlo/hlo.h"
#include "xla/service/hlo_cost_analysis.h"

namespace tfaot::toolkit::engine {
namespace {

// A function of the model; `graph` is null if it cannot be loaded.
struct Loaded {
  std::unique_ptr<ModelGraph> graph;
  SignatureFunction function;
};

std::vector<DescribedTensor> tensors_of(const std::vector<GraphTensor>& tensors) {
  std::vector<DescribedTensor> described;
  for (const GraphTensor& tensor : tensors) {
    described.push_back(
        {tensor.name, tensor.tensor, type_name(tensor.type), tensor.rank_known, tensor.shape});
  }
  return described;
}

std::vector<OperationCount> operations_of(const SignatureFunction& function) {
  std::map<std::string, std::int64_t> counts;
  visit_nodes(function, [&](const tensorflow::NodeDef& node, const std::string& /*function*/) {
    if (node.op() != "_Arg" && node.op() != "_Retval") ++counts[node.op()];
  });
  std::vector<OperationCount> operations;
  for (const auto& [operation, count] : counts) operations.push_back({operation, count});
  std::ranges::stable_sort(operations, std::ranges::greater(), &OperationCount::count);
  return operations;
}

void set_problem(DescribedSignature& signature, const Error& error) {
  signature.problem = error.message();
  signature.notes = error.notes();
}

Status read_signature(const EngineJob& job, DescribedSignature& signature, Loaded& loaded) {
  TFAOT_ASSIGN(loaded.graph, ModelGraph::load(job));
  signature.inputs = tensors_of(loaded.graph->inputs());
  signature.outputs = tensors_of(loaded.graph->outputs());
  TFAOT_ASSIGN(loaded.function, make_signature_function(*loaded.graph));
  signature.weights = variables_of(loaded.function);
  signature.operations = operations_of(loaded.function);
  return {};
}

// Of the batch size that the inputs fix, or 1.
Result<std::int64_t> flops_per_row(const Loaded& loaded) {
  std::int64_t rows = 1;
  for (const GraphTensor& input : loaded.graph->inputs()) {
    if (!input.shape.empty() && input.shape[0] > 0) rows = input.shape[0];
  }
  TFAOT_ASSIGN(const Lowering lowering, Lowering::create(*loaded.graph, loaded.function, {}));
  TFAOT_ASSIGN(const LoweredModel lowered, lowering.lower(rows));
  TFAOT_ASSIGN(const auto module, make_module(lowered.computation.proto()));
  xla::HloCostAnalysis analysis(
      [](const xla::Shape& shape) { return xla::ShapeUtil::ByteSizeOf(shape, sizeof(void*)); });
  TFAOT_TRY(checked(module->entry_computation()->Accept(&analysis)));
  const double flops = static_cast<double>(analysis.flop_count()) +
                       static_cast<double>(analysis.transcendental_count());
  return std::llround(flops / static_cast<double>(rows));
}

}  // namespace

Status describe_model(const std::string& source,
                      const std::function<void(const ModelDescription&)>& say) {
  TFAOT_ASSIGN(const ModelFunctions functions, find_functions(source));
  ModelDescription model;
  model.producer = functions.producer;
  std::vector<Loaded> all;
  for (const EngineJob& job : functions.jobs) {
    model.format = job.format;
    DescribedSignature signature;
    signature.key = job.serving_key;
    Loaded loaded;
    const Status read = read_signature(job, signature, loaded);
    if (!read) set_problem(signature, read.error());
    model.signatures.push_back(std::move(signature));
    all.push_back(std::move(loaded));
  }
  say(model);
  for (std::size_t i = 0; i < all.size(); ++i) {
    DescribedSignature& signature = model.signatures[i];
    if (!signature.problem.empty()) continue;
    const Result<std::int64_t> flops = flops_per_row(all[i]);
    if (flops) {
      signature.flops_per_row = *flops;
    } else {
      set_problem(signature, flops.error());
    }
    say(model);
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
