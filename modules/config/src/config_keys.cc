// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/config_keys.h"
#include "tfaot/records/model_record.h"

#include <algorithm>

#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/free_sizes.h"

namespace tfaot::toolkit {
namespace {

const TextRule kNotEmpty = {.meaning = "any string that is not empty", .min_length = 1};

const TextRule kTensorName = {
    .pattern = R"(^[A-Za-z0-9_.][A-Za-z0-9_.\\/>-]*(:[0-9]+)?$)",
    .meaning = "a tensor's name in the graph, like 'x', 'x:0' or 'scope/x:0'",
    .max_length = 1000};

// A config may come from somebody else, so its flags must not name files to write.
const TextRule kFlag = {
    .pattern = R"(^--(?!xla_dump_)[^\s=]+(=[^\s/]*)?$)",
    .meaning = "'--name' or '--name=value', without spaces and paths, and no --xla_dump_..."};

std::vector<std::string> all_cpu_levels() { return mapped(cpu_level_table(), &CpuLevel::name); }

// "x86-64, x86-64-v3 and x86-64-v4"
std::string listed(std::vector<std::string> names) {
  const std::string last = names.back();
  names.pop_back();
  return join(names, ", ") + " and " + last;
}

// Those of x86-64 that are no CPUs.
std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (const CpuLevel& level : cpu_level_table()) {
    if (level.architecture == "x86_64" && !level.is_cpu) names.push_back(level.name);
  }
  return names;
}

template <HasWords Enum>
ConfigKey word_key(std::string path, Enum fallback, std::string doc) {
  return {.path = std::move(path),
          .fallback = word_of(fallback),
          .allowed = words_of<Enum>(),
          .doc = std::move(doc)};
}

// The file or folder of a format's model.
ConfigKey source_key(ModelFormat format, std::string fallback, const std::string& doc) {
  return {.path = std::string("model.") + word_of(format),
          .formats = {format},
          .fallback = std::move(fallback),
          .text = kNotEmpty,
          .doc = doc + " relative to the config file; '~' is not expanded."};
}

std::vector<ConfigKey> model_keys() {
  return {
      {.path = "model", .type = KeyType::kMap, .required = true, .doc = "What is compiled."},
      {.path = "model.name",
       .required = true,
       .text = {.pattern = "^[A-Za-z_][A-Za-z0-9_]*$",
                .meaning = "a C++ identifier: letters, digits and '_', not starting with a digit",
                .cpp_name = true,
                .max_length = 100},
       .doc = "Name of the model and of its C++ class."},
      {.path = "model.version",
       .type = KeyType::kTextOrNumber,
       .required = true,
       .text = {.pattern = "^[A-Za-z0-9][A-Za-z0-9._+-]*$",
                .meaning = "a letter or digit, then letters, digits, '.', '_', '+' and '-'",
                .max_length = 100},
       .doc = "Version of the package; an unquoted number counts as its text."},
      {.path = "model.record_version",
       .type = KeyType::kWholeNumber,
       .maximum = kLargestRecordVersion,
       .doc = "The version as a number, for the conditions database; without it 1.2.3 is 1002003."},
      word_key("model.format", ModelFormat::kSavedModel,
               "How the model is stored: a SavedModel folder, one binary GraphDef file with the "
               "weights as constants, an ONNX file, or a file with StableHLO."),
      source_key(ModelFormat::kSavedModel, "./saved_model", "Folder of the SavedModel,"),
      {.path = "model.serving_key",
       .formats = {ModelFormat::kSavedModel},
       .fallback = "serving_default",
       .text = kNotEmpty,
       .doc = "The SavedModel's signature to compile."},
      source_key(ModelFormat::kFrozenGraph, "./frozen_graph.pb", "File of the frozen graph,"),
      source_key(ModelFormat::kOnnx, "./model.onnx", "File of the ONNX model,"),
      source_key(
          ModelFormat::kStableHlo, "./model.mlir",
          "File with StableHLO: MLIR as text, a portable artifact or what jax.export serializes;"),
      {.path = "model.dimensions",
       .type = KeyType::kSizes,
       .fallback = "{}",
       .maximum = kLargestSize,
       .doc =
           "Sizes of dimensions that the model leaves open, by name, as in {n_tracks: 50}, or by "
           "input and axis if they have no name, as in {\"x:1\": 50}; not of the batch."},
      {.path = "model.constants",
       .type = KeyType::kConstants,
       .formats = {ModelFormat::kSavedModel, ModelFormat::kFrozenGraph, ModelFormat::kOnnx},
       .fallback = "{}",
       .doc = "Values of placeholders that are no inputs, by name, as in "
              "{keras_learning_phase: false}; of an ONNX model: of inputs that shall be fixed. A "
              "number, true or false, or a list of them, in lists for more dimensions."},
      {.path = "model.opset",
       .formats = {ModelFormat::kOnnx},
       .fallback = word_of(OpsetMode::kKnown),
       .allowed = words_of<OpsetMode>(),
       .doc =
           "Versions of ONNX's operators: known: a model of a newer opset, or of a newer version "
           "of the format, is refused. any: it is read as if it were of the newest one that "
           "tfaot knows."},
      {.path = "model.inputs",
       .type = KeyType::kTextOrMap,
       .list = true,
       .distinct = true,
       .min_items = 1,
       .required = true,
       .formats = {ModelFormat::kFrozenGraph},
       .text = kTensorName,
       .doc = "Input tensors, in the order of the model's arguments: names, or maps that also say "
              "what the graph's placeholder does not."},
      {.path = "model.inputs[].name",
       .required = true,
       .text = kTensorName,
       .doc = "Name of the input tensor."},
      {.path = "model.inputs[].shape",
       .type = KeyType::kShape,
       .maximum = kLargestSize,
       .doc = "Shape of the input, the batch (null or -1) first if there is one; by default the "
              "placeholder's."},
      {.path = "model.inputs[].dtype",
       .allowed = words_of<DType>(),
       .doc = "Element type of the input; by default the placeholder's."},
      {.path = "model.outputs",
       .list = true,
       .distinct = true,
       .min_items = 1,
       .required = true,
       .formats = {ModelFormat::kFrozenGraph},
       .text = kTensorName,
       .doc = "Output tensors, in the order of the model's results."},
      {.path = "model.author",
       .type = KeyType::kTextOrNumber,
       .fallback = "''",
       .doc = "Who made the model; free text."},
      {.path = "model.description",
       .type = KeyType::kTextOrNumber,
       .fallback = "''",
       .text = {.max_length = 100000},
       .doc = "What the model is for; free text."},
  };
}

std::vector<ConfigKey> compilation_keys() {
  return {
      {.path = "compilation",
       .type = KeyType::kMap,
       .required = true,
       .doc = "How it is compiled."},
      word_key(
          "compilation.batch", BatchMode::kFirst,
          "first: the first dimension of all inputs and outputs is the batch. none: there is no "
          "batch, one run computes whole tensors (see docs/config.md)."),
      {.path = "compilation.batch_sizes",
       .type = KeyType::kWholeNumber,
       .list = true,
       .distinct = true,
       .min_items = 1,
       .max_items = kMostBatchSizes,
       .required = true,
       .maximum = kLargestBatchSize,
       .doc = "Batch sizes to compile code for; left out if there is no batch."},
      {.path = "compilation.namespace",
       .fallback = "tfaot_model",
       .text = {.pattern = "^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$",
                .meaning = "a C++ namespace like 'a' or 'a::b'",
                .cpp_name = true,
                .max_length = 200},
       .doc = "C++ namespace of the model's class."},
      {.path = "compilation.target_triple",
       .fallback = "x86_64-unknown-linux-gnu",
       .text = {.pattern = "^(x86_64|aarch64)-[A-Za-z0-9_.]+-linux(-[A-Za-z0-9_.]+)?$",
                .meaning = "'x86_64-*-linux*' or 'aarch64-*-linux*', like "
                           "'x86_64-unknown-linux-gnu' or 'aarch64-unknown-linux-gnu'",
                .max_length = 100},
       .doc = "Machine the code is for."},
      {.path = "compilation.cpu_levels",
       .list = true,
       .distinct = true,
       .min_items = 1,
       .allowed = all_cpu_levels(),
       .text = {.meaning = listed(level_names()) +
                           ", or generic on aarch64, or a CPU of LLVM such as haswell, znver4 or "
                           "neoverse-n1 (see docs/config.md)"},
       .doc = "CPU levels to compile for; the best one the machine has is chosen at run time. By "
              "default " +
              listed(default_cpu_levels("x86_64")) + ", or generic on aarch64."},
      word_key(
          "compilation.weights", WeightsMode::kShared,
          "Where weights are stored: once in the package, shared by all objects, or as constants "
          "inside every object."),
      word_key("compilation.weights_type", WeightsType::kFloat32,
               "How the weights of dense layers and other products are stored: in fewer bits the "
               "model is smaller, faster at small batches and less accurate (see "
               "docs/weights.md)."),
      word_key("compilation.compute", ComputeType::kFloat32,
               "How products and convolutions with weights multiply. bfloat16: numbers and weights "
               "are rounded to 8 bits of precision and summed in float32, which is less accurate, "
               "and faster where the machine multiplies bfloat16 (see docs/weights.md)."),
      word_key("compilation.optimize", Optimization::kSpeed,
               "What code and weights are made for: speed, or size, which stores no weight in a "
               "layout that has more numbers than the model (see docs/weights.md)."),
      word_key("compilation.headers", HeadersMode::kSelfContained,
               "What the C++ headers are made for: any C++17 program, or CMSSW's own "
               "PhysicsTools/TensorFlowAOT with TensorFlow's runtime (see docs/cmssw.md)."),
      word_key(
          "compilation.rows", RowsMode::kAlone,
          "alone: rows are independent and any number runs. coupled: rows depend on each other "
          "and only compiled sizes run (see docs/config.md)."),
      {.path = "compilation.dimensions",
       .type = KeyType::kRanges,
       .fallback = "{}",
       .maximum = kLargestSize,
       .doc = "Dimensions whose sizes each call chooses, with their smallest and largest size, as "
              "in {n_tracks: 1..50}; named as in model.dimensions. The name of another one, as in "
              "{n_hits: n_tracks}, means the same size (see docs/dimensions.md)."},
      {.path = "compilation.tf_xla_flags",
       .list = true,
       .fallback = "[]",
       .text = kFlag,
       .doc = "Flags for the conversion from TensorFlow to XLA, as in TF_XLA_FLAGS."},
      {.path = "compilation.xla_flags",
       .list = true,
       .fallback = "[]",
       .text = kFlag,
       .doc = "Flags for XLA itself, as in XLA_FLAGS."},
  };
}

std::vector<ConfigKey> make_table() {
  std::vector<ConfigKey> table = model_keys();
  const std::vector<ConfigKey> more = compilation_keys();
  table.insert(table.end(), more.begin(), more.end());
  table.push_back(
      {.path = "$schema", .doc = "Where editors find the JSON Schema; tfaot does not use it."});
  return table;
}

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> table = make_table();
  return table;
}

const ConfigKey& config_key(const std::string& path) {
  return *std::ranges::find(config_keys(), path, &ConfigKey::path);
}

std::vector<const ConfigKey*> children_of(const std::string& map) {
  const std::string prefix = map.empty() ? "" : map + ".";
  std::vector<const ConfigKey*> children;
  for (const ConfigKey& key : config_keys()) {
    if (key.path.starts_with(prefix) && key.path == prefix + key_name(key)) {
      children.push_back(&key);
    }
  }
  return children;
}

bool belongs_to(const ConfigKey& key, ModelFormat format) { return contains(key.formats, format); }

std::string key_name(const ConfigKey& key) { return key.path.substr(key.path.rfind('.') + 1); }

}  // namespace tfaot::toolkit
