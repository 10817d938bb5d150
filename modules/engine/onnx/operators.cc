// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "graph/diagnosis.h"
#include "onnx/operators/families.h"
#include "onnx/refusal.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

auto operator_key(const OnnxOperator& row) { return std::tie(row.domain, row.name); }

std::vector<OnnxOperator> make_operator_table() {
  std::vector<OnnxOperator> table;
  for (auto* const family :
       {elementwise_operators,    activation_operators,  shape_operators,
        product_operators,        convolution_operators, pooling_operators,
        normalization_operators,  resize_operators,      image_operators,
        quantized_operators,      attention_operators,   linear_attention_operators,
        linear_algebra_operators, loss_operators,        signal_operators,
        gather_operators,         selection_operators,   arrangement_operators,
        reduction_operators,      recurrent_operators,   control_operators,
        tree_operators,           feature_operators,     linear_model_operators,
        microsoft_operators,      qonnx_operators,       box_operators}) {
    std::vector<OnnxOperator> rows = family();
    std::ranges::move(rows, std::back_inserter(table));
  }
  std::ranges::sort(table, {}, operator_key);
  return table;
}

// As graph/random_numbers.cc says it of TensorFlow's.
Error random_numbers(const Node& node) {
  return Error(fmt::format("{} draws random numbers when the model runs",
                           describe_node(node.proto(), node.opset())))
      .note("compiled code would draw other numbers than ONNX Runtime")
      .note("export the model for inference (no dropout, no noise), or make the noise an input")
      .about(word_of(ProblemKind::kRandom), {node.proto().name()});
}

}  // namespace

const std::vector<OnnxOperator>& all_operators() {
  static const auto* const table = new std::vector<OnnxOperator>(make_operator_table());
  return *table;
}

const OnnxOperator* find_operator(const std::string& domain, const std::string& name) {
  const auto& table = all_operators();
  const auto found = std::ranges::lower_bound(table, std::tie(domain, name), {}, operator_key);
  const bool is_it = found != table.end() && operator_key(*found) == std::tie(domain, name);
  return is_it ? &*found : nullptr;
}

void lower_operator(const std::string& domain, const std::string& name, Node& node) {
  const OnnxOperator* const row = find_operator(domain, name);
  if (row == nullptr && domain.empty() && (draws_random_numbers(name) || name == "Bernoulli")) {
    throw Refusal(random_numbers(node));
  }
  if (row == nullptr) {
    throw Refusal(Error(describe_node(node.proto(), node.opset()) + " cannot be compiled: there is "
                                                                    "no such operator in tfaot")
                      .note("'tfaot check --ops --format onnx' lists those that there are")
                      .about(word_of(ProblemKind::kNoKernel), {node.proto().name()}));
  }
  if (node.opset() < row->since) {
    node.refuse(
        fmt::format("is older than opset {}, the oldest that can be compiled; convert the "
                    "model with onnx.version_converter",
                    row->since));
  }
  row->lower(node);
}

}  // namespace tfaot::toolkit::engine
