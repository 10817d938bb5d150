// SPDX-License-Identifier: Apache-2.0
#include "graph/graph_source.h"

#include <map>

#include "graph/diagnosis.h"
#include "graph/graph_lowering.h"
#include "graph/lifted_constants.h"
#include "graph/model_graph.h"
#include "graph/operation_table.h"
#include "graph/output_origins.h"
#include "graph/signature_function.h"

namespace tfaot::toolkit::engine {
namespace {

class GraphSource final : public SourceModel {
 public:
  explicit GraphSource(std::unique_ptr<ModelGraph> graph) : graph_(std::move(graph)) {}

  const std::vector<ModelTensor>& inputs() const override { return graph_->inputs(); }
  const std::vector<ModelTensor>& outputs() const override { return graph_->outputs(); }
  std::vector<CheckedOperation> operations() const override { return operation_table(*graph_); }

  Status prepare() override {
    TFAOT_ASSIGN(function_, make_signature_function(*graph_));
    return {};
  }
  Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const override {
    return GraphLowering::create(*graph_, function_, options);
  }
  std::vector<std::string> output_origins() const override {
    return engine::output_origins(function_);
  }
  std::vector<Variable> variables() const override { return variables_of(function_); }

  std::map<std::string, std::int64_t> operation_counts() const override {
    std::map<std::string, std::int64_t> counts;
    visit_nodes(function_, [&](const tensorflow::NodeDef& node, const std::string& /*function*/) {
      if (node.op() == "_Arg" || node.op() == "_Retval") return;
      ++counts[is_lifted_constant(node) ? "Const" : node.op()];
    });
    return counts;
  }

 private:
  std::unique_ptr<ModelGraph> graph_;
  SignatureFunction function_;
};

}  // namespace

Result<std::unique_ptr<SourceModel>> load_graph_source(const EngineJob& job) {
  TFAOT_ASSIGN(auto graph, ModelGraph::load(job));
  return std::make_unique<GraphSource>(std::move(graph));
}

}  // namespace tfaot::toolkit::engine
