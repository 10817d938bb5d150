// SPDX-License-Identifier: Apache-2.0
// What a model package holds and where it came from: its manifest.json (manifest_json.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/records/bits.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_record.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/validation.h"

namespace tfaot::toolkit {

struct ManifestFile {
  std::string path;  // relative to the package's root, with '/'
  std::string sha256;
  std::uint64_t size = 0;  // bytes
};

// What one call of one batch size costs at one CPU level.
struct TunedCall {
  std::int64_t batch_size = 0;
  std::string cpu_level;
  double ns = 0;   // nanoseconds, the median
  double low = 0;  // lower end of the median's confidence interval
  double high = 0;
  std::uint64_t repeats = 0;        // number of timings behind the median
  std::uint32_t live_permille = 0;  // CompiledCode::live_permille, for plans
};

// What `tfaot tune` measured.
struct Tuning {
  std::string cpu;               // of the machine
  std::vector<TunedCall> calls;  // by batch size, then CPU level, without levels the CPU cannot run
};

// How the package holds the model's weights.
struct ManifestWeights {
  WeightsMode storage = WeightsMode::kShared;
  std::uint64_t size = 0;
  std::string sha256;  // of the object that holds them
  WeightsType type = WeightsType::kFloat32;
  std::uint64_t model_size = 0;  // bytes of the weights in the model itself; 0: unknown
};

// manifest.json: what a package holds and where it came from. No dates, hosts or absolute paths.
struct Manifest {
  int schema_version = 1;
  std::string toolkit_version;  // of tfaot
  std::string name;             // model.name
  std::string version;          // model.version
  std::string author;
  std::string description;
  std::string cpp_class;     // "tfaot_model::test"
  std::string tool_name;     // "tfaot-model-test"
  std::string architecture;  // "x86_64-linux", the ARCH of the archive's name
  std::string target_triple;
  std::string engine;  // "tensorflow-cpu 2.18.1"
  Signature signature;
  BatchMode batch = BatchMode::kFirst;
  std::vector<std::int64_t> batch_sizes;
  std::vector<std::string> cpu_levels;
  HeadersMode headers = HeadersMode::kSelfContained;
  RowsMode rows = RowsMode::kAlone;
  std::vector<FreeDimension> dimensions;  // as in the config
  ManifestWeights weights;
  ComputeType compute = ComputeType::kFloat32;
  Optimization optimize = Optimization::kSpeed;
  std::vector<std::string> tf_xla_flags;
  std::vector<std::string> xla_flags;
  std::string source_sha256;
  std::vector<std::string> imports;   // symbols that its objects need from outside, sorted
  std::optional<ModelRecord> record;  // older packages have none
  std::optional<Tuning> tuning;
  std::optional<Validation> validation;  // by `tfaot validate --record`
  std::optional<SameBits> bits;          // by `tfaot validate --bits --record`
  std::vector<ManifestFile> files;       // every file but manifest.json, sorted by path
};

// `tool_name`: empty for default_tool_name(). `files`: all other files of the package.
Manifest make_manifest(const ModelSpec& spec, const CompiledModel& compiled,
                       const std::string& tool_name, std::vector<ManifestFile> files);

// Picoseconds of a call that `tfaot tune` measured, at least one; 0: nothing was measured.
std::uint64_t measured_cost(const Manifest& manifest, std::int64_t batch_size,
                            const std::string& cpu_level);

}  // namespace tfaot::toolkit
