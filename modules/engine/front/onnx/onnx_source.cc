// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/onnx_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/hlo.h"
#include "front/lowering/call_compiled.h"
#include "front/lowering/signature.h"
#include "front/onnx/node.h"
#include "front/onnx/onnx_tensor.h"
#include "front/onnx/operators.h"
#include "front/onnx/read_onnx.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/core/framework/types.h"
#include "tfaot/records/model_check.h"
#include "xla/client/xla_builder.h"

namespace tfaot::toolkit::engine {
namespace {

// True if operators of the model may make weights of their attributes.
bool may_make_weights(const OnnxModel& model) {
  return std::ranges::any_of(model.proto.opset_import(),
                             [](const auto& import) { return import.domain() == "ai.onnx.ml"; });
}

// The labels of a classifier.
Status check_no_strings(const std::vector<ModelTensor>& outputs) {
  for (const ModelTensor& output : outputs) {
    if (output.type != tensorflow::DT_STRING) continue;
    return fail(Error(fmt::format("output '{}' has dtype string, which compiled models cannot have",
                                  output.name))
                    .note("if it holds a classifier's labels: train with integer labels, or remove "
                          "the output from the model")
                    .about(word_of(ProblemKind::kDtype), {output.name}));
  }
  return {};
}

// By an operator, of its attributes.
struct MadeWeight {
  std::string name;
  std::shared_ptr<const xla::Literal> value;
};

// -0 differs from 0, and NaN equals itself.
bool are_same_bytes(const xla::Literal& a, const xla::Literal& b) {
  return xla::ShapeUtil::Equal(a.shape(), b.shape()) &&
         std::memcmp(a.untyped_data(), b.untyped_data(),
                     static_cast<std::size_t>(a.size_bytes())) == 0;
}

class OnnxLowering final : public SignatureLowering {
 public:
  OnnxLowering(const OnnxModel& model, const std::vector<ModelTensor>& inputs,
               const std::vector<ModelTensor>& outputs, bool fixed_shapes)
      : SignatureLowering(inputs, outputs, fixed_shapes),
        model_(model),
        opsets_(opsets_of(model.proto.opset_import())) {}

  Status add_weights() {
    for (const OnnxWeight& weight : weights_of(model_)) {
      TFAOT_ASSIGN(xla::Shape shape, shape_of_tensor(*weight.tensor));
      weights_.push_back({weight.name, std::move(shape),
                          [tensor = weight.tensor, file = model_.file]() -> Result<Value> {
                            TFAOT_ASSIGN(auto value, read_tensor(*tensor, file));
                            return std::make_shared<xla::Literal>(std::move(value));
                          }});
    }
    if (may_make_weights(model_)) find_made_weights();
    return {};
  }

  Result<LoweredModel> lower(std::int64_t batch_size) const override {
    if (!fixed_shapes_) {
      for (const ModelTensor& input : inputs_) TFAOT_TRY(check_batch(input, batch_size));
    }
    try {
      return lower_graph(batch_size);
    } catch (const Refusal& refusal) {
      return fail(refusal.error());
    }
  }

 private:
  // Throws a Refusal.
  Result<LoweredModel> lower_graph(std::int64_t batch_size) const {
    xla::XlaBuilder builder(fmt::format("tfaot_bs{}", batch_size));
    OnnxScope scope(model_, opsets_, builder);
    const std::vector<xla::XlaOp> parameters = add_parameters(scope, batch_size);
    scope.keep_by([&](const std::string& name, const xla::Literal& value) {
      const auto found = find_made(name, value);
      return found ? parameters[*found] : xla::ConstantLiteral(&builder, value);
    });
    scope.lower(model_.proto.graph());
    std::vector<xla::XlaOp> results = scope.outputs_of(model_.proto.graph());
    for (std::size_t i = 0; i < results.size(); ++i) {
      TFAOT_TRY(check_made(builder, results[i], outputs_[i]));
    }
    TFAOT_ASSIGN(LoweredModel lowered, built(builder, std::move(results)));
    return finished(std::move(lowered), batch_size);
  }

  // Other branches and steps may make other values under the same name; those that one row does not
  // need are constants.
  std::optional<std::size_t> find_made(const std::string& name, const xla::Literal& value) const {
    const auto found = std::ranges::find_if(made_, [&](const MadeWeight& made) {
      return made.name == name && are_same_bytes(*made.value, value);
    });
    if (found == made_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - made_.begin());
  }

  // Lowers the graph for one row, with constants in place of the weights that operators make.
  void find_made_weights() {
    std::int64_t rows = 1;
    for (const ModelTensor& input : inputs_) {
      if (!fixed_shapes_ && input.shape[0] >= 0) rows = input.shape[0];
    }
    xla::XlaBuilder builder("weights");
    OnnxScope scope(model_, opsets_, builder);
    add_parameters(scope, rows);
    scope.keep_by([&](const std::string& name, const xla::Literal& value) {
      if (!find_made(name, value)) {
        made_.push_back({name, std::make_shared<xla::Literal>(value.Clone())});
      }
      return xla::ConstantLiteral(&builder, value);
    });
    try {
      scope.lower(model_.proto.graph());
    } catch (const Refusal&) {
      made_.clear();  // lower() says it
    }
    for (const MadeWeight& made : made_) {
      weights_.push_back({made.name, made.value->shape(),
                          [value = made.value]() -> Result<Value> { return value; }});
    }
  }

  // Returns the weights that operators make, as in `made_`; the others get their names.
  std::vector<xla::XlaOp> add_parameters(OnnxScope& scope, std::int64_t batch_size) const {
    xla::XlaBuilder& builder = scope.builder();
    std::int64_t number = 0;
    for (const ModelTensor& input : inputs_) {
      Dimensions sizes = input.shape;
      if (!fixed_shapes_) sizes.front() = batch_size;
      scope.set(input.name, input_parameter(builder, number++, shape_of(type_of(input), sizes)));
    }
    std::vector<xla::XlaOp> made;
    for (const RawWeight& weight : weights_) {
      const std::int64_t place = number++;
      const xla::XlaOp op =
          xla::Parameter(&builder, place, weight.shape, fmt::format("p{}", place));
      if (place - std::ssize(inputs_) < std::ssize(weights_) - std::ssize(made_)) {
        scope.set(weight.name, op);
      } else {
        made.push_back(op);
      }
    }
    return made;
  }

  // Callers of the model read the output as the declared type.
  static Status check_made(const xla::XlaBuilder& builder, xla::XlaOp made,
                           const ModelTensor& output) {
    TFAOT_ASSIGN(const xla::Shape shape, or_internal(builder.GetShape(made)));
    const tensorflow::DataType type = tensorflow_type(shape.element_type());
    if (type == output.type) return {};
    return fail(Error(fmt::format("output '{}' is declared as {}, but the graph makes {}",
                                  output.name, type_name(output.type), type_name(type)))
                    .note("declare the type that is made, or put a Cast before the output")
                    .about(word_of(ProblemKind::kDtype), {output.name}));
  }

  // REQUIRES: the input's type was checked.
  static xla::PrimitiveType type_of(const ModelTensor& input) {
    xla::PrimitiveType type = xla::PRIMITIVE_TYPE_INVALID;
    static_cast<void>(tensorflow::DataTypeToPrimitiveType(input.type, &type));
    return type;
  }

  const OnnxModel& model_;
  Opsets opsets_;
  std::vector<MadeWeight> made_;  // the last of the weights
};

tensorflow::DataType tf_type_of(int onnx_type) {
  if (onnx_type == onnx::TensorProto::STRING) return tensorflow::DT_STRING;
  const auto type = element_type(onnx_type);
  return type ? tensorflow_type(*type) : tensorflow::DT_INVALID;
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
    if (!options.any_opset) TFAOT_TRY(check_opsets(model_.proto));
    TFAOT_TRY(check_no_strings(outputs_));
    TFAOT_TRY(
        check_signature("the graph", inputs_, outputs_, {.fixed_shapes = options.fixed_shapes}));
    auto lowering = std::make_unique<OnnxLowering>(model_, inputs_, outputs_, options.fixed_shapes);
    if (!options.embed_weights) TFAOT_TRY(lowering->add_weights());
    return lowering;
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
};

}  // namespace

Result<ModelFunctions> onnx_functions(const std::string& file) {
  TFAOT_ASSIGN(const OnnxModel model, read_onnx(file));
  std::string producer = model.proto.producer_name();
  if (const auto& version = model.proto.producer_version(); !version.empty()) {
    producer += " " + version;
  }
  return one_function(std::move(producer), ModelFormat::kOnnx, file);
}

Result<std::unique_ptr<SourceModel>> load_onnx_source(const EngineJob& job) {
  TFAOT_ASSIGN(OnnxModel model, read_onnx(job.source));
  TFAOT_TRY(fix_inputs(*model.proto.mutable_graph(), job.constants));
  auto source = std::make_unique<OnnxSource>(std::move(model));
  TFAOT_TRY(source->read_signature(job));
  return source;
}

}  // namespace tfaot::toolkit::engine
