// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/operators.h"

#include <iterator>
#include <tuple>

#include "front/graph/safe_graph.h"

namespace tfaot::toolkit::engine {
namespace {

auto operator_key(const OnnxOperator& row) { return std::tie(row.domain, row.name); }

std::vector<OnnxOperator> make_operator_table() {
  std::vector<OnnxOperator> table;
  for (auto* const rows_of :
       {elementwise_operators, image_operators, machine_learning_operators, product_operators,
        quantized_operators, sequence_operators, shape_operators}) {
    std::ranges::move(rows_of(), std::back_inserter(table));
  }
  std::ranges::sort(table, {}, operator_key);
  return table;
}

// Sorted by domain and name.
const std::vector<OnnxOperator>& all_operators() {
  static const auto* const table = new std::vector<OnnxOperator>(make_operator_table());
  return *table;
}

// The same refusal as for TensorFlow's random operations (compiler/hlo/foreign_operations.cc).
Error random_numbers(const Node& node) {
  return node.error("draws random numbers when the model runs", ProblemKind::kRandom)
      .note("compiled code would draw other numbers than ONNX Runtime")
      .note("export the model for inference (no dropout, no noise), or make the noise an input");
}

// Opsets of the pinned ONNX (packaging/onnx_wheel.txt), against which the operators were checked.
struct NewestOpset {
  std::string_view domain;
  std::int64_t version;
};
constexpr auto kNewestOpsets = std::to_array<NewestOpset>({{"", 27}, {"ai.onnx.ml", 5}});

Error too_new(const std::string& what, std::int64_t version, std::int64_t newest) {
  return Error(fmt::format("the model has {} {}, and the newest that tfaot knows is {}", what,
                           version, newest))
      .note("export it with an older one, or convert it with onnx.version_converter")
      .note(
          "to compile it as if it were of the newest known one: 'model.opset: any', or '--opset "
          "any'; then compare it by 'tfaot validate'")
      .about(word_of(ProblemKind::kModel), {});
}

template <typename Imports>
Status check_imports(const Imports& imports) {
  for (const auto& [domain, version] : opsets_of(imports)) {
    const auto* const known = std::ranges::find(kNewestOpsets, domain, &NewestOpset::domain);
    if (known == kNewestOpsets.end() || version <= known->version) continue;
    return fail(too_new(domain.empty() ? "opset" : "opset of " + domain, version, known->version));
  }
  return {};
}

}  // namespace

std::vector<OnnxOperator> in_domain(const std::string& domain, std::vector<OnnxOperator> rows) {
  for (OnnxOperator& row : rows) row.domain = domain;
  return rows;
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
    throw Refusal(
        node.error("cannot be compiled: there is no such operator in tfaot", ProblemKind::kNoKernel)
            .note("'tfaot check --ops --format onnx' lists those that there are"));
  }
  if (node.opset() < row->since) {
    node.refuse(
        "is older than opset {}, the oldest that can be compiled; convert the "
        "model with onnx.version_converter",
        row->since);
  }
  row->lower(node);
}

Status check_opsets(const onnx::ModelProto& model) {
  TFAOT_TRY(check_imports(model.opset_import()));
  for (const auto& function : model.functions()) {
    TFAOT_TRY(check_imports(function.opset_import()));
  }
  const std::int64_t newest = onnx::IR_VERSION;
  if (model.ir_version() <= newest) return {};
  return fail(too_new("IR version", model.ir_version(), newest));
}

std::vector<CheckedOperation> known_onnx_operators() {
  return mapped(all_operators(), [](const OnnxOperator& known) {
    CheckedOperation row;
    row.operation = known.domain.empty() ? known.name : known.domain + "." + known.name;
    row.oldest_opset = known.since;
    row.constant_inputs = mapped(known.operands.known, [](int i) { return std::to_string(i + 1); });
    return row;
  });
}

}  // namespace tfaot::toolkit::engine
