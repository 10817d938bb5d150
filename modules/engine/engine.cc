// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <iostream>

#include "compiler/code/object_code.h"
#include "compiler/code/optimize.h"
#include "compiler/code/stored_constants.h"
#include "compiler/cost/static_cost.h"
#include "compiler/hlo/lowering.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/machine_model.h"
#include "compiler/rows/row_check.h"
#include "compiler/rows/waiting_loops.h"
#include "compiler/sizes/batch_form.h"
#include "compiler/sizes/sample_sizes.h"
#include "free_sizes.h"
#include "front/graph/graph_source.h"
#include "front/graph/tf2xla_config.h"
#include "front/load_model.h"
#include "front/lowering/signature.h"
#include "front/onnx/operators.h"
#include "inspect/describe_model.h"
#include "inspect/read_hlo.h"
#include "tensorflow/core/public/version.h"
#include "tfaot/base/program_start.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/hlo_graph_json.h"
#include "tfaot/records/model_check_json.h"
#include "tfaot/records/symbols.h"
#include "xla/service/hlo.pb.h"

namespace tfaot::toolkit::engine {
namespace {

// At once: XLA may end the process.
void put(const std::string& line) { std::cout << line << std::flush; }
void say(const EngineLine& line) { put(engine_line_to_json(line)); }
void note(const std::string& text) { say({EngineWord::kNote, text}); }
void warn(const std::string& text) { say({EngineWord::kWarning, text}); }
void progress(const std::string& step) { say({EngineWord::kProgress, step}); }

// For `tfaot check`: prints all problems, as far as the work can go on after one. Otherwise the
// first problem ends it.
class CheckReport {
 public:
  explicit CheckReport(bool is_wanted) : is_wanted_(is_wanted) {}

  void add_operations(const SourceModel& model) {
    if (is_wanted_) put(engine_check_to_json({model.operations(), {}, {}}));
  }
  void add_code(const CompiledCode& code) {
    if (!is_wanted_) return;
    put(engine_check_to_json({{}, {{code.batch_size, code.cpu_level, code.object}}, {}}));
  }
  // Fails if the work cannot go on. `batch_size`: 0 if the problem is not of one size alone.
  Status take(Status status, std::int64_t batch_size) {
    if (status || !is_wanted_) return status;
    put(engine_check_to_json({{}, {}, problems_of(status.error(), batch_size)}));
    if (!first_) first_ = std::move(status).error();
    return {};
  }
  // The first problem that was taken.
  Status end() const { return first_ ? fail(*first_) : Status(); }

 private:
  bool is_wanted_;
  std::optional<Error> first_;
};

// Writes a module after each step of ours into a dump folder, next to what XLA writes there.
class StepDump {
 public:
  StepDump(FileSystem& fs, JobDump to) : fs_(fs), to_(std::move(to)) {}

  // Empty if nothing is written. The dump must outlive it.
  StepViewer viewer() {
    if (to_.directory.empty()) return {};
    return {[this](const std::string& step, const xla::HloModule& module) {
              return add(step, module.ToProto());
            },
            to_.passes};
  }
  // "tfaot.0003.kernel_calls.hlo.pb", an xla::HloProto
  Status add(const std::string& step, const xla::HloModuleProto& module) {
    if (to_.directory.empty()) return {};  // before anything is made: it may hold all weights
    xla::HloProto proto;
    *proto.mutable_hlo_module() = module;
    return write(fmt::format("tfaot.{:04}.{}.hlo.pb", ++steps_, step), proto.SerializeAsString());
  }
  Status add(const DumpFacts& facts) {
    if (to_.directory.empty()) return {};
    return write(kDumpFactsName, dump_facts_to_json(facts));
  }

 private:
  Status write(const std::string& name, const std::string& text) {
    return fs_.replace_atomically(Path(to_.directory) / name, text, Durability::kScratch);
  }

  FileSystem& fs_;
  JobDump to_;
  int steps_ = 0;
};

// Makes the code that `code` describes: batch size, level, hash of its HLO.
using MakeCode = std::function<Result<ObjectCode>(const OptimizedModel& model,
                                                  const JobLevel& level, CompiledCode& code)>;

void set_costs(CompiledCode& code, const xla::HloModule& module, const CodeSize& size) {
  const StaticCost cost = static_cost(module, size);
  code.estimated_cost = cost.picoseconds;
  code.live_permille = cost.live_permille;
  code.shared_permille = cost.shared_permille;
  code.lane_bytes = static_cast<std::uint64_t>(lane_bytes(module));
}

// The differences between the jobs that work with a model's HLO.
struct Work {
  const JobCode* code = nullptr;  // null: no code is made
  MakeCode make = {};             // REQUIRES: if there is `code`
  JobDump dump = {};
  Traces traces = Traces::kRemoved;
  bool is_check = false;
};

// From a model to the HLO, or the code, of some of its batch sizes.
class ModelCompiler {
 public:
  ModelCompiler(FileSystem& fs, const JobHlo& job, Work work)
      : fs_(fs),
        job_(job),
        work_(std::move(work)),
        report_(work_.is_check),
        dump_(fs, work_.dump) {}

  // To be called once.
  Result<EngineResult> run() {
    Status done = load();
    if (done) done = compile_sizes();
    if (done) return std::move(result_);
    if (report_.end()) static_cast<void>(report_.take(done, 0));
    return fail(done.error());
  }

 private:
  Status load() {
    const Dimensions largest = default_sizes(sized_dimensions(job_.model.free_dimensions));
    TFAOT_ASSIGN(model_, load_model(at_sizes(job_.model, largest)));
    report_.add_operations(*model_);
    TFAOT_TRY(model_->prepare());
    TFAOT_ASSIGN(auto lowering, model_->lowering(lowering_options()));
    lowering_ = with_frozen_rows(std::move(lowering));
    TFAOT_ASSIGN(store_, WeightStore::create(fs_, job_.weights_directory, lowering_->weights()));
    CompiledModel& record = result_.model;
    record.engine = std::string("tensorflow ") + TF_VERSION_STRING;
    record.signature.key = job_.model.serving_key;
    record.variables = model_->variables();
    return check_weight_limits(record.variables);
  }

  Choices choices() const {
    return {job_.weights_type, job_.fast_math, job_.optimize, has_free_sizes() ? 1 : 0,
            job_.compute};
  }
  LoweringOptions lowering_options() const {
    return {job_.embed_weights, job_.model.fixed_shapes, job_.model.any_opset};
  }
  bool has_free_sizes() const { return !job_.model.free_dimensions.empty(); }

  Status compile_sizes() {
    for (const std::int64_t size : job_.batch_sizes) {
      TFAOT_TRY(report_.take(compile_size(size), size));
    }
    TFAOT_TRY(report_.end());
    return store_->finish(used_, result_);
  }

  Status compile_size(std::int64_t batch_size) {
    TFAOT_ASSIGN(const LoweredModel lowered, lower(batch_size));
    if (job_.rows == RowsRule::kReported) TFAOT_TRY(check_rows(lowered, batch_size));
    if (is_first() && are_alone()) {
      form_ = BatchForm::find(*lowering_, lowered, choices(), *store_);
    }
    TFAOT_ASSIGN(OptimizedModel optimized,
                 optimize(lowered, *store_, choices(), work_.traces, dump_.viewer(), form_.get()));
    // Costs are those at the largest sizes.
    TFAOT_ASSIGN(const auto module, make_module(optimized.computation.proto()));
    if (has_free_sizes()) {
      const Choices chosen = choices();
      const LoweringOptions options = lowering_options();
      found_.has_form = form_ != nullptr;
      TFAOT_ASSIGN(optimized,
                   optimize_for_free_sizes({job_.model, options, batch_size, found_, chosen,
                                            work_.traces, *store_, lowering_->weights()}));
      result_.model.dimensions = sized_dimensions(job_.model.free_dimensions);
      result_.model.signature.inputs = optimized.inputs;
      result_.model.signature.outputs = optimized.outputs;
    }
    if (!job_.embed_weights) {
      TFAOT_ASSIGN(optimized, with_stored_constants(std::move(optimized), *store_, work_.traces));
    }
    TFAOT_TRY(dump_.add("optimized", optimized.computation.proto()));
    // After optimize(), which refuses random numbers: they would look like rows that mix.
    if (job_.rows == RowsRule::kAlone) TFAOT_TRY(check_rows(lowered, batch_size));
    say_remarks(optimized, batch_size);
    CompiledCode code;
    code.batch_size = batch_size;
    code.hlo_sha256 = hlo_sha256(optimized.computation);
    code.weights = places_of(optimized.weights);
    if (is_first() && !job_.embed_weights) {
      TFAOT_ASSIGN(result_.model.hlo_text, hlo_text(optimized.computation));
    }
    for (const JobLevel& level : job_.levels) {
      code.cpu_level = level.name;
      if (work_.code == nullptr) {
        result_.model.codes.push_back(code);
      } else {
        TFAOT_TRY(make_code(optimized, *module, level, code));
      }
    }
    return {};
  }

  bool are_alone() const {
    return job_.rows == RowsRule::kAlone ||
           (job_.rows == RowsRule::kReported && !job_.row_sizes.empty() && !result_.coupled_rows);
  }

  // True until there is code, or a batch size that is only lowered.
  bool is_first() const { return result_.model.codes.empty(); }

  Result<LoweredModel> lower(std::int64_t batch_size) {
    TFAOT_ASSIGN(LoweredModel lowered, lowering_->lower(batch_size));
    if (is_first()) {
      const bool coupled = job_.row_sizes.empty() || job_.rows != RowsRule::kAlone;
      TFAOT_TRY(check_output_rows(*lowering_, lowered, batch_size, coupled));
    }
    result_.model.signature.inputs = lowered.inputs;
    result_.model.signature.outputs = lowered.outputs;
    return lowered;
  }

  Status check_rows(const LoweredModel& lowered, std::int64_t batch_size) {
    if (!is_first() || job_.row_sizes.empty()) return {};
    if (!has_free_sizes()) return check_rows_of(*lowering_, {&lowered, batch_size});
    // At small sizes: the check runs the model.
    constexpr std::int64_t kSmall = 24;
    Dimensions sizes;
    for (const FreeDimension& one : sized_dimensions(job_.model.free_dimensions)) {
      sizes.push_back(std::clamp(kSmall, one.smallest, one.largest));
    }
    TFAOT_ASSIGN(const LoadedSizes small, load_at_sizes(job_.model, lowering_options(), sizes));
    TFAOT_ASSIGN(const LoweredModel small_model, small.lowering->lower(batch_size));
    return check_rows_of(*small.lowering, {&small_model, batch_size});
  }

  Status check_rows_of(const Lowering& lowering, const SizedModel& model) {
    const Status alone = check_rows_alone(lowering, model, job_.row_sizes, *store_, {warn, note});
    result_.coupled_rows = !alone;
    return job_.rows == RowsRule::kAlone ? report_.take(alone, 0) : Status();
  }

  void say_remarks(const OptimizedModel& model, std::int64_t batch_size) const {
    if (is_first() && work_.code != nullptr && !model.xla_products.empty()) {
      warn(warning_of(model.xla_products));
    }
    for (const Remark& remark : model.remarks) {
      note(fmt::format("batch size {}, {}{}: {}", batch_size, remark.instruction,
                       remark.layer.empty() ? "" : " of " + remark.layer, remark.text));
    }
  }

  // Positions among all weights of the code, in order of first use.
  std::vector<std::uint32_t> places_of(const std::vector<std::size_t>& weights) {
    std::vector<std::uint32_t> places;
    for (const std::size_t stored : weights) {
      const auto found = std::ranges::find(used_, stored);
      places.push_back(static_cast<std::uint32_t>(found - used_.begin()));
      if (found == used_.end()) used_.push_back(stored);
    }
    return places;
  }

  Status make_code(const OptimizedModel& model, const xla::HloModule& module, const JobLevel& level,
                   CompiledCode code) {
    if (find_machine(level.kernels) == nullptr) {
      return fail(Error(fmt::format("there are no kernels '{}'", level.kernels)));
    }
    const std::string program = program_name(work_.code->model_name, code.batch_size);
    const bool is_lowest = level.name == job_.levels.front().name;
    code.object =
        is_lowest ? lowest_object_file_name(program) : object_file_name(program, level.name);
    code.entry_symbol = entry_symbol(work_.code->symbol_prefix, code.batch_size, level.name);
    auto made = work_.make(model, level, code);
    if (!made) {
      Error error = std::move(made).error().about(word_of(ProblemKind::kCompiler), {level.name});
      return report_.take(fail(std::move(error)), code.batch_size);
    }
    TFAOT_TRY(fs_.replace_atomically(Path(work_.code->output_directory) / code.object, made->bytes,
                                     Durability::kScratch));
    code.buffers = std::move(made->buffers);
    code.result_slot = made->result_slot;
    set_costs(code, module, {std::ssize(model.inputs), scratch_bytes(code), level.kernels});
    progress(fmt::format("batch size {}, {}{}", code.batch_size, level.name,
                         code.from_cache ? " (from the cache)" : ""));
    report_.add_code(code);
    TFAOT_TRY(dump_.add(dump_facts(code, model, level)));
    result_.model.codes.push_back(std::move(code));
    return {};
  }

  DumpFacts dump_facts(const CompiledCode& code, const OptimizedModel& model,
                       const JobLevel& level) const {
    DumpFacts facts;
    facts.engine = result_.model.engine;
    facts.batch_size = code.batch_size;
    facts.cpu_level = level.name;
    facts.kernels = level.kernels;
    facts.inputs = std::ssize(model.inputs);
    facts.scratch_bytes = scratch_bytes(code);
    facts.picoseconds = code.estimated_cost;
    for (const std::size_t weight : model.weights) facts.weights.push_back(store_->origin(weight));
    return facts;
  }

  FileSystem& fs_;
  const JobHlo& job_;
  const Work work_;
  CheckReport report_;
  StepDump dump_;
  std::unique_ptr<SourceModel> model_;
  std::unique_ptr<Lowering> lowering_;
  std::optional<WeightStore> store_;
  std::unique_ptr<BatchForm> form_;  // null: rows are not alone, or there is one batch size
  FoundSizes found_;
  std::vector<std::size_t> used_;  // weights of the code, in order of first use
  EngineResult result_;
};

// Takes code from the cache, or compiles it and puts it there.
Result<ObjectCode> cached_code(CodeCache& cache, const OptimizedModel& model, const JobLevel& level,
                               const std::string& target_triple, CompiledCode& code) {
  if (auto cached = cache.find(code.hlo_sha256, level)) {
    code.from_cache = true;
    return std::move(*cached);
  }
  TFAOT_ASSIGN(auto made, make_object_code(model, level, target_triple, Counting::kNone));
  const auto kept = cache.keep(code.hlo_sha256, level, made);
  if (!kept) note("the code is not cached: " + kept.error().text());
  return made;
}

Result<EngineResult> result_of(FileSystem& fs, const CompileJob& job, bool is_check = false) {
  CodeCache cache(fs, job, warn);
  const MakeCode make = [&](const auto& model, const auto& level, CompiledCode& code) {
    return cached_code(cache, model, level, job.code.target_triple, code);
  };
  TFAOT_ASSIGN(EngineResult result,
               ModelCompiler(fs, job.hlo, {&job.code, make, {}, Traces::kRemoved, is_check}).run());
  result.cached_bytes = cache.added();
  return result;
}

Result<EngineResult> result_of(FileSystem& fs, const CheckJob& job) {
  return result_of(fs, job.compile, true);
}

Result<EngineResult> result_of(FileSystem& fs, const LowerJob& job) {
  const Traces traces = job.dump.directory.empty() ? Traces::kRemoved : Traces::kNames;
  return ModelCompiler(fs, job.hlo, {.dump = job.dump, .traces = traces}).run();
}

Result<EngineResult> result_of(FileSystem& fs, const CountJob& job) {
  std::vector<CountedCode> counted;
  const MakeCode make = [&](const OptimizedModel& model, const JobLevel& level,
                            const CompiledCode& code) -> Result<ObjectCode> {
    TFAOT_ASSIGN(ObjectCode made,
                 make_object_code(model, level, job.code.target_triple, Counting::kOperations));
    made.counted.batch_size = code.batch_size;
    made.counted.cpu_level = level.name;
    counted.push_back(std::move(made.counted));
    return made;
  };
  TFAOT_ASSIGN(EngineResult result,
               ModelCompiler(fs, job.hlo, {&job.code, make, {}, Traces::kNames}).run());
  result.counted = std::move(counted);
  return result;
}

Result<EngineResult> result_of(FileSystem& fs, const ResultsJob& job) {
  OptimizedModel last;
  std::vector<OperationResult> results;
  const MakeCode make = [&](const OptimizedModel& model, const JobLevel& level,
                            const CompiledCode& code) -> Result<ObjectCode> {
    results.clear();
    TFAOT_ASSIGN(last, with_operation_results(model, code.batch_size, results));
    return make_object_code(last, level, job.code.target_triple, Counting::kNone);
  };
  TFAOT_ASSIGN(EngineResult result,
               ModelCompiler(fs, job.hlo, {&job.code, make, {}, Traces::kNames}).run());
  result.model.signature.outputs = last.outputs;
  result.results = std::move(results);
  return result;
}

Result<EngineResult> result_of(FileSystem& fs, const DumpJob& job) {
  const MakeCode make = [&](const OptimizedModel& model, const JobLevel& level, CompiledCode&) {
    return make_object_code(model, level, job.code.target_triple, Counting::kNone, job.dump);
  };
  return ModelCompiler(fs, job.hlo, {&job.code, make, job.dump, Traces::kNames}).run();
}

Result<EngineResult> result_of(FileSystem& fs, const PredictJob& job) {
  return predict_as_original(fs, job, progress);
}

// Answers a job in its file, by lines of JSON or by a result.
struct Answer {
  FileSystem& fs;
  Path file;

  template <class Job>
  Status operator()(const Job& job) const {
    TFAOT_ASSIGN(const EngineResult result, result_of(fs, job));
    return fs.replace_atomically(result_file(file), engine_result_to_json(result),
                                 Durability::kScratch);
  }
  Status operator()(const DescribeJob& job) const {
    return describe_model(job.source,
                          [](const auto& model) { put(model_description_to_json(model)); });
  }
  Status operator()(const OperationsJob& job) const {
    const bool is_onnx = job.format == ModelFormat::kOnnx;
    put(engine_check_to_json({is_onnx ? known_onnx_operators() : known_operations(), {}, {}}));
    return {};
  }
  Status operator()(const Tf2xlaConfigJob& job) const {
    TFAOT_ASSIGN(const Tf2xlaConfig config, read_tf2xla_config(job.file));
    put(tf2xla_config_to_json(config));
    return {};
  }
  Status operator()(const HloQuestion& job) const {
    return read_hlo(fs, job, [](const auto& graph) { put(hlo_graph_to_json(graph)); });
  }
};

Status answer(FileSystem& fs, const Path& file) {
  TFAOT_ASSIGN(const std::string text, fs.read(file));
  TFAOT_ASSIGN(const EngineJob job, engine_job_from_json(text));
  return std::visit(Answer{fs, file}, job);
}

// Otherwise the allocator would keep freed tensors of up to 32 MB and split them up.
constexpr int kMappedFrom = 1 << 20;

// For developers, so errors are text. Returns the exit code.
int run_pass_by_hand(const FileSystem& fs, const std::vector<std::string>& words) {
  if (words.size() < 2 || words.size() > 3) {
    std::cerr << "usage: tfaot-engine " << kRunPassOption << " PASS FILE.hlo [INPUTS]\n";
    return 2;
  }
  const auto text = run_pass(fs, {words[0], words[1], words.size() == 3 ? words[2] : ""});
  (text ? std::cout : std::cerr) << (text ? *text : text.error().text() + "\n");
  return text ? 0 : 1;
}

}  // namespace

int run_engine(FileSystem& fs, int argc, char** argv) {
  start_program();
  for (; argc > 2 && std::string_view(argv[1]) == kTunedOption; argc -= 2, argv += 2) {
    if (const Status set = set_tuned(argv[2]); !set) {
      std::cerr << set.error().text() << '\n';
      return 2;
    }
  }
  if (argc > 1 && std::string_view(argv[1]) == kRunPassOption) {
    return run_pass_by_hand(fs, {argv + 2, argv + argc});
  }
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: tfaot-engine JOB.json PARENT [MEMORY]   (started by tfaot compile)\n";
    return 2;
  }
  if (!end_with_parent(argv[2])) {
    std::cerr << "tfaot-engine: process " << argv[2] << " is not the parent of this one\n";
    return 1;
  }
  mallopt(M_MMAP_THRESHOLD, kMappedFrom);
  const Status done = answer(fs, argv[1]);
  if (done) return 0;
  say({.word = EngineWord::kError,
       .text = done.error().message(),
       .notes = done.error().notes(),
       .file = done.error().where().file,
       .config_key = done.error().where().key,
       .line = done.error().where().line});
  return done.error().kind() == ErrorKind::kInternal ? 3 : 1;
}

}  // namespace tfaot::toolkit::engine
