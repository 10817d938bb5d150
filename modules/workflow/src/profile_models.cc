// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/profile_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile_inputs.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/pattern.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config.h"
#include "tfaot/load/predictor.h"
#include "tfaot/profile/heap.h"
#include "tfaot/profile/machine.h"
#include "tfaot/profile/measure.h"
#include "tfaot/profile/runner.h"
#include "tfaot/records/model_files.h"
#include "tfaot/records/profile.h"
#include "tfaot/tune/plan.h"
#include "tfaot/tune/tune.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/build_package.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/run_package.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// What `tfaot profile` does with one engine of a model, in processes of its own each time: starts
// it, counts its allocations, watches its heap.

// A curve, what measures it, and how.
struct Measured {
  ProfiledCurve curve;
  RunnerSpec spec;
  std::vector<std::string> run_as;  // of each number of rows
  // Of a package: the same as compiled sizes; empty for a user's rule.
  std::vector<std::vector<std::size_t>> calls;
  std::unique_ptr<RunnerProcess> runner;
};

struct HeapFolder {
  HeapTool tool = HeapTool::kMassif;
  Path folder;  // empty, for scratch files
};

void append(std::vector<std::string>& settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
}

std::vector<std::string> rule_settings(const std::vector<std::string>& rules) {
  return mapped(rules, [](const std::string& rule) { return "batch_rule=" + rule; });
}

constexpr int kStarts = 3;
constexpr std::int64_t kAllocationCalls = 16;

// Lines of an engine's log: "INFO: [file.cc:54] text", "I0000 00:00:17954 file.cc:401] text".
bool is_log_line(const std::string& line) {
  static const Pattern log(R"((INFO|WARNING|WARN): .*|[IW]\d{4} [\d:. ]+\S+\] .*)");
  return line.size() < 1000 && log.matches(line);
}

// What the engine said, without its log and the runner's name.
Error not_started(const ProfiledCurve& curve, const Error& why) {
  const bool is_peer = curve.engine != ProfiledEngine::kPackage;
  Error error = Error::at({curve.source},
                          is_peer ? fmt::format("{} cannot run this model", word_of(curve.engine))
                                  : "cannot be measured");
  const auto says = [](const std::string& note) { return !is_log_line(note); };
  if (!is_peer || std::ranges::none_of(why.notes(), says)) return std::move(error).note(why.text());
  for (const std::string& note : why.notes()) {
    if (says(note)) error.note(note);
  }
  return error;
}

// "tagger, x86-64-v3, padding"
std::string curve_name(const ProfiledCurve& curve) {
  if (curve.engine != ProfiledEngine::kPackage) {
    return fmt::format("{}, {}", curve.model, word_of(curve.engine));
  }
  return fmt::format("{}, {}, {}", curve.model, curve.cpu_level, word_of(curve.strategy));
}

// Some times, since the time to load is measured; the last one stays.
Status start_runner(const Context& context, Measured& measured) {
  std::vector<double> times;
  for (int i = 0; i < kStarts; ++i) {
    measured.runner.reset();
    auto runner = RunnerProcess::start(context.files, measured.spec);
    TFAOT_TRY(check_interrupts());
    if (!runner) return fail(not_started(measured.curve, runner.error()));
    measured.runner = std::move(runner).value();
    times.push_back(measured.runner->load_time());
  }
  measured.curve.load = band_of(times);
  TFAOT_ASSIGN(const MemoryUse memory, measured.runner->memory());
  measured.curve.resident = memory.resident;
  measured.curve.proportional = memory.proportional;
  return {};
}

// In a process of its own: counting takes time.
Status count_allocations(const Context& context, const Path& counter, Measured& measured) {
  RunnerSpec spec = measured.spec;
  spec.environment["LD_PRELOAD"] = counter.string();
  TFAOT_ASSIGN(const auto runner, RunnerProcess::start(context.files, spec));
  for (ProfiledSize& size : measured.curve.sizes) {
    TFAOT_TRY(runner->prepare(size.rows));
    TFAOT_ASSIGN(const auto counted, runner->allocations(kAllocationCalls));
    if (!counted) continue;
    size.allocations = counted->count / static_cast<double>(kAllocationCalls);
    size.allocated = counted->bytes / static_cast<double>(kAllocationCalls);
  }
  return {};
}

// For the sizes of the curve; a warning if it cannot be measured. `levels`: of the package,
// ascending. Error: we were interrupted.
Status watch_heap(Context& context, const HeapFolder& heap, const std::vector<std::string>& levels,
                  Measured& measured) {
  ProfiledCurve& curve = measured.curve;
  HeapRequest request;
  request.tool = heap.tool;
  request.runner = measured.spec;
  request.folder = heap.folder;
  TFAOT_TRY(context.files.create_directories(request.folder));
  request.rows = mapped(curve.sizes, &ProfiledSize::rows);
  if (curve.engine == ProfiledEngine::kPackage) {
    // From its own downwards.
    request.cpu_levels.assign(levels.begin(), std::ranges::find(levels, curve.cpu_level));
    request.cpu_levels.push_back(curve.cpu_level);
    std::ranges::reverse(request.cpu_levels);
  }
  Result<ProfiledHeap> found = measure_heap(context.files, request);
  TFAOT_TRY(check_interrupts());
  if (found) {
    curve.heap = *std::move(found);
  } else {
    context.diagnostics.warning(fmt::format("{}: its heap cannot be measured by {}: {}",
                                            curve_name(curve), word_of(heap.tool),
                                            found.error().text()));
  }
  return {};
}

// What a curve of a package runs: how each number of rows is composed.

struct CurveRequest {
  std::string cpu_level;  // empty: the best one
  ComposeStrategy strategy = ComposeStrategy::kNormal;
  std::vector<std::string> batch_rules;  // of the user, for kRules
  std::vector<std::int64_t> rows;
};

// Scratch memory of an instance at this level.
std::int64_t temporary_bytes(const CompiledModel& compiled, const std::string& level) {
  std::int64_t most = 0;
  for (const CompiledCode& code : compiled.codes) {
    if (code.cpu_level == level) most = std::max(most, scratch_bytes(code));
  }
  return most;
}

PlannedRows planned_calls(const ::tfaot::BatchPlan& plan, std::size_t rows) {
  PlannedRows planned;
  for (std::size_t rest = rows; rest > 0;) {
    const std::size_t size = plan.sizes()[plan.next(rest)];
    planned.chunks.push_back(size);
    planned.padding = std::max(size, rest) - rest;
    rest -= std::min(size, rest);
  }
  return planned;
}

PlannedRows composed_calls(ComposeStrategy strategy, const std::vector<std::size_t>& sizes,
                           std::size_t rows) {
  PlannedRows planned;
  planned.chunks = composed(strategy, sizes, rows);
  for (const std::size_t chunk : planned.chunks) planned.padding += chunk;
  planned.padding -= rows;
  return planned;
}

// "5:2,4" is the rule of 5 rows; empty if they have none.
std::string rule_of(const std::vector<std::string>& rules, std::int64_t rows) {
  const std::string start = fmt::format("{}:", rows);
  for (const std::string& rule : rules) {
    if (rule.starts_with(start)) return rule;
  }
  return "";
}

// The curve without times and source, and the rules as settings. Error: the package has no such
// level, this CPU cannot run it, or a rule is wrong.
Result<Measured> plan_curve(const std::shared_ptr<const LoadedModel>& model,
                            const CurveRequest& request) {
  const ComposeStrategy strategy = request.strategy;
  Measured planned;
  std::vector<std::string> rules;
  if (strategy == ComposeStrategy::kRules) rules = request.batch_rules;
  TFAOT_ASSIGN(const Predictor predictor, Predictor::create(model, {request.cpu_level, rules}));
  const ::tfaot::BatchPlan& plan = predictor.plan();
  for (const std::int64_t count : request.rows) {
    const auto rows = static_cast<std::size_t>(count);
    if (strategy == ComposeStrategy::kStitching || strategy == ComposeStrategy::kPadding) {
      const PlannedRows calls = composed_calls(strategy, plan.sizes(), rows);
      rules.push_back(rule_text(rows, calls.chunks));
      planned.run_as.push_back(run_as_text(calls));
      planned.calls.push_back(calls.chunks);
      continue;
    }
    const std::string rule = rule_of(rules, count);
    const PlannedRows calls = rule.empty() ? planned_calls(plan, rows) : PlannedRows();
    planned.run_as.push_back(rule.empty() ? run_as_text(calls) : "rule " + rule);
    planned.calls.push_back(calls.chunks);
  }
  planned.spec.settings = rule_settings(rules);
  planned.curve.model = model->manifest().name;
  planned.curve.version = model->manifest().version;
  planned.curve.cpu_level = predictor.cpu_level();
  planned.curve.strategy = strategy;
  planned.curve.tuned = model->manifest().tuning.has_value();
  planned.curve.temporaries = temporary_bytes(model->compiled(), planned.curve.cpu_level);
  return planned;
}

// Which share of a call each operation takes: compiles the model once more, with code that counts
// the clock ticks of its operations, and runs that.

struct OperationsRequest {
  Path source;  // a config or a model; absolute
  ConfigOverrides overrides;
  std::string cpu_level;  // of the package, which this CPU can run
  InputSource inputs;
  MeasureOptions measure;
  EngineRun engine;
  Path runner;
  std::string core;  // the runner's setting
  Path folder;       // empty, for scratch files
};

// One for each compiled batch size, without the time of a call of the package as it is.
Result<std::vector<ProfiledOperations>> profile_operations(Context& context,
                                                           const OperationsRequest& request) {
  std::vector<CountedCode> counted;
  BuildRequest build;
  build.model = request.source;
  build.overrides = request.overrides;
  build.overrides.cpu_levels = {request.cpu_level};
  build.output_directory = request.folder / "counting";
  build.engine = request.engine;
  build.counted = &counted;
  SilentDiagnostics silent;
  Context inner = context.telling(silent);
  TFAOT_TRY(build_package(inner, build));
  TFAOT_ASSIGN(const FoundPackage found,
               find_package(context, {build.output_directory, false, "tfaot profile"}));
  TFAOT_ASSIGN(const auto model, load_package(context, found));
  const std::vector<std::int64_t>& sizes = model->manifest().batch_sizes;
  TFAOT_ASSIGN(const RunnerFiles files,
               write_runner_files(context, model,
                                  {request.inputs, std::ranges::max(sizes),
                                   sized_dimensions(model->manifest().dimensions)},
                                  request.folder, Predictions::kNone));
  RunnerSpec spec;
  spec.program = request.runner;
  spec.timeout = engine_time(context);
  spec.memory = engine_memory(context);
  spec.settings = {"engine=package", request.core, "cpu_level=" + request.cpu_level};
  for (const CountedCode& code : counted) {
    spec.settings.push_back(fmt::format("counters={} {}", code.batch_size, code.counters));
  }
  for (const std::int64_t size : sizes) {  // else a size might run as several smaller ones
    spec.settings.push_back(fmt::format("batch_rule={0}:{0}", size));
  }
  append(spec.settings, files.package);
  append(spec.settings, files.tensors);
  TFAOT_ASSIGN(const auto runner, RunnerProcess::start(context.files, spec));
  std::vector<ProfiledOperations> all;
  std::ranges::sort(counted, {}, &CountedCode::batch_size);
  for (const CountedCode& code : counted) {
    TFAOT_ASSIGN(ProfiledOperations operations, measure_operations(*runner, code, request.measure));
    all.push_back(std::move(operations));
  }
  return all;
}

// Whether a package that chooses its calls by estimates, or by times of another machine, would be
// clearly faster if it chose by what was measured here.

constexpr double kClearlyFaster = 1.1;
constexpr std::int64_t kFewRounds = 7;  // for times that only lead to a plan

// The same package and level, with a rule for some numbers of rows.
Result<std::unique_ptr<RunnerProcess>> start_with_rules(const Context& context,
                                                        const Measured& normal,
                                                        const std::vector<std::string>& rules) {
  RunnerSpec spec = normal.spec;
  append(spec.settings, rule_settings(rules));
  return RunnerProcess::start(context.files, spec);
}

// The time of one call of this compiled size; 0: no curve of the level ran it.
double known_time(const std::vector<Measured>& measured, const ProfiledCurve& normal,
                  std::size_t size) {
  for (const Measured& one : measured) {
    if (one.curve.engine != ProfiledEngine::kPackage || one.curve.cpu_level != normal.cpu_level) {
      continue;
    }
    for (std::size_t i = 0; i < one.curve.sizes.size(); ++i) {
      const bool is_it = one.curve.sizes[i].rows == static_cast<std::int64_t>(size) &&
                         one.calls[i] == std::vector<std::size_t>{size};
      if (is_it) return one.curve.sizes[i].call.median;
    }
  }
  return 0;
}

Result<LevelCosts> costs_of(const Context& context, const std::vector<Measured>& measured,
                            const Measured& normal, const std::vector<std::int64_t>& batch_sizes,
                            MeasureOptions options) {
  LevelCosts costs{normal.curve.cpu_level, {}, {}};
  std::vector<std::string> rules;
  for (const std::int64_t batch_size : batch_sizes) {
    const auto size = static_cast<std::size_t>(batch_size);
    costs.sizes.push_back(size);
    costs.ns.push_back(known_time(measured, normal.curve, size));
    if (costs.ns.back() == 0) rules.push_back(rule_text(size, {size}));
  }
  if (rules.empty()) return costs;
  options.rounds = std::min(options.rounds, kFewRounds);
  TFAOT_ASSIGN(const auto runner, start_with_rules(context, normal, rules));
  for (std::size_t i = 0; i < costs.sizes.size(); ++i) {
    if (costs.ns[i] > 0) continue;
    TFAOT_ASSIGN(const auto sizes, measure_size({runner.get()}, batch_sizes[i], options));
    costs.ns[i] = sizes.front().call.median;
  }
  return costs;
}

struct Candidate {
  std::size_t index = 0;  // of the curve's sizes
  PlannedRows plan;
  double gain = kClearlyFaster;
};

std::optional<Candidate> best_candidate(const Measured& normal, const LevelCosts& costs) {
  std::optional<Candidate> best;
  for (std::size_t i = 0; i < normal.curve.sizes.size(); ++i) {
    const ProfiledSize& size = normal.curve.sizes[i];
    PlannedRows plan = plan_rows(costs, static_cast<std::size_t>(size.rows));
    const double gain = plan.ns > 0 ? size.call.median / plan.ns : 0;
    if (plan.chunks == normal.calls[i] || gain <= (best ? best->gain : kClearlyFaster)) continue;
    best = Candidate{i, std::move(plan), gain};
  }
  return best;
}

Status find_better_plan(const Context& context, const std::vector<Measured>& measured,
                        const std::vector<std::int64_t>& batch_sizes, const MeasureOptions& options,
                        Measured& normal) {
  TFAOT_ASSIGN(const LevelCosts costs, costs_of(context, measured, normal, batch_sizes, options));
  const std::optional<Candidate> candidate = best_candidate(normal, costs);
  if (!candidate) return {};
  const std::int64_t rows = normal.curve.sizes[candidate->index].rows;
  const std::string rule = rule_text(static_cast<std::size_t>(rows), candidate->plan.chunks);
  TFAOT_ASSIGN(const auto other, start_with_rules(context, normal, {rule}));
  TFAOT_ASSIGN(const auto both, measure_size({normal.runner.get(), other.get()}, rows, options));
  const Band& now = both[0].call;
  const Band& better = both[1].call;
  if (now.median <= kClearlyFaster * better.median || now.low <= better.high) return {};
  normal.curve.better_plans.push_back(
      {rows, normal.run_as[candidate->index], now, run_as_text(candidate->plan), better});
  return {};
}

// Adds to the normal curves among those of one model. What was not measured yet is measured: calls
// of compiled sizes, and the better plan beside the present one. REQUIRES: all are measured, and
// their runners live.
Status find_better_plans(const Context& context, const std::vector<std::int64_t>& batch_sizes,
                         const MeasureOptions& options, std::vector<Measured>& measured) {
  if (batch_sizes.size() < 2) return {};
  for (Measured& one : measured) {
    const bool is_normal = one.curve.engine == ProfiledEngine::kPackage &&
                           one.curve.strategy == ComposeStrategy::kNormal;
    if (is_normal) {
      TFAOT_TRY(find_better_plan(context, measured, batch_sizes, options, one));
    }
  }
  return {};
}

// Of the largest prediction: engines add up in other orders.
constexpr double kTolerance = 1e-4;

// The compiled sizes that may run these numbers of rows: up to the one that holds all of them.
std::vector<std::int64_t> useful_sizes(std::vector<std::int64_t> batch_sizes,
                                       const std::vector<std::int64_t>& rows) {
  std::ranges::sort(batch_sizes);
  const auto last = std::ranges::lower_bound(batch_sizes, std::ranges::max(rows));
  if (last != batch_sizes.end()) batch_sizes.erase(std::next(last), batch_sizes.end());
  return batch_sizes;
}

class Profiler {
 public:
  Profiler(Context& context, const ProfileRequest& request)
      : context_(context), request_(request) {}

  Result<Profile> run() {
    TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context_));
    TFAOT_ASSIGN(runner_, find_runner(context_));
    TFAOT_ASSIGN(counter_, find_allocation_counter(context_));
    profile_.toolkit_version = request_.toolkit_version;
    profile_.heap_tool = request_.heap_tool;
    profile_.inputs = request_.inputs_name;
    profile_.clock = request_.measure.clock;
    profile_.round_count = request_.measure.rounds;
    profile_.round_ms = static_cast<double>(request_.measure.round.count()) / 1000;
    TFAOT_TRY(find_models());
    if (request_.heap_tool) TFAOT_TRY(check_heap_tool(*request_.heap_tool));
    TFAOT_TRY(describe(scratch.path()));
    for (std::size_t i = 0; i < request_.models.size(); ++i) {
      const Path folder = scratch.path() / std::to_string(i);
      TFAOT_TRY(context_.files.create_directories(folder));
      TFAOT_TRY(profile_model(request_.models[i], folder));
    }
    if (request_.measure.clock == ProfileClock::kWall) {
      for (const std::string& warning : busy_warnings(profile_.curves)) warn(warning);
    }
    return std::move(profile_);
  }

 private:
  // What is wrong with a path is said before anything is measured.
  Status find_models() const {
    const Path& inputs = request_.inputs.file;
    if (!inputs.empty() && !is_file(context_.files, inputs)) {
      return fail(Error::at({request_.inputs_name}, "no such file").note("named by --inputs"));
    }
    for (const ProfiledModel& model : request_.models) {
      const Path& path = model.package.package;
      if (named_path(context_.files, path).is_source()) continue;
      if (request_.operations) {
        return fail(Error::usage(fmt::format(
            "--per-op: '{}' is neither a config nor a model, so it cannot be compiled again with "
            "code that counts",
            model.name)));
      }
      auto found = find_package(context_, model.package);
      if (!found) return fail(std::move(found).error().note("it also takes a config or a model"));
      TFAOT_ASSIGN(const auto dimensions, dimensions_of(model, found->manifest));
      if (inputs.empty()) continue;
      TFAOT_TRY(model_inputs(context_.files, request_.inputs,
                             {found->manifest.signature.inputs, dimensions}));
    }
    return {};
  }

  // The machine, and a process without an engine.
  Status describe(const Path& scratch) {
    const std::vector<std::int64_t> cores = allowed_cores();
    const std::int64_t core = request_.core.value_or(cores.back());
    if (!contains(cores, core)) {
      return fail(Error::usage(fmt::format("core {} is not one that this process may use", core)));
    }
    const std::string cpu = cpu_name(context_.files);
    profile_.machine =
        describe_machine(context_.files, static_cast<std::int64_t>(cores.size()), core);
    profile_.machine.name = request_.machine;
    profile_.machine.cpu = cpu;
    profile_.machine.instructions = instructions_in_use();
    RunnerSpec spec;
    spec.program = runner_;
    spec.settings = {"engine=none", core_setting()};
    TFAOT_ASSIGN(const auto runner, RunnerProcess::start(context_.files, spec));
    TFAOT_ASSIGN(const MemoryUse memory, runner->memory());
    profile_.empty_resident = memory.resident;
    profile_.empty_proportional = memory.proportional;
    if (request_.heap_tool) {
      TFAOT_ASSIGN(profile_.empty_heap, measure_heap(context_.files, {.tool = *request_.heap_tool,
                                                                      .runner = spec,
                                                                      .rows = {1},
                                                                      .folder = scratch}));
    }
    TFAOT_ASSIGN(profile_.machine.noise, measure_noise(*runner, request_.measure));
    for (const std::string& warning : machine_warnings(profile_.machine)) warn(warning);
    return {};
  }

  Status profile_model(const ProfiledModel& model, const Path& scratch) {
    measured_.clear();
    TFAOT_ASSIGN(const LoadedPackage package, load(model, scratch));
    const auto& loaded = package.model;
    const Manifest& manifest = loaded->manifest();
    TFAOT_ASSIGN(const std::vector<std::int64_t> rows, rows_of(manifest));
    const std::vector<std::int64_t> sizes = useful_sizes(manifest.batch_sizes, rows);
    const std::int64_t most = std::max(std::ranges::max(rows), sizes.back());
    TFAOT_ASSIGN(std::vector<FreeDimension> dimensions, dimensions_of(model, manifest));
    TFAOT_ASSIGN(RunnerFiles files,
                 write_runner_files(context_, loaded,
                                    {request_.inputs, most, std::move(dimensions)}, scratch));
    TFAOT_TRY(add_package_curves(model, loaded, rows, files));
    TFAOT_ASSIGN(const std::vector<std::string> constants,
                 constant_settings(context_, package.spec.model.constants, scratch));
    append(files.tensors, constants);
    for (const PeerModel& peer : model.peers) TFAOT_TRY(add_peer(peer, manifest, files));
    total_ += measured_.size() + rows.size() + (request_.operations ? 1 : 0);
    if (request_.heap_tool) total_ += measured_.size();
    std::vector<Runner*> runners;
    TFAOT_TRY(start_runners());
    for (const Measured& one : measured_) runners.push_back(one.runner.get());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      TFAOT_ASSIGN(std::vector<ProfiledSize> timed,
                   measure_size(runners, rows[i], request_.measure));
      for (std::size_t j = 0; j < measured_.size(); ++j) {
        timed[j].run_as = measured_[j].run_as[i];
        measured_[j].curve.sizes.push_back(std::move(timed[j]));
        check_predictions(measured_[j].curve, i);
      }
      step(fmt::format("{}, {} row{}", manifest.name, rows[i], rows[i] == 1 ? "" : "s"));
    }
    if (manifest.rows != RowsMode::kCoupled) {
      TFAOT_TRY(find_better_plans(context_, sizes, request_.measure, measured_));
    }
    for (Measured& one : measured_) {
      one.curve.dimensions = files.sizes;
      TFAOT_TRY(finish_curve(one, manifest, scratch));
      profile_.curves.push_back(std::move(one.curve));
    }
    return request_.operations ? add_operations(model, scratch) : Status();
  }

  Result<LoadedPackage> load(const ProfiledModel& model, const Path& scratch) {
    LoadRequest package = model.package;
    if (const NamedPath named = named_path(context_.files, package.package); named.is_source()) {
      BuildRequest build;
      build.model = package.package;
      build.overrides = overrides_for(named);
      build.output_directory = scratch / "package";
      build.engine = request_.engine;
      build.cache = request_.cache;
      SilentDiagnostics silent;
      Context inner = context_.telling(silent);
      build.stores_check = false;  // the package is thrown away
      TFAOT_TRY(build_package(inner, build));
      package.package = build.output_directory;
    }
    TFAOT_ASSIGN(const FoundPackage found, find_package(context_, package));
    return load_whole_package(context_, found);
  }

  // --dimension is a size of a package that is measured, and an option of one that is compiled.
  Result<std::vector<FreeDimension>> dimensions_of(const ProfiledModel& model,
                                                   const Manifest& manifest) const {
    const bool is_compiled = named_path(context_.files, model.package.package).is_source();
    return chosen_dimensions(manifest,
                             is_compiled ? std::vector<std::string>() : request_.dimensions);
  }

  // A model without a config is compiled for the numbers of rows that are measured.
  ConfigOverrides overrides_for(const NamedPath& named) const {
    ConfigOverrides overrides;
    overrides.dimensions = request_.dimensions;
    if (named.kind == PathKind::kConfig) return overrides;
    overrides.batch_sizes =
        mapped(request_.rows, [](std::int64_t rows) { return std::to_string(rows); });
    return overrides;
  }

  Result<std::vector<std::int64_t>> rows_of(const Manifest& manifest) const {
    if (manifest.batch == BatchMode::kNone) return manifest.batch_sizes;
    if (manifest.rows != RowsMode::kCoupled) {
      return request_.rows.empty() ? manifest.batch_sizes : request_.rows;
    }
    std::vector<std::int64_t> rows;
    for (const std::int64_t size : manifest.batch_sizes) {
      const bool asked = request_.rows.empty() || contains(request_.rows, size);
      if (asked) rows.push_back(size);
    }
    if (!rows.empty()) {
      if (rows.size() < request_.rows.size()) {
        context_.diagnostics.warning(
            fmt::format("only compiled batch sizes of model '{}' are measured: its rows depend on "
                        "each other",
                        manifest.name));
      }
      return rows;
    }
    return fail(
        Error(fmt::format("the rows of model '{}' depend on each other, so only its compiled "
                          "batch sizes run, and none was asked for",
                          manifest.name)));
  }

  Result<std::vector<std::string>> levels_of(const LoadedModel& model) const {
    std::vector<std::string> runnable = runnable_levels(model.compiled());
    if (request_.cpu_levels == std::vector<std::string>{"all"}) return runnable;
    if (!request_.cpu_levels.empty()) return request_.cpu_levels;
    return std::vector<std::string>{runnable.empty() ? "" : runnable.back()};
  }

  Status add_package_curves(const ProfiledModel& model,
                            const std::shared_ptr<const LoadedModel>& loaded,
                            const std::vector<std::int64_t>& rows, const RunnerFiles& files) {
    const Manifest& manifest = loaded->manifest();
    const bool coupled = manifest.rows == RowsMode::kCoupled;
    TFAOT_ASSIGN(const std::vector<std::string> levels, levels_of(*loaded));
    for (const std::string& level : levels) {
      for (const ComposeStrategy strategy : request_.strategies) {
        if (coupled && strategy != ComposeStrategy::kNormal) continue;
        TFAOT_ASSIGN(Measured added,
                     plan_curve(loaded, {level, strategy, request_.batch_rules, rows}));
        added.curve.source = model.name;
        added.spec.program = runner_;
        added.spec.timeout = engine_time(context_);
        added.spec.memory = memory_;
        added.spec.settings.insert(
            added.spec.settings.begin(),
            {"engine=package", core_setting(), "cpu_level=" + added.curve.cpu_level});
        append(added.spec.settings, files.package);
        append(added.spec.settings, files.tensors);
        append(added.spec.settings, files.predicted);
        measured_.push_back(std::move(added));
      }
    }
    return {};
  }

  Status add_peer(const PeerModel& peer, const Manifest& manifest, const RunnerFiles& files) {
    Measured added;
    added.curve.model = manifest.name;
    added.curve.version = manifest.version;
    added.curve.engine = peer.engine;
    added.curve.source = peer.name;
    added.spec.timeout = engine_time(context_);
    added.spec.memory = memory_;
    added.run_as.resize(std::max<std::size_t>(request_.rows.size(), manifest.batch_sizes.size()));
    added.spec.settings = {core_setting(),
                           fmt::format("engine={}", word_of(peer.engine)),
                           "model=" + peer.model.string(),
                           "library=" + peer.library.string(),
                           "signature=" + manifest.signature.key,
                           std::string("batch=") + word_of(manifest.batch)};
    if (peer.engine == ProfiledEngine::kTensorFlow) {
      TFAOT_ASSIGN(const EngineProgram program, find_tensorflow_runner(context_));
      added.spec.program = program.file;
      added.spec.environment = {{"TF_CPP_MIN_LOG_LEVEL", "3"}, {"ABSL_MIN_LOG_LEVEL", "3"}};
      if (!program.library_path.empty()) {
        added.spec.environment["LD_LIBRARY_PATH"] = program.library_path;
      }
    } else {
      added.spec.program = runner_;
    }
    append(added.spec.settings, files.tensors);
    append(added.spec.settings, files.predicted);
    measured_.push_back(std::move(added));
    return {};
  }

  Status start_runners() {
    for (Measured& one : measured_) {
      Status started = start_runner(context_, one);
      const bool is_peer = one.curve.engine != ProfiledEngine::kPackage;
      if (!started && !(is_peer && request_.left_out != nullptr)) return started;
      TFAOT_TRY(check_interrupts());
      if (!started) {
        request_.left_out->push_back({one.curve.engine, started.error()});
        one.runner.reset();
      }
      step("load " + curve_name(one.curve));
    }
    std::erase_if(measured_, [](const Measured& one) { return one.runner == nullptr; });
    return {};
  }

  // At the level of the first curve, which is the package's.
  Status add_operations(const ProfiledModel& model, const Path& scratch) {
    const std::size_t first = profile_.curves.size() - measured_.size();
    OperationsRequest request;
    request.source = model.package.package;
    request.overrides = overrides_for(named_path(context_.files, request.source));
    request.cpu_level = profile_.curves[first].cpu_level;
    request.inputs = request_.inputs;
    request.measure = request_.measure;
    request.engine = request_.engine;
    request.runner = runner_;
    request.core = core_setting();
    request.folder = scratch / "operations";
    TFAOT_TRY(context_.files.create_directories(request.folder));
    TFAOT_ASSIGN(std::vector<ProfiledOperations> found, profile_operations(context_, request));
    for (ProfiledOperations& one : found) {
      const ProfiledCurve& curve = profile_.curves[first];
      const auto size = std::ranges::find(curve.sizes, one.rows, &ProfiledSize::rows);
      if (size == curve.sizes.end()) continue;
      one.model = curve.model;
      one.version = curve.version;
      // A call may have run smaller sizes instead: then its time is not that of these operations.
      if (size->run_as == std::to_string(one.rows)) one.call = size->call.median;
      profile_.operations.push_back(std::move(one));
    }
    step("operations of " + profile_.curves[first].model);
    return {};
  }

  // What takes other processes than those that are timed.
  Status finish_curve(Measured& measured, const Manifest& manifest, const Path& scratch) {
    measured.runner.reset();
    TFAOT_TRY(count_allocations(context_, counter_, measured));
    if (!request_.heap_tool) return {};
    const auto number = static_cast<std::size_t>(&measured - measured_.data());
    TFAOT_TRY(watch_heap(context_, {*request_.heap_tool, scratch / fmt::format("heap_{}", number)},
                         manifest.cpu_levels, measured));
    step("heap of " + curve_name(measured.curve));
    return {};
  }

  void check_predictions(const ProfiledCurve& curve, std::size_t index) {
    const ProfiledSize& size = curve.sizes[index];
    if (size.difference <= kTolerance * std::max(size.largest, 1.0)) return;
    warn(fmt::format(
        "{} predicts other numbers than the package in a batch of {}: up to {:.3g} apart",
        curve_name(curve), size.rows, size.difference));
  }

  void warn(const std::string& text) {
    profile_.machine.warnings.push_back(text);
    context_.diagnostics.warning(text);
  }

  void step(const std::string& text) { context_.diagnostics.progress(++done_, total_, text); }
  std::string core_setting() const { return fmt::format("core={}", profile_.machine.core); }

  Context& context_;
  const ProfileRequest& request_;
  const std::shared_ptr<MemoryBudget> memory_ = engine_memory(context_);
  Profile profile_;
  std::vector<Measured> measured_;  // of the current model
  Path runner_;
  Path counter_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
};

}  // namespace

Status check_peer_model(const FileSystem& files, ProfiledEngine engine, const Path& model,
                        const std::string& name) {
  if (engine != ProfiledEngine::kTensorFlow) {
    if (is_file(files, model)) return {};
    return fail(Error::at({name}, fmt::format("a folder, but {} takes a file", word_of(engine))));
  }
  if (holds_saved_model(files, model) || (is_file(files, model) && model.extension() == ".pb"))
    return {};
  return fail(Error::at({name}, "neither a SavedModel's folder nor a frozen graph (.pb)")
                  .note("tensorflow takes no other models"));
}

Result<Profile> profile_models(Context& context, const ProfileRequest& request) {
  return Profiler(context, request).run();
}

}  // namespace tfaot::toolkit
