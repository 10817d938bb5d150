// SPDX-License-Identifier: Apache-2.0
#include "inspect/describe_model.h"

#include <algorithm>
#include <cmath>

#include "compiler/hlo/conversions.h"
#include "front/load_model.h"
#include "front/lowering/signature.h"
#include "xla/service/hlo_cost_analysis.h"

namespace tfaot::toolkit::engine {
namespace {

std::vector<DescribedTensor> tensors_of(const std::vector<ModelTensor>& tensors) {
  std::vector<DescribedTensor> described;
  for (const ModelTensor& tensor : tensors) {
    described.push_back({tensor.name, tensor.tensor, type_name(tensor.type), tensor.rank_known,
                         tensor.shape, tensor.dimensions});
  }
  return described;
}

std::vector<OperationCount> most_frequent_first(const std::map<std::string, std::int64_t>& counts) {
  std::vector<OperationCount> operations;
  for (const auto& [operation, count] : counts) operations.push_back({operation, count});
  std::ranges::stable_sort(operations, std::ranges::greater(), &OperationCount::count);
  return operations;
}

void set_problem(DescribedSignature& signature, const Error& error) {
  signature.problem = error.message();
  signature.notes = error.notes();
}

// `model` stays null if it cannot be loaded.
Status read_signature(const JobModel& job, DescribedSignature& signature,
                      std::unique_ptr<SourceModel>& model) {
  TFAOT_ASSIGN(model, load_model(job));
  signature.inputs = tensors_of(model->inputs());
  signature.outputs = tensors_of(model->outputs());
  TFAOT_TRY(model->prepare());
  const std::vector<std::string> origins = model->output_origins();
  for (std::size_t i = 0; i < std::min(origins.size(), signature.outputs.size()); ++i) {
    signature.outputs[i].origin = origins[i];
  }
  signature.weights = model->variables();
  TFAOT_TRY(check_weight_limits(signature.weights));
  signature.operations = most_frequent_first(model->operation_counts());
  return {};
}

// Accepts unknown opsets if nothing else works, and reports them in `newer_opset`.
Result<std::unique_ptr<Lowering>> lowering_of(const SourceModel& model, LoweringOptions options,
                                              std::string& newer_opset) {
  auto known = model.lowering(options);
  if (known) return known;
  options.any_opset = true;
  auto any = model.lowering(options);
  if (any) newer_opset = known.error().message();
  return any;
}

// Counts for the batch size that the inputs fix, or 1.
Result<std::int64_t> flops_per_row(const SourceModel& model, std::string& newer_opset) {
  std::int64_t rows = 1;
  for (const ModelTensor& input : model.inputs()) {
    if (!input.shape.empty() && input.shape[0] > 0) rows = input.shape[0];
  }
  LoweringOptions options;
  options.fixed_shapes = std::ranges::any_of(model.inputs(), [](const ModelTensor& input) {
    return input.rank_known && input.shape.empty();  // so it has no batch
  });
  if (options.fixed_shapes) rows = 1;
  TFAOT_ASSIGN(const auto lowering, lowering_of(model, options, newer_opset));
  TFAOT_ASSIGN(const LoweredModel lowered, lowering->lower(rows));
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
  std::vector<std::unique_ptr<SourceModel>> all;
  for (const JobModel& job : functions.models) {
    model.format = job.format;
    DescribedSignature signature;
    signature.key = job.serving_key;
    signature.constants = job.constants;
    std::unique_ptr<SourceModel> loaded;
    const Status read = read_signature(job, signature, loaded);
    if (!read) set_problem(signature, read.error());
    model.signatures.push_back(std::move(signature));
    all.push_back(std::move(loaded));
  }
  say(model);
  for (std::size_t i = 0; i < all.size(); ++i) {
    DescribedSignature& signature = model.signatures[i];
    if (!signature.problem.empty()) continue;
    const Result<std::int64_t> flops = flops_per_row(*all[i], signature.newer_opset);
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
