// SPDX-License-Identifier: Apache-2.0
// Records of the config room: a validated aot_config.yaml with every default filled in and every
// path absolute.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tfaot::toolkit {

enum class ModelFormat { kSavedModel, kFrozenGraph };
enum class WeightsMode {
  kShared,    // weights are arguments of the code, stored once for all batch sizes and CPU levels
  kEmbedded,  // weights are constants inside every object
};

// What the generated headers need to compile.
enum class HeadersMode {
  kSelfContained,  // the package alone
  kCmssw,          // CMSSW's PhysicsTools/TensorFlowAOT and TensorFlow's XlaCompiledCpuFunction
};

// What rows of a batch have to do with each other.
enum class RowsMode {
  kAlone,    // nothing: any number of rows is composed of compiled sizes
  kCoupled,  // results depend on the other rows: only batches of compiled sizes run
};

// An input of a frozen graph; what is left out, the graph's placeholder says.
struct FrozenInput {
  std::string name;                                    // tensor name "x" or "x:0"
  std::string dtype;                                   // "float32"; empty: the placeholder's
  std::optional<std::vector<std::int64_t>> row_shape;  // without the batch dimension
};

struct ModelSection {
  std::string name;     // C++ identifier; the class is namespace::name
  std::string version;  // non-empty, [A-Za-z0-9][A-Za-z0-9._+-]*
  ModelFormat format = ModelFormat::kSavedModel;
  std::filesystem::path source;  // the SavedModel folder, or the frozen graph's file; absolute
  std::filesystem::path written_source;         // the same as the config has it
  std::string serving_key = "serving_default";  // SavedModel only, else empty
  std::vector<FrozenInput> inputs;              // frozen graph only
  std::vector<std::string> outputs;             // frozen graph only: tensor names "y" or "y:0"
  std::string author;
  std::string description;
};

struct CompilationSection {
  std::vector<std::int64_t> batch_sizes;       // positive, distinct, ascending
  std::string namespace_name = "tfaot_model";  // "a" or "a::b"
  std::string target_triple = "x86_64-unknown-linux-gnu";
  std::vector<std::string> cpu_levels;  // psABI names, ascending; see cpu_levels.h
  WeightsMode weights = WeightsMode::kShared;
  HeadersMode headers = HeadersMode::kSelfContained;
  RowsMode rows = RowsMode::kAlone;
  std::vector<std::string> tf_xla_flags;
  std::vector<std::string> xla_flags;
};

struct ModelSpec {
  std::filesystem::path config_file;  // absolute
  ModelSection model;
  CompilationSection compilation;
};

}  // namespace tfaot::toolkit
