// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <mutex>

#include "elf_objects.h"
#include "engine_jobs.h"
#include "engine_run.h"
#include "tfaot/base/file_cache.h"
#include "tfaot/base/hash.h"
#include "tfaot/compile/job_json.h"

namespace tfaot {
namespace {

// Counts the steps of all processes into one progress.
class Progress {
 public:
  Progress(Diagnostics& diagnostics, std::size_t total)
      : diagnostics_(diagnostics), total_(total) {}
  void step(const std::string& text) {
    const std::lock_guard lock(mutex_);
    diagnostics_.progress(++done_, total_, text);
  }

 private:
  Diagnostics& diagnostics_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::mutex mutex_;
};

Result<std::vector<CompiledModel>> run_all(FileSystem& fs, const ModelSpec& spec,
                                           const std::vector<EngineJob>& jobs,
                                           const CompileOptions& options,
                                           Diagnostics& diagnostics) {
  Progress progress(diagnostics, spec.compilation.batch_sizes.size() * jobs.front().levels.size());
  std::vector<std::future<Result<CompiledModel>>> running;
  for (const auto& job : jobs) {
    const Path file = Path(job.result_file).replace_extension(".job");
    TFAOT_TRY(fs.replace_atomically(file, engine_job_to_json(job)));
    running.push_back(std::async(std::launch::async, [&, file] {
      return run_engine(
          fs, spec, job, file, options, [&](const std::string& text) { progress.step(text); },
          diagnostics);
    }));
  }
  // All are waited for, so that none writes on after an error is returned.
  std::vector<Result<CompiledModel>> results;
  results.reserve(running.size());
  for (auto& one : running) results.push_back(one.get());
  std::vector<CompiledModel> parts;
  for (auto& result : results) {
    if (!result) return fail(std::move(result).error());
    parts.push_back(std::move(*result));
  }
  return parts;
}

bool same_rows(const std::vector<TensorSpec>& a, const std::vector<TensorSpec>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const TensorSpec& x, const TensorSpec& y) { return x.row_shape == y.row_shape; });
}

// Every process describes the whole model and its own share of the code.
Result<CompiledModel> merge(const ModelSpec& spec, std::vector<CompiledModel> parts,
                            const std::vector<JobLevel>& levels) {
  CompiledModel merged = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (!same_rows(merged.signature.outputs, parts[i].signature.outputs)) {
      return fail(Error::at({spec.model.source.string()},
                            "the shape of an output row depends on the batch size"));
    }
    std::move(parts[i].codes.begin(), parts[i].codes.end(), std::back_inserter(merged.codes));
  }
  for (const auto& level : levels) merged.cpu_levels.push_back(level.name);
  merged.batch_sizes = spec.compilation.batch_sizes;
  std::sort(merged.codes.begin(), merged.codes.end(),
            [](const CompiledCode& a, const CompiledCode& b) {
              return std::tie(a.batch_size, a.cpu_level) < std::tie(b.batch_size, b.cpu_level);
            });
  return merged;
}

Status add_weights_object(FileSystem& fs, const ModelSpec& spec, const CompileOptions& options,
                          CompiledModel& compiled) {
  if (compiled.weights_size == 0) return {};
  compiled.weights_object = spec.model.name + "_weights.o";
  compiled.weights_symbol = symbol_prefix(spec) + "_weights";
  TFAOT_ASSIGN(const auto blob, fs.read(options.work_directory / "weights.bin"));
  TFAOT_ASSIGN(const auto object,
               make_data_object(blob, compiled.weights_symbol, spec.compilation.target_triple));
  return fs.replace_atomically(options.work_directory / compiled.weights_object, object);
}

// Gives the entry of every object its name, and looks at what it calls.
Status finish_objects(FileSystem& fs, const CompileOptions& options, CompiledModel& compiled) {
  for (auto& code : compiled.codes) {
    const Path file = options.work_directory / code.object;
    TFAOT_ASSIGN(const auto neutral, fs.read(file));
    TFAOT_ASSIGN(code.kernels, undefined_symbols(neutral, "__xla"));
    TFAOT_ASSIGN(const auto object,
                 rename_symbol(neutral, {kNeutralEntrySymbol, code.entry_symbol}));
    TFAOT_TRY(fs.replace_atomically(file, object));
  }
  return {};
}

// Only what was added can have made the cache too large.
void trim_cache(FileSystem& fs, const CodeCacheOptions& cache, const CompiledModel& compiled,
                Diagnostics& diagnostics) {
  const bool all_cached = std::all_of(compiled.codes.begin(), compiled.codes.end(),
                                      [](const CompiledCode& code) { return code.from_cache; });
  if (cache.folder.empty() || all_cached) return;
  const Status trimmed = FileCache(fs, cache.folder).trim(cache.limit);
  if (!trimmed) diagnostics.verbose("the code cache is not trimmed: " + trimmed.error().text());
}

}  // namespace

Result<CompiledModel> compile_model(FileSystem& fs, const ModelSpec& spec,
                                    const CompileOptions& options, Diagnostics& diagnostics) {
  const auto jobs = make_engine_jobs(spec, options);
  TFAOT_ASSIGN(auto parts, run_all(fs, spec, jobs, options, diagnostics));
  TFAOT_ASSIGN(auto compiled, merge(spec, std::move(parts), jobs.front().levels));
  TFAOT_TRY(add_weights_object(fs, spec, options, compiled));
  TFAOT_TRY(finish_objects(fs, options, compiled));
  trim_cache(fs, options.cache, compiled, diagnostics);
  TFAOT_ASSIGN(compiled.source_sha256, sha256_of_tree(fs, spec.model.source));
  return compiled;
}

}  // namespace tfaot
