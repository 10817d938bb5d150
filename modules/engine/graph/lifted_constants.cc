// SPDX-License-Identifier: Apache-2.0
#include "graph/lifted_constants.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>

#include "graph/diagnosis.h"
#include "hlo/constant_calls.h"
#include "lowering/conversions.h"
#include "lowering/weight_rule.h"
#include "tensorflow/compiler/tf2xla/const_analysis.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/common_runtime/function_def_utils.h"
#include "tensorflow/core/common_runtime/process_function_library_runtime.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/algorithm.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kCallOperation = "XlaCustomCall";
constexpr const char* kTargetAttribute = "target_name";

// A single number for all elements is a formula, such as tf.zeros().
bool is_written_out(const tf::TensorProto& value) {
  return !value.tensor_content().empty() ||
         value.float_val_size() + value.double_val_size() + value.int_val_size() +
                 value.int64_val_size() + value.uint32_val_size() + value.uint64_val_size() +
                 value.half_val_size() + value.bool_val_size() >
             1;
}

std::optional<tf::Tensor> large_value(const tf::NodeDef& node) {
  if (node.op() != "Const") return std::nullopt;
  const auto value = node.attr().find("value");
  if (value == node.attr().end()) return std::nullopt;
  const tf::TensorProto& proto = value->second.tensor();
  tf::TensorShape shape;
  if (!tf::TensorShape::BuildTensorShape(proto.tensor_shape(), &shape).ok()) return std::nullopt;
  const auto sizes = shape.dim_sizes();
  const bool is_weight = is_written_out(proto) &&
                         is_weight_constant(dtype_of(proto.dtype()), {sizes.data(), sizes.size()});
  tf::Tensor tensor;
  if (!is_weight || !tensor.FromProto(proto)) return std::nullopt;
  return tensor;
}

// The nodes of a function whose values must be known while compiling.
class KnownNodes {
 public:
  KnownNodes(const tf::FunctionLibraryDefinition& library, int graph_version)
      : library_(library),
        runtimes_(nullptr, tf::Env::Default(), nullptr, graph_version, &library,
                  tf::OptimizerOptions()) {}

  // Nothing if TensorFlow cannot say.
  std::optional<std::set<std::string>> of(const tf::FunctionDef& function) const {
    std::unique_ptr<tf::FunctionBody> body;
    if (!tf::FunctionDefToBodyHelper(function, tf::AttrSlice(), &library_, &body).ok()) {
      return std::nullopt;
    }
    const tf::Graph& graph = *body->graph;
    std::vector<bool> compile_time(static_cast<std::size_t>(graph.num_node_ids()), false);
    const auto status = tf::BackwardsConstAnalysis(
        graph, nullptr, &compile_time,
        runtimes_.GetFLR(tf::ProcessFunctionLibraryRuntime::kDefaultFLRDevice));
    if (!status.ok()) return std::nullopt;
    std::vector<const tf::Node*> deciding;
    for (const tf::Node* node : graph.op_nodes()) {
      const bool is_call = library_.Find(node->type_string()) != nullptr;
      if (compile_time[static_cast<std::size_t>(node->id())] ||
          has_data_dependent_shape(node->type_string()) ||
          (!is_call && has_no_xla_kernel(node->def()))) {
        deciding.push_back(node);
      }
    }
    std::set<std::string> known;
    tf::ReverseDFSFrom(
        graph, deciding, [&](const tf::Node* node) { known.insert(node->name()); }, nullptr);
    return known;
  }

 private:
  const tf::FunctionLibraryDefinition& library_;
  tf::ProcessFunctionLibraryRuntime runtimes_;
};

// "predict" of "__inference_predict_57": the number is another one in each program.
std::string own_name(std::string name) {
  constexpr std::string_view kStart = "__inference_";
  if (name.starts_with(kStart)) name.erase(0, kStart.size());
  const auto last = name.rfind('_');
  const bool is_numbered = last != std::string::npos && last > 0 && last + 1 < name.size() &&
                           name.find_first_not_of("0123456789", last + 1) == std::string::npos;
  return is_numbered ? name.substr(0, last) : name;
}

void make_call(tf::NodeDef& node, const tf::Tensor& value, std::size_t constant) {
  node.set_op(kCallOperation);
  node.mutable_attr()->erase("value");
  tf::AddNodeAttr(kTargetAttribute, constant_call(constant), &node);
  tf::AddNodeAttr("backend_config", "", &node);
  tf::AddNodeAttr("T", tf::DataTypeVector(), &node);
  tf::AddNodeAttr("shape", value.shape(), &node);
}

}  // namespace

bool is_lifted_constant(const tf::NodeDef& node) {
  if (node.op() != kCallOperation) return false;
  const auto target = node.attr().find(kTargetAttribute);
  return target != node.attr().end() && constant_of_call(target->second.s()).has_value();
}

Status lift_function_constants(SignatureFunction& function) {
  tf::XlaOpRegistry::RegisterCompilationKernels();
  std::vector<tf::FunctionDef> changed;
  std::set<std::string> names;
  for (const WeightArgument& weight : function.weights) names.insert(weight.name);
  const KnownNodes known_nodes(*function.library, function.graph_version);
  for (const std::string& name : called_functions(*function.library, function.name)) {
    tf::FunctionDef definition = *function.library->Find(name);
    std::optional<std::set<std::string>> known;
    const std::size_t before = function.constants.size();
    for (tf::NodeDef& node : *definition.mutable_node_def()) {
      auto value = large_value(node);
      if (!value) continue;
      if (!known) known = known_nodes.of(definition);
      if (!known) break;
      if (known->contains(node.name())) continue;
      make_call(node, *value, function.constants.size());
      const std::string place = name == function.name ? "" : own_name(name) + "/";
      const std::string wanted = place + node.name();
      std::string unused = wanted;
      for (int i = 2; !names.insert(unused).second; ++i) unused = fmt::format("{}_{}", wanted, i);
      function.constants.push_back({std::move(unused), stored(*std::move(value))});
    }
    if (function.constants.size() > before) changed.push_back(std::move(definition));
  }
  for (const tf::FunctionDef& definition : changed) {
    const auto status =
        function.library->ReplaceFunction(definition.signature().name(), definition);
    if (!status.ok()) return fail(Error::internal(std::string(status.message())));
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
