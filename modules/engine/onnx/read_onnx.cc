// SPDX-License-Identifier: Apache-2.0
#include "onnx/read_onnx.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "lowering/conversions.h"
#include "onnx/lifted_constants.h"
#include "onnx/node_order.h"
#include "onnx/sparse_tensors.h"
#include "tensorflow/core/platform/env.h"

namespace tfaot::toolkit::engine {
namespace {

// Follows the calls of functions of the model.
class CallOrder {
 public:
  explicit CallOrder(const OnnxModel& model) : model_(model) {}

  // The function that calls itself, also by others; null: none.
  const onnx::FunctionProto* first_cycle() {
    for (const auto& function : model_.proto.functions()) {
      if (const auto* const found = visit(function)) return found;
    }
    return nullptr;
  }

 private:
  const onnx::FunctionProto* visit(const onnx::FunctionProto& function) {
    if (done_.count(&function) > 0) return nullptr;
    if (!open_.insert(&function).second) return &function;
    for (const auto& node : function.node()) {
      if (const auto* const found = visit_node(node)) return found;
    }
    open_.erase(&function);
    done_.insert(&function);
    return nullptr;
  }
  const onnx::FunctionProto* visit_node(const onnx::NodeProto& node) {
    for (const auto& attribute : node.attribute()) {
      for (const auto& inside : attribute.g().node()) {
        if (const auto* const found = visit_node(inside)) return found;
      }
    }
    const auto* const called = function_of(model_, node);
    return called == nullptr ? nullptr : visit(*called);
  }

  const OnnxModel& model_;
  std::set<const onnx::FunctionProto*> open_;
  std::set<const onnx::FunctionProto*> done_;
};

// Counts the nodes that are lowered if each call becomes the nodes of its function: functions that
// call others twice have twice as many at each step. REQUIRES: no function calls itself.
class LoweredNodes {
 public:
  explicit LoweredNodes(const OnnxModel& model) : model_(model) {}

  double in(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    double count = 0;
    for (const auto& node : nodes) {
      count += 1;
      for (const auto& attribute : node.attribute()) count += in(attribute.g().node());
      const auto* const called = function_of(model_, node);
      if (called == nullptr) continue;
      const auto known = counts_.find(called);
      count += known != counts_.end() ? known->second : counts_[called] = in(called->node());
    }
    return count;
  }

 private:
  const OnnxModel& model_;
  std::map<const onnx::FunctionProto*, double> counts_;
};

constexpr double kMostNodes = 1e7;

}  // namespace

  Status dense = make_dense(model);
  if (!dense) return fail(std::move(dense).error().moved_to({file}));
Result<OnnxModel> read_onnx(const std::string& file) {
  std::string bytes;
  const auto read = tensorflow::ReadFileToString(tensorflow::Env::Default(), file, &bytes);
  if (!read.ok()) return fail(error_of(read, "cannot read it"));
  OnnxModel model;
  model.file = file;
  if (!model.proto.ParseFromString(bytes) || !model.proto.has_graph() ||
      model.proto.opset_import_size() == 0) {
    return fail(Error::at({file}, "is not an ONNX model")
                    .note("an ONNX file holds a graph and the versions of its operators"));
  }
  auto sorted = sort_nodes(*model.proto.mutable_graph(), opsets_of(model.proto.opset_import()));
  if (!sorted) return fail(std::move(sorted).error().moved_to({file}));
  if (const auto* const function = CallOrder(model).first_cycle()) {
    return fail(Error::at({file}, fmt::format("function '{}' calls itself", function->name())));
  }
  if (LoweredNodes(model).in(model.proto.graph().node()) > kMostNodes) {
    return fail(Error::at({file},
                          "its functions call each other so often that it has more than "
                          "ten million nodes"));
  }
  lift_onnx_constants(model);
  return model;
}

}  // namespace tfaot::toolkit::engine
