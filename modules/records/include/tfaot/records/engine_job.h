// SPDX-License-Identifier: Apache-2.0
// The jobs of an engine process, one struct for each. The compile room hands a job over as JSON
// (engine_job_json.h); the file that contains it is the engine's first argument.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tfaot/records/compiled_model.h"
#include "tfaot/records/counted_code.h"
#include "tfaot/records/hlo_graph.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/operation_result.h"
#include "tfaot/records/remote_cache.h"

namespace tfaot::toolkit {

// An input of a frozen graph; dtype and shape are empty if the placeholder gives them.
struct JobInput {
  std::string tensor;  // "x" or "x:0"
  std::optional<DType> dtype;
  bool has_shape = false;
  std::vector<std::int64_t> shape;  // -1: unknown; the batch comes first unless fixed_shapes
};

// A model, and how it is loaded.
struct JobModel {
  ModelFormat format = ModelFormat::kSavedModel;
  std::string source;                               // folder or file, absolute
  std::string serving_key;                          // saved_model only
  std::vector<JobInput> inputs;                     // frozen_graph only
  std::vector<std::string> outputs;                 // frozen_graph only
  std::vector<DimensionSize> dimensions = {};       // that the model leaves open
  std::vector<FreeDimension> free_dimensions = {};  // that the code leaves open, too
  std::vector<ModelConstant> constants = {};
  bool any_opset = false;     // onnx only: newer ones too
  bool fixed_shapes = false;  // inputs have no batch: "row" means the whole tensor
};

// A CPU level in the compiler's terms.
struct JobLevel {
  std::string name;          // "x86-64-v3", goes into file names and symbols
  std::string cpu;           // LLVM's -mcpu
  std::string features;      // LLVM's -mattr, "+avx2,-fma"
  std::string kernels = {};  // suffix of our kernels it may call, "x86_64_v3" (kernels/abi.h)
};

// What a job does about rows that depend on each other. Rows that do not get the same operations in
// batches of any size, whatever these sizes are in the model itself.
enum class RowsRule {
  kAny,       // nothing: they may
  kAlone,     // they do not, or the model is refused
  kReported,  // the result says whether they do
};
template <>
inline constexpr auto kWords<RowsRule> = std::to_array<Word<RowsRule>>(
    {{RowsRule::kAny, "any"}, {RowsRule::kAlone, "alone"}, {RowsRule::kReported, "reported"}});

// The HLO of a model, for some of its batch sizes.
struct JobHlo {
  JobModel model;
  std::vector<std::int64_t> batch_sizes;  // of this process
  std::vector<JobLevel> levels;
  bool embed_weights = false;
  WeightsType weights_type = WeightsType::kFloat32;  // of products
  ComputeType compute = ComputeType::kFloat32;
  bool fast_math = true;  // the rounding of one row may depend on the other rows
  Optimization optimize = Optimization::kSpeed;
  RowsRule rows = RowsRule::kAny;
  // Batch sizes in which it is checked whether rows are alone; empty: not here.
  std::vector<std::int64_t> row_sizes = {};
  // Shared by all processes: each weight is written here once, to its own file.
  std::string weights_directory;
};

// The code that is made from the HLO.
struct JobCode {
  std::string model_name;
  std::string symbol_prefix;  // "tfaot_tfaot_model_test"
  std::string target_triple;
  std::string output_directory;  // for the objects
};

// Where code is kept for later jobs.
struct JobCache {
  std::string directory;  // empty: nowhere
  RemoteCachePlace remote;
  std::string compiler_flags;  // all flags from the environment
};

// Where the result of each step is written (hlo_graph.h).
struct JobDump {
  std::string directory;  // empty: nowhere
  bool passes = false;    // after each pass too
};

// Jobs with an EngineResult, which the engine writes to result_file() at the end.

struct CompileJob {
  JobHlo hlo;
  JobCode code;
  JobCache cache;
};

// Compiles, and goes on after errors where possible. Prints all that it finds as lines of JSON
// (model_check.h).
struct CheckJob {
  CompileJob compile;
};

// Makes no code: each CompiledCode has only batch size, level, weights and the HLO's hash.
struct LowerJob {
  JobHlo hlo;
  JobDump dump;
};

// Makes code that counts the ticks of its operations (counted_code.h).
struct CountJob {
  JobHlo hlo;
  JobCode code;
};

// Makes code that also returns the results of its operations (operation_result.h). REQUIRES: one
// batch size.
struct ResultsJob {
  JobHlo hlo;
  JobCode code;
};

// Shows how code is made. REQUIRES: one batch size and one level.
struct DumpJob {
  JobHlo hlo;
  JobCode code;
  JobDump dump;
};

// Runs the model as it is, in TensorFlow's session, for the inputs in each of these folders,
// input_file(), and writes the outputs next to them, output_file().
struct PredictJob {
  JobModel model;
  std::int64_t batch_size = 1;  // of the signature; the inputs may have any number of rows
  std::vector<std::string> folders;
  // Limit for each folder but the first; or a hundred times what the first takes, if that is more.
  std::int64_t seconds = 0;
};

// Jobs that the engine answers by lines of JSON. Their parsers are TensorFlow's and XLA's.

// Prints a ModelDescription, and again whenever it knows more.
struct DescribeJob {
  std::string source;  // a SavedModel's folder, or a file of any other format
};

// Prints an EngineCheck with the operations that can be compiled.
struct OperationsJob {
  ModelFormat format = ModelFormat::kSavedModel;
};

// Prints a Tf2xlaConfig.
struct Tf2xlaConfigJob {
  std::string file;
};

// For an HloQuestion it prints an HloGraph for each file.
using EngineJob =
    std::variant<CompileJob, CheckJob, LowerJob, CountJob, ResultsJob, DumpJob, PredictJob,
                 DescribeJob, OperationsJob, Tf2xlaConfigJob, HloQuestion>;

// The arrays of one prediction, in the model's order: "input_0.npy".
inline std::string input_file(std::size_t index) {
  return "input_" + std::to_string(index) + ".npy";
}
inline std::string output_file(std::size_t index) {
  return "output_" + std::to_string(index) + ".npy";
}

// The result's place, next to the file that contains the job.
inline std::filesystem::path result_file(std::filesystem::path job_file) {
  return job_file.replace_extension(".json");
}

// A tensorflow.tf2xla.Config, which tfcompile takes as --config.
struct Tf2xlaFeed {
  std::string tensor;               // "x:0"
  std::string name;                 // of the accessors, may be empty
  std::string dtype;                // TensorFlow's name, "float32"; empty: as in the graph
  std::vector<std::int64_t> shape;  // with the batch
};
struct Tf2xlaFetch {
  std::string tensor;
  std::string name;
};
struct Tf2xlaConfig {
  std::vector<Tf2xlaFeed> feeds;
  std::vector<Tf2xlaFetch> fetches;
  std::uint32_t variables = 0;
};

struct EngineResult {
  CompiledModel model;
  // Of model.weights, in weights_directory; complete once all processes have succeeded.
  std::vector<std::string> weight_files;
  bool coupled_rows = false;       // the model does not treat each row alone
  std::uint64_t cached_bytes = 0;  // added to the cache's folder
  // For each folder of a PredictJob: why TensorFlow did not run it; empty: it did. Then `model` has
  // only engine and signature.
  std::vector<std::string> refusals = {};
  std::vector<CountedCode> counted = {};      // of a CountJob
  std::vector<OperationResult> results = {};  // of a ResultsJob
};

}  // namespace tfaot::toolkit
