// SPDX-License-Identifier: Apache-2.0
#include "lowering/limits.h"

#include <fmt/format.h>

#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit::engine {
namespace {

struct LimitedCount {
  std::size_t count = 0;
  std::size_t most = 0;
  std::string of;  // "dimensions"
};

// "input 'x' has 200 dimensions, but at most 100 are allowed"
Status check_count(const std::string& owner, const LimitedCount& count) {
  if (count.count <= count.most) return {};
  return fail(Error(fmt::format("{} has {} {}, but at most {} are allowed", owner, count.count,
                                count.of, count.most)));
}

std::string kind_and_name(const char* kind, const std::string& name) {
  return fmt::format("{} '{}'", kind, shown(name));
}

Status check_name(const char* kind, const std::string& name) {
  return check_count("the name of " + kind_and_name(kind, name),
                     {name.size(), kLongestTensorName, "bytes"});
}

Status check_tensors(const char* kind, const std::vector<ModelTensor>& tensors) {
  TFAOT_TRY(check_count("the model", {tensors.size(), kMostTensors, fmt::format("{}s", kind)}));
  for (const ModelTensor& tensor : tensors) {
    TFAOT_TRY(check_name(kind, tensor.name));
    for (const std::string& name : tensor.dimensions) TFAOT_TRY(check_name("dimension", name));
    TFAOT_TRY(check_count(kind_and_name(kind, tensor.name),
                          {tensor.shape.size(), kMostDimensions, "dimensions"}));
  }
  return {};
}

}  // namespace

Status check_signature_limits(const EngineJob& job, const SourceModel& model) {
  TFAOT_TRY(check_name("signature", job.serving_key));
  TFAOT_TRY(check_tensors("input", model.inputs()));
  return check_tensors("output", model.outputs());
}

Status check_weight_limits(const std::vector<Variable>& weights) {
  TFAOT_TRY(check_count("the model", {weights.size(), kMostWeights, "weights"}));
  for (const Variable& weight : weights) TFAOT_TRY(check_name("weight", weight.name));
  return {};
}

Status check_ranks(const xla::HloModuleProto& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation.instructions()) {
      const std::string& node = instruction.metadata().op_name();
      TFAOT_TRY(
          check_count(kind_and_name("the result of", node.empty() ? instruction.opcode() : node),
                      {static_cast<std::size_t>(instruction.shape().dimensions_size()),
                       kMostDimensions, "dimensions"}));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
