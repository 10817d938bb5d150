// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "engine_run.h"
#include "merge.h"
#include "tfaot/base/file_cache.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/job_slots.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/compile/symbol_hash.h"
#include "tfaot/elf/symbols.h"
#include "tfaot/records/allowed_calls.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/model_check_json.h"
#include "tfaot/records/symbols.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kLoweringsInAProcess = 8;

// Adds up the steps of all processes.
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

// Passes each warning on once: several processes may see the same, such as a dead cache.
class DistinctWarnings final : public Diagnostics {
 public:
  explicit DistinctWarnings(Diagnostics& next) : next_(next) {}
  void warning(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    if (said_.insert(text).second) next_.warning(text);
  }
  void verbose(const std::string& text) override { next_.verbose(text); }
  void progress(std::size_t done, std::size_t total, const std::string& step) override {
    next_.progress(done, total, step);
  }

 private:
  Diagnostics& next_;
  std::set<std::string> said_;
  std::mutex mutex_;
};

Result<std::vector<EngineResult>> run_all(FileSystem& fs, const ModelSpec& spec,
                                          const std::vector<EngineCall>& calls,
                                          const CompileOptions& options, Diagnostics& diagnostics) {
  DistinctWarnings distinct(diagnostics);
  const std::size_t levels = job_levels(spec.compilation.cpu_levels).size();
  Progress progress(distinct, spec.compilation.batch_sizes.size() * levels);
  std::vector<std::future<Result<EngineResult>>> running;
  for (const EngineCall& call : calls) {
    running.push_back(std::async(std::launch::async, [&] {
      return run_engine(
          fs, spec, call, options, [&](const std::string& text) { progress.step(text); }, distinct);
    }));
  }
  // If one fails, the end of `running` waits for the others: none is still writing then.
  std::vector<EngineResult> parts;
  for (auto& one : running) {
    TFAOT_ASSIGN(EngineResult part, one.get());
    parts.push_back(std::move(part));
  }
  return parts;
}

Status add_weights_object(FileSystem& fs, const ModelSpec& spec, const CompileOptions& options,
                          MergedModel& merged) {
  if (merged.weight_files.empty()) return {};
  merged.model.weights_object = weights_file_name(spec.model.name);
  const std::string prefix = symbol_prefix(spec.compilation.namespace_name, spec.model.name);
  return write_weights_object(fs, merged, weights_symbol(prefix),
                              options.work_directory / merged.model.weights_object);
}

bool is_kernel(const std::string& symbol) {
  return symbol.starts_with("__xla") || symbol.starts_with(kSymbolPrefix);
}

// `calls`: all undefined symbols of the code. Without this check, tfaot could make a package that
// no program can be linked with.
Status check_calls(const ModelSpec& spec, const CheckedCode& code,
                   const std::vector<std::string>& calls) {
  std::vector<Error> errors;
  for (const auto& symbol : calls) {
    const CallKind kind = kind_of_call(symbol);
    const bool offered = is_kernel(symbol) ? runtime_offers(symbol, spec.compilation.target_triple)
                                           : kind < CallKind::kMathematics;
    if (offered && kind != CallKind::kAllocating) continue;
    errors.push_back(Error::at({spec.model.source.string()},
                               fmt::format("the code for batch size {}, {}, calls '{}', which {}",
                                           code.batch_size, code.cpu_level, symbol,
                                           offered ? "asks for memory when it runs"
                                                   : "libtfaot_runtime does not have"))
                         .note("do this part outside of the model, or express it with other ops")
                         .about(word_of(ProblemKind::kRuntimeSymbol), {symbol}));
  }
  return all_or_first(std::move(errors));
}

// Adds the calls of functions that the runtime lacks, of all code that was made.
void check_all_calls(FileSystem& fs, const ModelSpec& spec, const Path& folder,
                     EngineCheck& check) {
  for (const CheckedCode& code : check.codes) {
    const auto object = fs.read(folder / code.object);
    const auto calls = object ? undefined_symbols(*object, {""}) : fail(object.error());
    const Status known = calls ? check_calls(spec, code, *calls) : fail(calls.error());
    if (known) continue;
    for (ModelProblem& problem : problems_of(known.error(), code.batch_size)) {
      add_problem(check.problems, std::move(problem));
    }
  }
}

// The hash of a cache's entry shows damage, not malice: one may be whole and still not be code.
Error of_object(const CompileOptions& options, const CompiledCode& code, const Error& error) {
  if (!code.from_cache) return error;
  return Error::at({options.cache.folder.string()},
                   "the code cache holds an entry that is not code")
      .note(
          fmt::format("of batch size {}, {}: {}", code.batch_size, code.cpu_level, error.message()))
      .note("compile with --no-cache, or remove the folder");
}

// Renames the entry of every object and checks what it calls.
Status finish_objects(FileSystem& fs, const ModelSpec& spec, const CompileOptions& options,
                      CompiledModel& compiled) {
  for (auto& code : compiled.codes) {
    code.cpu_features = cpu_level(code.cpu_level).features;
    const Path file = options.work_directory / code.object;
    TFAOT_ASSIGN(const auto neutral, fs.read(file));
    const auto calls = undefined_symbols(neutral, {""});
    if (!calls) return fail(of_object(options, code, calls.error()));
    TFAOT_TRY(check_calls(spec, {code.batch_size, code.cpu_level, code.object}, *calls));
    code.entry_symbol = symbol_name(code.entry_symbol, neutral);
    const auto object = rename_symbol(neutral, {kNeutralEntrySymbol, code.entry_symbol});
    if (!object) return fail(of_object(options, code, object.error()));
    std::copy_if(calls->begin(), calls->end(), std::back_inserter(code.kernels), is_kernel);
    TFAOT_TRY(fs.replace_atomically(file, *object, Durability::kScratch));
  }
  return {};
}

void trim_cache(FileSystem& fs, const CodeCacheOptions& cache,
                const std::vector<EngineResult>& parts, Diagnostics& diagnostics) {
  std::uint64_t added = 0;
  for (const EngineResult& part : parts) added += part.cached_bytes;
  if (added == 0) return;
  const Status trimmed = FileCache(fs, cache.folder).trim_after_adding(added, cache.limit);
  if (!trimmed) diagnostics.verbose("the code cache is not trimmed: " + trimmed.error().text());
}

// Makes an engine's job of its share of the work.
using JobOf = std::function<EngineJob(CompileJob)>;

std::vector<EngineCall> calls_of(const ModelSpec& spec, const CompileOptions& options,
                                 const JobOf& job_of) {
  std::vector<EngineCall> calls;
  for (CompileJob& share : make_compile_jobs(spec, options)) {
    const Path file = options.work_directory / fmt::format("result_{}.job", calls.size());
    std::string what = fmt::format("batch sizes {}", fmt::join(share.hlo.batch_sizes, ", "));
    calls.push_back({job_of(std::move(share)), file, std::move(what)});
  }
  return calls;
}

// The combined result of all processes, except for the names of the entries.
Result<CompiledModel> run_calls(FileSystem& fs, const ModelSpec& spec,
                                const std::vector<EngineCall>& calls, const CompileOptions& options,
                                Diagnostics& diagnostics) {
  // The model is as large as its weights, so it is hashed while the engine works.
  auto source_sha256 =
      std::async(std::launch::async, [&] { return model_sha256(fs, spec.model.source); });
  TFAOT_ASSIGN(auto parts, run_all(fs, spec, calls, options, diagnostics));
  trim_cache(fs, options.cache, parts, diagnostics);
  auto merged = merge_parts(fs, options.work_directory / kWeightsFolder, parts);
  if (!merged) {
    return fail(Error::at({spec.model.source.string()}, merged.error().message()));
  }
  if (options.counted != nullptr) {
    for (EngineResult& part : parts) {
      std::ranges::move(part.counted, std::back_inserter(*options.counted));
    }
  }
  if (options.results != nullptr) *options.results = std::move(parts.front().results);
  merged->model.target_triple = spec.compilation.target_triple;
  TFAOT_TRY(add_weights_object(fs, spec, options, *merged));
  CompiledModel compiled = std::move(merged->model);
  compiled.coupled_rows = parts.front().coupled_rows;  // from the process that checked
  compiled.batch_sizes = spec.compilation.batch_sizes;
  compiled.cpu_levels = mapped(job_levels(spec.compilation.cpu_levels), &JobLevel::name);
  TFAOT_ASSIGN(compiled.source_sha256, source_sha256.get());
  return compiled;
}

EngineJob compiling_job(const CompileOptions& options, CompileJob share) {
  if (options.check != nullptr) return CheckJob{std::move(share)};
  if (options.counted != nullptr) return CountJob{std::move(share.hlo), std::move(share.code)};
  if (options.results != nullptr) return ResultsJob{std::move(share.hlo), std::move(share.code)};
  if (options.dump.directory.empty()) return share;
  return DumpJob{std::move(share.hlo), std::move(share.code), options.dump};
}

}  // namespace

Result<CompiledModel> compile_model(FileSystem& fs, const ModelSpec& spec,
                                    const CompileOptions& options, Diagnostics& diagnostics) {
  TFAOT_TRY(check_model_files(fs, spec.model.source));
  const JobSlots slots(options.makeflags, options.jobs);
  CompileOptions within = options;
  within.jobs = static_cast<unsigned>(slots.count());
  const auto calls = calls_of(
      spec, within, [&](CompileJob share) { return compiling_job(options, std::move(share)); });
  auto compiled = run_calls(fs, spec, calls, options, diagnostics);
  if (options.check != nullptr) {
    check_all_calls(fs, spec, options.work_directory, *options.check);
  }
  TFAOT_TRY(compiled);
  TFAOT_TRY(finish_objects(fs, spec, options, *compiled));
  return compiled;
}

Result<CompiledModel> lower_model(FileSystem& fs, const ModelSpec& spec,
                                  const CompileOptions& options, Diagnostics& diagnostics) {
  TFAOT_TRY(check_model_files(fs, spec.model.source));
  CompileOptions fewer = options;
  // Starting a process takes longer than lowering.
  const auto useful =
      (spec.compilation.batch_sizes.size() + kLoweringsInAProcess - 1) / kLoweringsInAProcess;
  fewer.jobs = std::min(options.jobs, static_cast<unsigned>(useful));
  const auto calls = calls_of(spec, fewer, [&](CompileJob share) {
    // Already checked when the package was made.
    share.hlo.row_sizes.clear();
    share.hlo.model.any_opset = true;
    return LowerJob{std::move(share.hlo), options.dump};
  });
  return run_calls(fs, spec, calls, options, diagnostics);
}

}  // namespace tfaot::toolkit
