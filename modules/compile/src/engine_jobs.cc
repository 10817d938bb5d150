// SPDX-License-Identifier: Apache-2.0
#include "engine_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/base/letter_case.h"
#include "tfaot/base/text.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/symbols.h"

namespace tfaot::toolkit {
namespace {

std::vector<JobInput> job_inputs(const ModelSpec& spec) {
  std::vector<JobInput> inputs;
  for (const auto& input : spec.model.inputs) {
    JobInput job{input.name, input.dtype, input.row_shape.has_value(), {}};
    if (input.row_shape) {
      if (spec.compilation.batch == BatchMode::kFirst) job.shape.push_back(-1);
      job.shape.insert(job.shape.end(), input.row_shape->begin(), input.row_shape->end());
    }
    inputs.push_back(std::move(job));
  }
  return inputs;
}

// What the config says, if it does: the last flag counts, in any spelling that XLA reads.
bool has_fast_math(const ModelSpec& spec) {
  const std::string flag = "--xla_cpu_enable_fast_math";
  bool has = true;
  for (const std::string& one : spec.compilation.xla_flags) {
    if (one == flag) has = true;
    if (!one.starts_with(flag + "=")) continue;
    const std::string value = lower_case(one.substr(flag.size() + 1));
    has = value != "false" && value != "0";
  }
  return has;
}

}  // namespace

std::vector<JobLevel> job_levels(const std::vector<std::string>& cpu_levels) {
  std::vector<JobLevel> levels;
  for (const auto& word : cpu_levels) {
    const std::string name = word == "native" ? native_cpu_level() : word;
    const bool known = std::any_of(levels.begin(), levels.end(),
                                   [&](const JobLevel& level) { return level.name == name; });
    const CpuLevel& level = cpu_level(name);
    if (!known) levels.push_back({name, name, compiler_features(level), level.kernels});
  }
  std::sort(levels.begin(), levels.end(),
            [](const JobLevel& a, const JobLevel& b) { return ascend(a.name, b.name); });
  return levels;
}

std::map<std::string, std::string> engine_environment(const ModelSpec& spec) {
  std::vector<std::string> xla_flags = {
      // Otherwise objects call the multi-threaded kernels, which crash without a thread pool.
      "--xla_cpu_multi_thread_eigen=false",
      // Otherwise a maximum drops NaNs, which TensorFlow keeps. Costs nothing.
      "--xla_cpu_enable_fast_min_max=false",
      // XLA's fast_math stays off: it reorders sums, so that x + (1 - m) * -1e9 loses x, and nets
      // take 0.97 to 1.04 of their time with it.
  };
  if (spec.compilation.optimize == Optimization::kSize) {
    xla_flags.push_back("--xla_backend_extra_options=xla_cpu_optimize_for_size");
  }
  xla_flags.insert(xla_flags.end(), spec.compilation.xla_flags.begin(),
                   spec.compilation.xla_flags.end());
  return {{"XLA_FLAGS", join(xla_flags, " ")},
          {"TF_XLA_FLAGS", join(spec.compilation.tf_xla_flags, " ")},
          {"TF_CPP_MIN_LOG_LEVEL", "2"},
          {"TF_ENABLE_ONEDNN_OPTS", "0"}};
}

std::vector<EngineJob> make_engine_jobs(const ModelSpec& spec, const CompileOptions& options) {
  EngineJob common;
  common.model_name = spec.model.name;
  common.format = spec.model.format;
  common.source = spec.model.source.string();
  common.serving_key = spec.model.serving_key;
  common.inputs = job_inputs(spec);
  common.outputs = spec.model.outputs;
  common.dimensions = spec.model.dimensions;
  common.constants = spec.model.constants;
  common.any_opset = spec.model.opset == OpsetMode::kAny;
  common.fixed_shapes = spec.compilation.batch == BatchMode::kNone;
  common.allow_coupled_rows = options.allow_coupled_rows;
  common.check = options.check != nullptr;
  common.symbol_prefix = symbol_prefix(spec.compilation.namespace_name, spec.model.name);
  common.target_triple = spec.compilation.target_triple;
  common.levels = job_levels(spec.compilation.cpu_levels);
  common.weights_type = spec.compilation.weights_type;
  common.optimize = spec.compilation.optimize;
  common.fast_math = has_fast_math(spec);
  common.embed_weights = spec.compilation.weights == WeightsMode::kEmbedded;
  for (const auto& [name, value] : engine_environment(spec)) {
    common.compiler_flags += fmt::format("{}={}\n", name, value);
  }
  common.count_operations = options.counted != nullptr;
  if (!common.count_operations) {
    common.cache_directory = options.cache.folder.string();
    common.remote_cache = options.cache.remote;
  }
  common.output_directory = options.work_directory.string();
  common.weights_directory = (options.work_directory / "weights").string();
  common.dump_directory = options.dump_directory.string();
  common.dump_passes = options.dump_passes;

  const auto& sizes = spec.compilation.batch_sizes;
  // One process that checks finds the problems of the sizes in their order.
  const std::size_t processes = options.check != nullptr ? 1 : options.jobs;
  const std::size_t count = std::clamp<std::size_t>(processes, 1, sizes.size());
  std::vector<EngineJob> jobs(count, common);
  for (std::size_t i = 0; i < sizes.size(); ++i) jobs[i % count].batch_sizes.push_back(sizes[i]);
  for (std::size_t i = 0; i < count; ++i) {
    jobs[i].result_file = (options.work_directory / fmt::format("result_{}.json", i)).string();
  }
  // One process checks for all.
  if (spec.compilation.rows == RowsMode::kAlone && spec.compilation.batch == BatchMode::kFirst) {
    jobs.front().row_sizes = sizes;
  }
  return jobs;
}

}  // namespace tfaot::toolkit
