// SPDX-License-Identifier: Apache-2.0
#include "check_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/names.h"
#include "yaml_text.h"

namespace tfaot::toolkit::config {
namespace {

const char* why_not_for(ModelFormat format) {
  switch (format) {
    case ModelFormat::kSavedModel:
      return "a SavedModel's signature (model.serving_key) names its inputs and outputs; for a "
             "frozen graph write 'format: frozen_graph', for an ONNX file 'format: onnx', for "
             "StableHLO 'format: stablehlo'";
    case ModelFormat::kFrozenGraph:
      return "a frozen graph has no signature: its file is model.frozen_graph, its tensors are "
             "model.inputs and model.outputs";
    case ModelFormat::kOnnx:
      return "an ONNX file names its inputs and outputs: it is model.onnx, and sizes that it "
             "leaves "
             "open are model.dimensions";
    case ModelFormat::kStableHlo:
      break;
  }
  return "the function 'main' has the inputs and outputs: its file is model.stablehlo, and sizes "
         "that it leaves open are model.dimensions; arguments get a fixed value when you export it";
}

// Inputs with a shape: all of it, or without the batch.
void check_input_shapes(const Values& values, BatchMode batch, Problems& problems) {
  const Value* const inputs = good_value(values, "model.inputs");
  if (inputs == nullptr) return;
  for (const YAML::Node& item : inputs->node) {
    if (!item.IsMap()) continue;
    const YAML::Node shape = item["shape"];
    if (!shape || shape.IsNull() || starts_with_batch(shape) == (batch == BatchMode::kFirst)) {
      continue;
    }
    if (batch == BatchMode::kNone) {
      problems
          .add(shape.Mark(),
               "model.inputs.shape: the first dimension is unknown, but there is no "
               "batch")
          .note("write the whole shape, as in [3, 10], or leave out 'batch: none'");
      continue;
    }
    problems
        .add(shape.Mark(),
             fmt::format("model.inputs.shape: the first dimension is {}, but it must be the batch",
                         shape.size() == 0 ? "missing" : describe(shape[0])))
        .note("write null or -1 first: [null, 10]")
        .note("if the model has no batch, write 'batch: none' in 'compilation'");
  }
}

}  // namespace

const Value* good_value(const Values& values, const std::string& path) {
  const auto given = values.find(path);
  return given != values.end() && given->second.good ? &given->second : nullptr;
}

YAML::Node node_or_default(const Values& values, const std::string& path) {
  const auto given = values.find(path);
  return given != values.end() ? given->second.node : YAML::Load(config_key(path).fallback);
}

bool is_usable(const Values& values, const std::string& path) {
  const auto given = values.find(path);
  return given == values.end() || given->second.good;
}

void check_format(const Values& values, Problems& problems) {
  const auto model = values.find("model");
  if (model == values.end() || !is_usable(values, "model") || !is_usable(values, "model.format")) {
    return;
  }
  const auto format = word_at<ModelFormat>(values, "model.format");
  for (const ConfigKey* key : children_of("model")) {
    if (key->formats.empty()) continue;
    const auto given = values.find(key->path);
    if (given != values.end() && !belongs_to(*key, format)) {
      problems
          .add(given->second.key, fmt::format("{} cannot be used with the format '{}'",
                                              given->second.label, word_of(format)))
          .note(why_not_for(format));
    }
    if (given == values.end() && belongs_to(*key, format) && key->required) {
      problems.add(model->second.key, fmt::format("missing key '{}' in 'model'", key_name(*key)))
          .note(key->doc)
          .note("a frozen graph does not say which of its tensors these are");
    }
  }
}

void check_cpu_levels(const Values& values, Problems& problems) {
  const Value* const levels = good_value(values, "compilation.cpu_levels");
  if (levels == nullptr || !is_usable(values, "compilation.target_triple")) return;
  const std::string triple = node_or_default(values, "compilation.target_triple").Scalar();
  const std::string machine = processor_of(triple);
  const std::vector<std::string> allowed = allowed_cpu_levels(machine);
  for (const YAML::Node& level : levels->node) {
    if (contains(allowed, level.Scalar())) continue;
    problems
        .add(level.Mark(), fmt::format("{}: '{}' is not a level of the target {}", levels->label,
                                       level.Scalar(), triple))
        .note("allowed: " + describe_allowed_cpu_levels(machine));
  }
}

void check_object_count(const Values& values, Problems& problems) {
  const Value* const levels = good_value(values, "compilation.cpu_levels");
  const Value* const sizes = good_value(values, "compilation.batch_sizes");
  if (levels == nullptr || sizes == nullptr) return;
  const std::size_t objects = levels->node.size() * sizes->node.size();
  if (objects <= kMostObjects) return;
  problems
      .add(sizes->node.Mark(), fmt::format("{} batch sizes times {} CPU levels are {} objects",
                                           sizes->node.size(), levels->node.size(), objects))
      .note(fmt::format("allowed: at most {}", kMostObjects));
}

void check_batch(const Values& values, Problems& problems) {
  if (!is_usable(values, "compilation.batch") || !is_usable(values, "model.format")) return;
  const auto batch = word_at<BatchMode>(values, "compilation.batch");
  check_input_shapes(values, batch, problems);
  if (batch != BatchMode::kNone) return;
  for (const char* const key : {"compilation.batch_sizes", "compilation.rows"}) {
    const auto given = values.find(key);
    if (given == values.end()) continue;
    problems
        .add(given->second.key,
             fmt::format("{} cannot be used with 'batch: none'", given->second.label))
        .note("without a batch, one run computes whole tensors");
  }
}

void check_rows(const Values& values, Problems& problems) {
  const Value* const rows = good_value(values, "compilation.rows");
  if (rows == nullptr || !is_usable(values, "compilation.headers") ||
      word_at<RowsMode>(values, "compilation.rows") != RowsMode::kCoupled ||
      word_at<HeadersMode>(values, "compilation.headers") != HeadersMode::kCmssw) {
    return;
  }
  problems
      .add(rows->node.Mark(),
           fmt::format("{}: 'coupled' cannot be used with the headers 'cmssw'", rows->label))
      .note(
          "CMSSW's own PhysicsTools/TensorFlowAOT composes batches of any size; use the headers "
          "'self_contained'");
}

void check_compute(const Values& values, Problems& problems) {
  const Value* const type = good_value(values, "compilation.weights_type");
  if (type == nullptr || !is_usable(values, "compilation.compute") ||
      word_at<ComputeType>(values, "compilation.compute") != ComputeType::kBfloat16) {
    return;
  }
  const auto word = word_at<WeightsType>(values, "compilation.weights_type");
  if (word == WeightsType::kFloat32 || word == WeightsType::kBfloat16) return;
  problems
      .add(type->node.Mark(), fmt::format("{}: '{}' cannot be used with 'compute: bfloat16'",
                                          type->label, word_of(word)))
      .note("products of bfloat16 store their weights as bfloat16; leave out the type of weights");
}

void check_dimensions(const Values& values, Problems& problems) {
  const Value* const free = good_value(values, "compilation.dimensions");
  if (free == nullptr || free->node.size() == 0) return;
  if (is_usable(values, "compilation.headers") &&
      word_at<HeadersMode>(values, "compilation.headers") == HeadersMode::kCmssw) {
    problems.add(free->key, fmt::format("{} cannot be used with the headers 'cmssw'", free->label))
        .note(
            "CMSSW's own PhysicsTools/TensorFlowAOT calls code for fixed sizes; use the headers "
            "'self_contained'");
  }
  const Value* const fixed = good_value(values, "model.dimensions");
  if (fixed == nullptr) return;
  for (const auto& entry : free->node) {
    const std::string name = entry.first.Scalar();
    if (!fixed->node[name]) continue;
    problems.add(entry.first.Mark(), fmt::format("{}: '{}' has a size in {} too", free->label,
                                                 shown(name), fixed->label));
  }
}

}  // namespace tfaot::toolkit::config
