// SPDX-License-Identifier: Apache-2.0
#include "onnx/read_onnx.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "lowering/conversions.h"
#include "onnx/lifted_constants.h"
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

// Puts nodes behind those whose results they read, as the standard wants it, which not all
// exporters do. Nodes of a cycle stay last, and are refused when they are lowered.
void sort_nodes(onnx::GraphProto& graph) {
  std::map<std::string, int> maker;  // of each value
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& made : graph.node(i).output()) maker.emplace(made, i);
  }
  std::vector<std::vector<int>> readers(static_cast<std::size_t>(graph.node_size()));
  std::vector<int> missing(readers.size());  // results that a node waits for
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& name : names_read_by(graph.node(i))) {
      const auto made = maker.find(name);
      if (made == maker.end()) continue;
      readers[static_cast<std::size_t>(made->second)].push_back(i);
      ++missing[static_cast<std::size_t>(i)];
    }
    if (missing[static_cast<std::size_t>(i)] == 0) ready.push(i);
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
  const auto take = [&](int node) { sorted.Add()->Swap(graph.mutable_node(node)); };
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    take(node);
    for (const int reader : readers[static_cast<std::size_t>(node)]) {
      if (--missing[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    if (missing[static_cast<std::size_t>(i)] > 0) take(i);
  }
  graph.mutable_node()->Swap(&sorted);
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) sort_nodes(*attribute.mutable_g());
    }
  }
}

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
  sort_nodes(*model.proto.mutable_graph());
  if (const auto* const function = CallOrder(model).first_cycle()) {
    return fail(Error::at({file}, fmt::format("function '{}' calls itself", function->name())));
  }
  lift_onnx_constants(model);
  return model;
}

}  // namespace tfaot::toolkit::engine
