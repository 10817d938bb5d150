// SPDX-License-Identifier: Apache-2.0
#include "text/describe_model.h"

#include <fmt/format.h>

#include <vector>

#include "text/describe.h"
#include "text/text_table.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

void add_tensors(Rows& rows, const std::string& role, const std::vector<DescribedTensor>& tensors) {
  for (const DescribedTensor& tensor : tensors) {
    rows.push_back({"  " + role, shown(tensor.name), tensor.dtype, shape_text(tensor)});
  }
}

std::string operations_text(const DescribedSignature& signature) {
  std::vector<std::string> counts;
  for (const OperationCount& one : signature.operations) {
    counts.push_back(fmt::format("{} {}", one.count, shown(one.operation)));
  }
  return join(counts, ", ");
}

std::string head_of(ModelFormat format, const DescribedSignature& signature) {
  switch (format) {
    case ModelFormat::kSavedModel:
      return fmt::format("\nsignature {}\n", shown(signature.key));
    case ModelFormat::kFrozenGraph:
      return "\nno signature: from placeholders to what nothing reads\n";
    case ModelFormat::kOnnx:
      return "\nthe graph\n";
    case ModelFormat::kStableHlo:
      break;
  }
  return "\nthe function 'main'\n";
}

std::string signature_text(ModelFormat format, const DescribedSignature& signature) {
  Rows tensors;
  add_tensors(tensors, "input", signature.inputs);
  add_tensors(tensors, "output", signature.outputs);
  for (const ModelConstant& one : signature.constants) {
    tensors.push_back({"  constant", shown(one.name), "", value_text(one)});
  }
  Rows sums;
  if (!signature.operations.empty()) {
    sums.push_back({"  parameters", report::grouped_digits(parameters_of(signature))});
    sums.push_back({"  operations", operations_text(signature)});
  }
  if (signature.flops_per_row >= 0) {
    sums.push_back({"  flops", report::grouped_digits(signature.flops_per_row) + " a row"});
  }
  if (!signature.problem.empty()) sums.push_back({"  problem", shown(signature.problem)});
  for (const std::string& note : signature.notes) sums.push_back({"", shown(note)});
  Rows weights;
  for (const Variable& weight : signature.weights) {
    weights.push_back({"  " + shown(weight.name), weight.dtype,
                       fmt::format("[{}]", fmt::join(weight.shape, ", ")),
                       report::grouped_digits(elements_of(weight))});
  }
  return head_of(format, signature) + text_table(tensors) + text_table(sums) +
         (weights.empty() ? "" : "\n  weights\n" + text_table(weights));
}

ordered_json tensors_to_json(const std::vector<DescribedTensor>& tensors) {
  ordered_json list = ordered_json::array();
  for (const DescribedTensor& tensor : tensors) {
    ordered_json shape = ordered_json::array();
    for (const std::int64_t size : tensor.shape) {
      shape.push_back(size < 0 ? ordered_json() : ordered_json(size));
    }
    list.push_back({{"name", tensor.name},
                    {"tensor", tensor.tensor},
                    {"dtype", tensor.dtype},
                    {"shape", tensor.rank_known ? std::move(shape) : ordered_json()}});
  }
  return list;
}

ordered_json signature_to_json(const DescribedSignature& signature) {
  ordered_json operations = ordered_json::object();
  for (const OperationCount& one : signature.operations) operations[one.operation] = one.count;
  ordered_json weights = ordered_json::array();
  for (const Variable& weight : signature.weights) {
    weights.push_back({{"name", weight.name}, {"dtype", weight.dtype}, {"shape", weight.shape}});
  }
  ordered_json json = {{"key", signature.key},
                       {"inputs", tensors_to_json(signature.inputs)},
                       {"outputs", tensors_to_json(signature.outputs)},
                       {"constants", constants_to_json(signature.constants)},
                       {"parameters", parameters_of(signature)},
                       {"flops_per_row", nullptr},
                       {"operations", std::move(operations)},
                       {"weights", std::move(weights)},
                       {"problem", signature.problem},
                       {"notes", signature.notes}};
  if (signature.flops_per_row >= 0) json["flops_per_row"] = signature.flops_per_row;
  return json;
}

}  // namespace

std::string shape_text(const DescribedTensor& tensor) {
  return tensor.rank_known ? "[" + sizes_text(tensor) + "]" : "of unknown shape";
}

std::int64_t elements_of(const Variable& weight) {
  std::int64_t elements = 1;
  for (const std::int64_t size : weight.shape) elements *= size;
  return elements;
}

std::int64_t parameters_of(const DescribedSignature& signature) {
  std::int64_t parameters = 0;
  for (const Variable& weight : signature.weights) parameters += elements_of(weight);
  return parameters;
}

std::string describe_model_text(const ModelDescription& model) {
  Rows head = {{"  format", word_of(model.format)}};
  if (!model.producer.empty()) head.push_back({"  made by", shown(model.producer)});
  std::string text = text_table(head);
  for (const DescribedSignature& signature : model.signatures) {
    text += signature_text(model.format, signature);
  }
  return text;
}

ordered_json model_to_json(const ModelDescription& model) {
  ordered_json signatures = ordered_json::array();
  for (const DescribedSignature& signature : model.signatures) {
    signatures.push_back(signature_to_json(signature));
  }
  return {{"format", word_of(model.format)},
          {"producer", model.producer},
          {"signatures", std::move(signatures)}};
}

}  // namespace tfaot::toolkit
