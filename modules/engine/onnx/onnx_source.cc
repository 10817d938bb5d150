// SPDX-License-Identifier: Apache-2.0
#include "onnx/onnx_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "lowering/conversions.h"
#include "lowering/model_constants.h"
#include "lowering/open_sizes.h"
#include "onnx/onnx_lowering.h"
#include "onnx/onnx_tensor.h"
#include "onnx/onnx_weights.h"
#include "onnx/operators.h"
#include "onnx/read_onnx.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/core/framework/types.h"

namespace tfaot::toolkit::engine {
namespace {

tensorflow::DataType tf_type_of(int onnx_type) {
  if (onnx_type == onnx::TensorProto::STRING) return tensorflow::DT_STRING;
  const auto type = element_type(onnx_type);
  if (!type) return tensorflow::DT_INVALID;
  const auto encoded = tensorflow::EncodePrimitiveTypeAsDataType(*type);
  return encoded.ok() ? *encoded : tensorflow::DT_INVALID;
}

Result<ModelTensor> tensor_of(const onnx::ValueInfoProto& value) {
  ModelTensor tensor;
  tensor.name = tensor.tensor = value.name();
  if (!value.type().has_tensor_type()) {
    return fail(Error(fmt::format("'{}' is not a tensor: a sequence, an optional value or a map",
                                  value.name()))
                    .note("compiled models have tensors as inputs and outputs; a classifier of "
                          "scikit-learn, XGBoost or LightGBM has them if you export it with "
                          "zipmap=False")
                    .about(word_of(ProblemKind::kDtype), {value.name()}));
  }
  const auto& type = value.type().tensor_type();
  tensor.type = tf_type_of(type.elem_type());
  if (tensor.type == tensorflow::DT_INVALID) {
    return fail(Error(fmt::format("'{}' has dtype {}, which compiled models cannot have",
                                  value.name(), onnx_type_name(type.elem_type())))
                    .about(word_of(ProblemKind::kDtype), {value.name()}));
  }
  tensor.rank_known = type.has_shape();
  for (const auto& dimension : type.shape().dim()) {
    const std::int64_t size = dimension.has_dim_value() ? dimension.dim_value() : -1;
    add_dimension(tensor, size, dimension.dim_param());
  }
  return tensor;
}

ConstantPlace place_of_input(const onnx::ValueInfoProto& input) {
  const auto& type = input.type().tensor_type();
  ConstantPlace place{"input", tf_type_of(type.elem_type()), type.has_shape(), {}};
  for (const auto& dimension : type.shape().dim()) {
    place.shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : -1);
  }
  return place;
}

// Inputs with a value in the config become initializers.
Status fix_inputs(onnx::GraphProto& graph, const std::vector<ModelConstant>& constants) {
  std::set<std::string> initializers;
  for (const auto& initializer : graph.initializer()) initializers.insert(initializer.name());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    auto& inputs = *graph.mutable_input();
    std::set<std::string> names;
    for (const auto& input : inputs) names.insert(input.name());
    std::erase_if(names, [&](const auto& name) { return initializers.contains(name); });
    const ModelConstant& constant = constants[i];
    if (!names.contains(constant.name)) {
      return fail(no_place_for(constant, i, "input", names));
    }
    const auto input = std::ranges::find(inputs, constant.name, &onnx::ValueInfoProto::name);
    TFAOT_ASSIGN(std::string bytes, constant_bytes(constant, i, place_of_input(*input)));
    onnx::TensorProto& value = *graph.add_initializer();
    value.set_name(constant.name);
    value.set_data_type(input->type().tensor_type().elem_type());
    for (const std::int64_t size : constant.shape) value.add_dims(size);
    value.set_raw_data(std::move(bytes));
    inputs.erase(input);
  }
  return {};
}

class OnnxSource final : public SourceModel {
 public:
  explicit OnnxSource(OnnxModel model) : model_(std::move(model)) {}

  Status read_signature(const EngineJob& job) {
    std::set<std::string> initializers;
    const onnx::GraphProto& graph = model_.proto.graph();
    for (const auto& initializer : graph.initializer()) initializers.insert(initializer.name());
    for (const auto& value : graph.input()) {
      if (initializers.count(value.name()) > 0) continue;
      TFAOT_ASSIGN(ModelTensor input, tensor_of(value));
      inputs_.push_back(std::move(input));
    }
    for (const auto& value : graph.output()) {
      TFAOT_ASSIGN(ModelTensor output, tensor_of(value));
      outputs_.push_back(std::move(output));
    }
    return set_open_sizes(inputs_, job);
  }

  const std::vector<ModelTensor>& inputs() const override { return inputs_; }
  const std::vector<ModelTensor>& outputs() const override { return outputs_; }

  std::vector<CheckedOperation> operations() const override {
    std::map<std::string, CheckedOperation> rows;
    visit_needed([&](const onnx::NodeProto& node) {
      CheckedOperation& row = rows[operator_name(node)];
      row.operation = operator_name(node);
      row.nodes.push_back({node.name(), ""});
      if (function_of(model_, node) != nullptr) {
        row.support = OperationSupport::kStructure;
      } else if (find_operator(plain_domain(node.domain()), node.op_type()) == nullptr) {
        row.support = OperationSupport::kRefused;
        row.advice = node.op_type() == "ZipMap"
                         ? "export the model with zipmap=False"
                         : "replace it by operators that 'tfaot check --ops --format onnx' "
                           "lists";
      }
    });
    std::vector<CheckedOperation> all;
    for (auto& [name, row] : rows) all.push_back(std::move(row));
    return all;
  }

  Status prepare() override { return {}; }

  Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const override {
    return make_onnx_lowering(model_, inputs_, outputs_, options);
  }

  std::vector<Variable> variables() const override {
    std::vector<Variable> variables;
    for (const OnnxWeight& weight : weights_of(model_)) {
      const auto& sizes = weight.tensor->dims();
      variables.push_back({weight.name,
                           type_name(tf_type_of(weight.tensor->data_type())),
                           {sizes.begin(), sizes.end()}});
    }
    return variables;
  }

  std::vector<std::string> output_origins() const override {
    std::map<std::string, std::string> makers;
    for (const auto& node : model_.proto.graph().node()) {
      for (const auto& output : node.output()) makers[output] = node.name();
    }
    std::vector<std::string> origins;
    for (const ModelTensor& output : outputs_) origins.push_back(makers[output.name]);
    return origins;
  }

  std::map<std::string, std::int64_t> operation_counts() const override {
    std::map<std::string, std::int64_t> counts;
    visit_needed([&](const onnx::NodeProto& node) { ++counts[operator_name(node)]; });
    return counts;
  }

 private:
  static std::string operator_name(const onnx::NodeProto& node) {
    const std::string domain = plain_domain(node.domain());
    return domain.empty() ? node.op_type() : domain + "." + node.op_type();
  }

  using Visitor = std::function<void(const onnx::NodeProto&)>;
  // Also nodes of graphs inside of others and of functions that are called.
  void visit_needed(const Visitor& visit) const { visit_graph(model_.proto.graph(), visit); }
  void visit_graph(const onnx::GraphProto& graph, const Visitor& visit) const {
    std::set<std::string> outputs;
    for (const auto& output : graph.output()) outputs.insert(output.name());
    for (const auto* const node : needed_nodes(graph.node(), outputs)) visit_node(*node, visit);
  }
  void visit_node(const onnx::NodeProto& node, const Visitor& visit) const {
    visit(node);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) visit_graph(attribute.g(), visit);
    }
    const auto* const function = function_of(model_, node);
    if (function == nullptr) return;
    for (const auto& inside : function->node()) visit_node(inside, visit);
  }

  OnnxModel model_;
  std::vector<ModelTensor> inputs_;
  std::vector<ModelTensor> outputs_;
};

}  // namespace

Result<ModelFunctions> onnx_functions(const std::string& file) {
  TFAOT_ASSIGN(const OnnxModel model, read_onnx(file));
  ModelFunctions functions;
  functions.producer = model.proto.producer_name();
  if (!model.proto.producer_version().empty()) {
    functions.producer += " " + model.proto.producer_version();
  }
  EngineJob job;
  job.format = ModelFormat::kOnnx;
  job.source = file;
  functions.jobs.push_back(std::move(job));
  return functions;
}

Result<std::unique_ptr<SourceModel>> load_onnx_source(const EngineJob& job) {
  TFAOT_ASSIGN(OnnxModel model, read_onnx(job.source));
  TFAOT_TRY(fix_inputs(*model.proto.mutable_graph(), job.constants));
  auto source = std::make_unique<OnnxSource>(std::move(model));
  TFAOT_TRY(source->read_signature(job));
  return source;
}

}  // namespace tfaot::toolkit::engine
