// SPDX-License-Identifier: Apache-2.0
// TensorFlow's C++ session, one thread, in the calling thread, through a callable: its fastest way.
// The model is a frozen graph (*.pb; constants, so that the graph optimiser can fold) or a
// SavedModel, whose function may carry jit_compile=True: then XLA compiles it on the first call of
// every batch size. Names with a ':' are tensors; others are of the signature serving_default, or
// of the frozen graph's nodes.
#include <cstring>
#include <stdexcept>

#include "runner.h"
#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/public/session.h"

namespace tfaot::runner {
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

constexpr TypeCode kTensorFlowTypes[] = {
    {DType::kBool, tensorflow::DT_BOOL},         {DType::kInt8, tensorflow::DT_INT8},
    {DType::kInt16, tensorflow::DT_INT16},       {DType::kInt32, tensorflow::DT_INT32},
    {DType::kInt64, tensorflow::DT_INT64},       {DType::kUint8, tensorflow::DT_UINT8},
    {DType::kUint16, tensorflow::DT_UINT16},     {DType::kUint32, tensorflow::DT_UINT32},
    {DType::kUint64, tensorflow::DT_UINT64},     {DType::kFloat16, tensorflow::DT_HALF},
    {DType::kBfloat16, tensorflow::DT_BFLOAT16}, {DType::kFloat32, tensorflow::DT_FLOAT},
    {DType::kFloat64, tensorflow::DT_DOUBLE}};

class TensorFlowEngine : public Engine {
 public:
  explicit TensorFlowEngine(const Settings& settings) : inputs_of_(settings.inputs) {
    const std::string model = settings.get("model");
    signature_ = settings.get("signature");
    if (signature_.empty()) signature_ = "serving_default";
    const bool frozen = model.size() > 3 && model.compare(model.size() - 3, 3, ".pb") == 0;
    if (frozen) {
      tensorflow::GraphDef graph;
      check(tensorflow::ReadBinaryProto(tensorflow::Env::Default(), model, &graph));
      own_.reset(tensorflow::NewSession(session_options()));
      check(own_->Create(graph));
      session_ = own_.get();
      take_constants(settings, graph);
    } else {
      check(tensorflow::LoadSavedModel(session_options(), {}, model, {"serve"}, &bundle_));
      session_ = bundle_.session.get();
      take_constants(settings, bundle_.meta_graph_def.graph_def());
    }
    tensorflow::CallableOptions callable;
    for (const Tensor& input : settings.inputs) callable.add_feed(tensor_name(input.name, true));
    for (const std::string& name : constant_names_) callable.add_feed(name);
    for (const Tensor& output : settings.outputs) {
      callable.add_fetch(tensor_name(output.name, false));
    }
    callable.mutable_run_options()->set_inter_op_thread_pool(-1);  // the calling thread
    check(session_->MakeCallable(callable, &callable_));
  }

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    inputs_.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      tensorflow::TensorShape shape;
      for (const std::int64_t size : inputs_of_[i].shape(rows)) shape.AddDim(size);
      inputs_.emplace_back(
          static_cast<tensorflow::DataType>(code_of(kTensorFlowTypes, inputs_of_[i].type)), shape);
      std::memcpy(inputs_[i].data(), inputs[i], inputs_[i].TotalBytes());
    }
    inputs_.insert(inputs_.end(), constants_.begin(), constants_.end());
  }

  void run() override {
    outputs_.clear();
    const tensorflow::Status status = session_->RunCallable(callable_, inputs_, &outputs_, nullptr);
    if (!status.ok()) check(status);
  }

  std::vector<const void*> outputs() override {
    std::vector<const void*> contents;
    for (const tensorflow::Tensor& tensor : outputs_) contents.push_back(tensor.data());
    return contents;
  }

 private:
  // Placeholders that have one value. Not every model of a package has them.
  void take_constants(const Settings& settings, const tensorflow::GraphDef& graph) {
    for (const Constant& constant : settings.constants) {
      const std::string name = constant.tensor.name.substr(0, constant.tensor.name.find(':'));
      for (const tensorflow::NodeDef& node : graph.node()) {
        const auto type = node.attr().find("dtype");
        if (node.name() != name || type == node.attr().end()) continue;
        tensorflow::TensorShape shape;
        for (const std::int64_t size : constant.tensor.row_shape) shape.AddDim(size);
        const tensorflow::DataType code = type->second.type();
        const auto value = constant.as(type_of_code(kTensorFlowTypes, code));
        constants_.emplace_back(code, shape);
        std::memcpy(constants_.back().data(), value.data(), constants_.back().TotalBytes());
        constant_names_.push_back(name + ":0");
      }
    }
  }

  std::string tensor_name(const std::string& name, bool is_input) const {
    if (name.find(':') != std::string::npos) return name;
    if (own_ != nullptr) return name + ":0";
    const auto& signatures = bundle_.GetSignatures();
    const auto signature = signatures.find(signature_);
    if (signature == signatures.end()) {
      throw std::runtime_error("the SavedModel has no signature '" + signature_ + "'");
    }
    const auto& tensors = is_input ? signature->second.inputs() : signature->second.outputs();
    const auto tensor = tensors.find(name);
    if (tensor == tensors.end()) {
      throw std::runtime_error("the SavedModel's signature has no tensor '" + name + "'");
    }
    return tensor->second.name();
  }

  std::vector<Tensor> inputs_of_;
  std::string signature_;
  tensorflow::SavedModelBundle bundle_;
  std::unique_ptr<tensorflow::Session> own_;
  tensorflow::Session* session_ = nullptr;
  tensorflow::Session::CallableHandle callable_ = 0;
  std::vector<std::string> constant_names_;
  std::vector<tensorflow::Tensor> constants_;
  std::vector<tensorflow::Tensor> inputs_;
  std::vector<tensorflow::Tensor> outputs_;
};

}  // namespace

std::unique_ptr<Engine> make_tensorflow_engine(const Settings& settings) {
  return std::make_unique<TensorFlowEngine>(settings);
}

}  // namespace tfaot::runner
