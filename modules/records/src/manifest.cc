// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/manifest.h"

#include <algorithm>
#include <cmath>

#include "tfaot/records/dtype.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

// 0 if the type of one is not a tensor's.
std::uint64_t bytes_of(const std::vector<Variable>& variables) {
  std::uint64_t bytes = 0;
  for (const Variable& variable : variables) {
    const auto dtype = parse_word<DType>(variable.dtype);
    if (!dtype) return 0;
    std::uint64_t size = size_of(*dtype);
    for (const std::int64_t length : variable.shape) size *= static_cast<std::uint64_t>(length);
    bytes += size;
  }
  return bytes;
}

}  // namespace

Manifest make_manifest(const ModelSpec& spec, const CompiledModel& compiled,
                       const std::string& tool_name, std::vector<ManifestFile> files) {
  std::ranges::sort(files, {}, &ManifestFile::path);
  Manifest manifest;
  manifest.toolkit_version = TFAOT_VERSION;
  manifest.name = spec.model.name;
  manifest.version = spec.model.version;
  manifest.author = spec.model.author;
  manifest.description = spec.model.description;
  manifest.cpp_class = cpp_class_of(spec);
  manifest.tool_name = tool_name.empty() ? default_tool_name(spec.model.name) : tool_name;
  manifest.architecture = architecture_of(compiled.target_triple);
  manifest.target_triple = compiled.target_triple;
  manifest.engine = compiled.engine;
  manifest.signature = compiled.signature;
  manifest.batch = spec.compilation.batch;
  manifest.batch_sizes = compiled.batch_sizes;
  manifest.cpu_levels = compiled.cpu_levels;
  manifest.headers = spec.compilation.headers;
  manifest.rows = spec.compilation.rows;
  manifest.dimensions = spec.compilation.dimensions;
  manifest.weights = {spec.compilation.weights, compiled.weights_size,
                      compiled.weights_object_sha256, spec.compilation.weights_type,
                      bytes_of(compiled.variables)};
  manifest.compute = spec.compilation.compute;
  manifest.optimize = spec.compilation.optimize;
  manifest.tf_xla_flags = spec.compilation.tf_xla_flags;
  manifest.xla_flags = spec.compilation.xla_flags;
  manifest.source_sha256 = compiled.source_sha256;
  manifest.files = std::move(files);
  return manifest;
}

std::uint64_t measured_cost(const Manifest& manifest, std::int64_t batch_size,
                            const std::string& cpu_level) {
  if (!manifest.tuning) return 0;
  for (const TunedCall& call : manifest.tuning->calls) {
    if (call.batch_size != batch_size || call.cpu_level != cpu_level) continue;
    return static_cast<std::uint64_t>(std::max(1LL, std::llround(call.ns * 1000)));
  }
  return 0;
}

}  // namespace tfaot::toolkit
