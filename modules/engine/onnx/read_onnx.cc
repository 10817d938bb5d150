// SPDX-License-Identifier: Apache-2.0
#include "onnx/read_onnx.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "lowering/conversions.h"
#include "onnx/lifted_constants.h"
#include "onnx/node_order.h"
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

}  // namespace

Result<OnnxModel> read_onnx(const std::string& file) {
  std::string bytes;
  const auto read = tensorflow::ReadFileToString(tensorflow::Env::Default(), file, &bytes);
  if (!read.ok()) return fail(error_of(read, "cannot read it"));
  OnnxModel model;
  model.file = file;
  model.folder = std::filesystem::path(file).parent_path().string();
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
  lift_onnx_constants(model);
  return model;
}

}  // namespace tfaot::toolkit::engine
