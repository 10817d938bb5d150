// SPDX-License-Identifier: Apache-2.0
// What one engine process is asked to do: a share of the batch sizes of one model, for all CPU
// levels. The compile room writes it as JSON (engine_job_json.h) to a file. The path of that file
// is the engine's first argument.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/records/compiled_model.h"
#include "tfaot/records/counted_code.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/remote_cache.h"

namespace tfaot::toolkit {

// An input of a frozen graph; dtype and shape are empty if the placeholder gives them.
struct JobInput {
  std::string tensor;  // "x" or "x:0"
  std::optional<DType> dtype;
  bool has_shape = false;
  std::vector<std::int64_t> shape;  // -1: unknown; the batch comes first unless fixed_shapes
};

// A CPU level in the compiler's terms.
struct JobLevel {
  std::string name;          // "x86-64-v3", goes into file names and symbols
  std::string cpu;           // LLVM's -mcpu
  std::string features;      // LLVM's -mattr, "+avx2,-fma"
  std::string kernels = {};  // suffix of our kernels it may call, "x86_64_v3" (kernels/abi.h)
};

struct EngineJob {
  std::string model_name;
  ModelFormat format = ModelFormat::kSavedModel;
  std::string source;                          // folder or file, absolute
  std::string serving_key;                     // saved_model only
  std::vector<JobInput> inputs;                // frozen_graph only
  std::vector<std::string> outputs;            // frozen_graph only
  std::vector<DimensionSize> dimensions = {};  // that the model leaves open
  std::vector<ModelConstant> constants = {};
  bool any_opset = false;     // onnx only: newer ones too
  bool fixed_shapes = false;  // inputs have no batch: "row" means the whole tensor
  std::string symbol_prefix;  // "tfaot_tfaot_model_test"
  std::string target_triple;
  std::vector<std::int64_t> batch_sizes;  // of this process
  std::vector<JobLevel> levels;
  bool embed_weights = false;
  WeightsType weights_type = WeightsType::kFloat32;  // of products
  bool fast_math = true;  // kernels may round results with numbers that are not their own
  // Batch sizes in which the model must treat each row alone; empty: that is not checked here.
  std::vector<std::int64_t> row_sizes = {};
  Optimization optimize = Optimization::kSpeed;
  bool allow_coupled_rows = false;  // accept a model that does not; the result says so
  bool lower_only = false;          // no code: CompiledCode has only batch size, level and HLO hash
  bool check = false;             // go on after errors where possible, and say all (model_check.h)
  bool count_operations = false;  // make code that counts ticks (counted_code.h); never cached
  std::string compiler_flags;     // all flags from the environment, for the cache
  std::string cache_directory;    // of compiled code; empty: none
  RemoteCachePlace remote_cache;  // of compiled code, too
  std::string output_directory;   // objects are written here
  // Shared by all processes: each weight is written here once, to its own file.
  std::string weights_directory;
  std::string result_file;  // the EngineResult is written here at the end
  // What each step made is written here (hlo_graph.h); empty: nowhere. REQUIRES: one batch size and
  // one level. The code does not come from the cache.
  std::string dump_directory;
  bool dump_passes = false;  // after each of XLA's passes too
  // Not empty: nothing is compiled. TensorFlow's session runs the model as it is, for the inputs in
  // each of these folders, input_file(), and puts the outputs beside them, output_file().
  std::vector<std::string> predictions = {};
  // At most, for each of them but the first; or a hundred times what the first takes.
  std::int64_t prediction_seconds = 0;
};

// The arrays of one prediction, in the model's order: "input_0.npy".
inline std::string input_file(std::size_t index) {
  return "input_" + std::to_string(index) + ".npy";
}
inline std::string output_file(std::size_t index) {
  return "output_" + std::to_string(index) + ".npy";
}

struct EngineResult {
  CompiledModel model;
  // Of model.weights, in weights_directory; complete once all processes have succeeded.
  std::vector<std::string> weight_files;
  bool coupled_rows = false;       // the model does not treat each row alone
  std::uint64_t cached_bytes = 0;  // added to the cache's folder
  // For each of EngineJob::predictions: why TensorFlow did not make it; empty: it did. Then `model`
  // has only engine and signature.
  std::vector<std::string> refusals = {};
  std::vector<CountedCode> counted = {};  // with EngineJob::count_operations
};

}  // namespace tfaot::toolkit
