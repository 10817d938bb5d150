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
#include "tfaot/base/limits.h"

namespace tfaot::toolkit::engine {
namespace {

// Counts the nodes that are lowered if each call becomes the nodes of its function: functions that
// call others twice have twice as many at each step.
class LoweredNodes {
 public:
  explicit LoweredNodes(const OnnxModel& model) : model_(model) {}

  // Errors: functions that need themselves or are nested too deep, more nodes than kMostNodes.
  Status check() {
    for (const auto& function : model_.proto.functions()) TFAOT_TRY(visit(function));
    TFAOT_ASSIGN(const double count, in(model_.proto.graph().node()));
    if (count <= static_cast<double>(kMostNodes)) return {};
    return fail(
        Error(fmt::format("has more than {} nodes once its functions are called", kMostNodes)));
  }

 private:
  Result<double> in(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    double count = 0;
    for (const auto& node : nodes) {
      count += 1;
      for (const auto& attribute : node.attribute()) {
        TFAOT_ASSIGN(const double inside, in(attribute.g().node()));
        count += inside;
      }
      const auto* const called = function_of(model_, node);
      if (called == nullptr) continue;
      TFAOT_ASSIGN(const double of_call, visit(*called));
      count += of_call;
    }
    return count;
  }

  Result<double> visit(const onnx::FunctionProto& function) {
    const auto known = counts_.find(&function);
    if (known != counts_.end()) return known->second;
    if (!open_.insert(&function).second) {
      return fail(Error(fmt::format("function '{}' calls itself", function.name())));
    }
    if (std::ssize(open_) > kMostNestedCalls) {
      return fail(
          Error(fmt::format("more than {} functions call each other in turn", kMostNestedCalls)));
    }
    TFAOT_ASSIGN(const double count, in(function.node()));
    open_.erase(&function);
    counts_[&function] = count;
    return count;
  }

  const OnnxModel& model_;
  std::set<const onnx::FunctionProto*> open_;
  std::map<const onnx::FunctionProto*, double> counts_;
};

}  // namespace

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
  Status dense = make_dense(model);
  if (!dense) return fail(std::move(dense).error().moved_to({file}));
  auto sorted = sort_nodes(*model.proto.mutable_graph(), opsets_of(model.proto.opset_import()));
  if (!sorted) return fail(std::move(sorted).error().moved_to({file}));
  Status called = LoweredNodes(model).check();
  if (!called) return fail(std::move(called).error().moved_to({file}));
  lift_onnx_constants(model);
  return model;
}

}  // namespace tfaot::toolkit::engine
