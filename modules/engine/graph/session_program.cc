// SPDX-License-Identifier: Apache-2.0
#include "graph/session_program.h"

#include <algorithm>
#include <utility>

#include "graph/graph_lowering.h"
#include "graph/model_session.h"
#include "tensorflow/core/public/version.h"

namespace tfaot::toolkit::engine {
namespace {

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

Result<std::unique_ptr<OriginalProgram>> load_session_program(const EngineJob& job) {
  TFAOT_ASSIGN(auto model, ModelGraph::load(job));
  TFAOT_ASSIGN(const auto function, make_signature_function(*model));
  LoweringOptions options;
  options.fixed_shapes = job.fixed_shapes;
  TFAOT_ASSIGN(const auto lowering, GraphLowering::create(*model, function, options));
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
