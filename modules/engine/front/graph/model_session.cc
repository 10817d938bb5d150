// SPDX-License-Identifier: Apache-2.0
#include "front/graph/model_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "compiler/hlo/conversions.h"
#include "front/graph/diagnosis.h"
#include "front/graph/graph_nodes.h"
#include "front/graph/graph_source.h"
#include "front/graph/safe_graph.h"
#include "front/graph/signature_function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/public/version.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// Operations with state that act on nothing but the session's own variables and arrays, or that
// call functions of the graph. Sorted. Before you add one, read its kernel.
constexpr std::string_view kActingInside =
    "Assert Case CheckNumerics DeviceIndex If ReadVariableOp ResourceGather ResourceGatherNd "
    "Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2 StackV2 "
    "StatefulPartitionedCall StatelessRandomGetAlg TensorArrayCloseV3 TensorArrayConcatV3 "
    "TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3 TensorArrayScatterV3 "
    "TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3 VarHandleOp "
    "VarIsInitializedOp Variable VariableShape VariableV2 While XlaCallModule";

bool runs_safely(const std::string& operation) {
  return is_pure(operation) || connects(operation) || draws_random_numbers(operation) ||
         is_listed(kActingInside, operation);
}

GraphRules rules_for_running(const std::string& label) {
  const auto refuse = [label](const std::vector<BlamedNode>& nodes) {
    Error error(fmt::format("{} cannot be run in TensorFlow's session: {} may do more than compute",
                            label, nodes.front().text));
    for (std::size_t i = 1; i < nodes.size(); ++i) error.note("and " + nodes[i].text);
    return error;
  };
  return {runs_safely, refuse};
}

void make_placeholder(tf::NodeDef& node, tf::DataType type) {
  node.set_op("Placeholder");
  node.clear_attr();
  tf::AddNodeAttr("dtype", type, &node);
}

// A copy of the model's own node: of a variable, another node for the same one.
void make_weight(tf::NodeDef& node, const tf::NodeDef& original) {
  const std::string name = node.name();
  node = original;
  node.set_name(name);
  node.clear_input();
  node.clear_device();
  if (is_variable(node)) {
    (*node.mutable_attr())["shared_name"].set_s(resource_name(original));
  }
}

// The graph that a session runs: placeholders and the weights' own nodes instead of _Arg, Identity
// instead of _Retval.
void make_runnable(tf::GraphDef& cut, const ModelGraph& model,
                   const std::vector<WeightArgument>& weights, std::vector<std::string>& inputs,
                   std::vector<std::string>& outputs) {
  const Nodes originals = nodes_of(model.graph().node());
  inputs.resize(model.inputs().size());
  outputs.resize(model.outputs().size());
  for (tf::NodeDef& node : *cut.mutable_node()) {
    const auto index = [&node] { return static_cast<std::size_t>(node.attr().at("index").i()); };
    if (node.op() == "_Arg" && index() < inputs.size()) {
      inputs[index()] = node.name();
      make_placeholder(node, node.attr().at("T").type());
    } else if (node.op() == "_Arg") {
      make_weight(node, *originals.at(weights[index() - inputs.size()].name));
    } else if (node.op() == "_Retval") {
      outputs[index()] = node.name();
      node.set_op("Identity");
      node.mutable_attr()->erase("index");
    }
    node.mutable_attr()->erase("_class");  // names nodes that were cut off
  }
}

class SessionProgram final : public OriginalProgram {
 public:
  SessionProgram(ModelSession session, Signature signature, std::int64_t fixed_rows)
      : session_(std::move(session)), signature_(std::move(signature)), fixed_rows_(fixed_rows) {}

  std::string name() const override { return std::string("tensorflow ") + TF_VERSION_STRING; }
  const Signature& signature() const override { return signature_; }
  std::int64_t fixed_rows() const override { return fixed_rows_; }
  Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                              std::chrono::seconds limit) override {
    return session_.run(inputs, limit);
  }

 private:
  ModelSession session_;
  Signature signature_;
  std::int64_t fixed_rows_;
};

}  // namespace

Result<ModelSession> ModelSession::open(ModelGraph& model) {
  TFAOT_ASSIGN(CutGraph cut, cut_graph(model, {}));
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  make_runnable(cut.graph, model, cut.weights, inputs, outputs);
  TFAOT_TRY(make_safe(cut.graph, rules_for_running(model.label())));
  TFAOT_ASSIGN(auto session, model.session(cut.graph));
  return ModelSession(std::move(session), std::move(inputs), std::move(outputs));
}

Result<std::vector<tf::Tensor>> ModelSession::run(const std::vector<tf::Tensor>& inputs,
                                                  std::chrono::seconds limit) {
  std::vector<std::pair<std::string, tf::Tensor>> fed;
  for (std::size_t i = 0; i < inputs.size(); ++i) fed.emplace_back(inputs_[i], inputs[i]);
  tf::RunOptions options;
  options.set_timeout_in_ms(std::chrono::milliseconds(limit).count());
  std::vector<tf::Tensor> outputs;
  const auto status = session_->Run(options, fed, outputs_, {}, &outputs, nullptr);
  if (status.ok()) return outputs;
  if (absl::IsDeadlineExceeded(status)) {
    return fail(Error(fmt::format("TensorFlow did not end within {} s", limit.count())));
  }
  return fail(Error(status_note(status)));
}

Result<std::unique_ptr<OriginalProgram>> load_session_program(const EngineJob& job) {
  TFAOT_ASSIGN(auto model, ModelGraph::load(job));
  TFAOT_ASSIGN(const auto function, make_signature_function(*model));
  LoweringOptions options;
  options.fixed_shapes = job.fixed_shapes;
  TFAOT_ASSIGN(const auto lowering, make_graph_lowering(*model, function, options));
  TFAOT_ASSIGN(auto lowered, lowering->lower(job.batch_sizes.front()));
  TFAOT_ASSIGN(auto session, ModelSession::open(*model));
  std::int64_t fixed_rows = job.fixed_shapes ? 1 : 0;
  for (const ModelTensor& input : model->inputs()) {
    if (!job.fixed_shapes) fixed_rows = std::max(fixed_rows, input.shape.front());
  }
  return std::make_unique<SessionProgram>(
      std::move(session),
      Signature{job.serving_key, std::move(lowered.inputs), std::move(lowered.outputs)},
      fixed_rows);
}

}  // namespace tfaot::toolkit::engine
