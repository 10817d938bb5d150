// SPDX-License-Identifier: Apache-2.0
// TensorFlow's C++ session, one thread, in the calling thread, through a callable: its fastest way.
// The model is a frozen graph (*.pb; constants, so that the graph optimiser can fold) or a
// SavedModel, whose function may carry jit_compile=True: then XLA compiles it on the first call of
// every batch size.
#include <cstring>
#include <stdexcept>

#include "runner.h"
#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/public/session.h"

namespace tfaot::benchmark {
namespace {

void check(const tensorflow::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

tensorflow::SessionOptions session_options() {
  tensorflow::SessionOptions options;
  options.config.set_intra_op_parallelism_threads(1);
  options.config.set_inter_op_parallelism_threads(1);
  return options;
}

class TensorFlowEngine : public Engine {
 public:
  explicit TensorFlowEngine(const RunnerOptions& options) : options_(options) {
    if (options.names.size() != 2)
      throw std::runtime_error("names: the input and the output tensor");
    const std::string& model = options.model;
    const bool frozen = model.size() > 3 && model.compare(model.size() - 3, 3, ".pb") == 0;
    if (frozen) {
      tensorflow::GraphDef graph;
      check(tensorflow::ReadBinaryProto(tensorflow::Env::Default(), model, &graph));
      own_.reset(tensorflow::NewSession(session_options()));
      check(own_->Create(graph));
      session_ = own_.get();
    } else {
      check(tensorflow::LoadSavedModel(session_options(), {}, model, {"serve"}, &bundle_));
      session_ = bundle_.session.get();
    }
    tensorflow::CallableOptions callable;
    callable.add_feed(options.names[0]);
    callable.add_fetch(options.names[1]);
    callable.mutable_run_options()->set_inter_op_thread_pool(-1);  // the calling thread
    check(session_->MakeCallable(callable, &callable_));
  }

  void prepare(std::size_t rows, const float* inputs) override {
    tensorflow::TensorShape shape;
    shape.AddDim(static_cast<std::int64_t>(rows));
    for (const std::size_t size : options_.input_shape) {
      shape.AddDim(static_cast<std::int64_t>(size));
    }
    inputs_ = {tensorflow::Tensor(tensorflow::DT_FLOAT, shape)};
    std::memcpy(inputs_[0].data(), inputs, inputs_[0].TotalBytes());
  }

  void run() override {
    outputs_.clear();
    const tensorflow::Status status = session_->RunCallable(callable_, inputs_, &outputs_, nullptr);
    if (!status.ok()) check(status);
  }

  const float* outputs() override { return outputs_[0].flat<float>().data(); }

 private:
  RunnerOptions options_;
  tensorflow::SavedModelBundle bundle_;
  std::unique_ptr<tensorflow::Session> own_;
  tensorflow::Session* session_ = nullptr;
  tensorflow::Session::CallableHandle callable_ = 0;
  std::vector<tensorflow::Tensor> inputs_;
  std::vector<tensorflow::Tensor> outputs_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const RunnerOptions& options) {
  return std::make_unique<TensorFlowEngine>(options);
}

}  // namespace tfaot::benchmark
