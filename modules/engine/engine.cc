// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <iostream>

#include "compiler/code/object_code.h"
#include "compiler/code/optimize.h"
#include "compiler/cost/static_cost.h"
#include "compiler/hlo/lowering.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/machine_model.h"
#include "compiler/rows/row_check.h"
#include "compiler/rows/waiting_loops.h"
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
#include "tfaot/records/model_description_json.h"
#include "tfaot/records/symbols.h"
#include "tfaot/records/tf2xla_config.h"
#include "xla/service/hlo.pb.h"

namespace tfaot::toolkit::engine {
namespace {

// At once: XLA may end the process.
void put(const std::string& line) { std::cout << line << std::flush; }
void say(const EngineLine& line) { put(engine_line_to_json(line)); }

// From the cache, or compiled and put there; compiled if the steps are dumped.
Result<ObjectCode> object_code(CodeCache& cache, const EngineJob& job, const OptimizedModel& model,
                               const JobLevel& level, CompiledCode& record) {
  if (!job.dump_directory.empty()) {
    return make_object_code(model, level, job.target_triple, Counting::kNone,
                            {job.dump_directory, job.dump_passes});
  }
  if (auto cached = cache.find(record.hlo_sha256, level)) {
    record.from_cache = true;
    return std::move(*cached);
  }
  TFAOT_ASSIGN(auto made,
               make_object_code(model, level, job.target_triple,
                                job.count_operations ? Counting::kOperations : Counting::kNone));
  const auto kept = cache.keep(record.hlo_sha256, level, made);
  if (!kept) say({EngineWord::kNote, "the code is not cached: " + kept.error().text()});
  return made;
}

Choices choices_of(const EngineJob& job) { return {job.weights_type, job.fast_math, job.optimize}; }

std::int64_t scratch_bytes(const std::vector<BufferSlot>& buffers) {
  std::uint64_t bytes = 0;
  for (const BufferSlot& slot : buffers) {
    if (slot.kind == BufferKind::kTemporary) bytes += slot.size;
  }
  return static_cast<std::int64_t>(bytes);
}

Result<bool> has_coupled_rows(const EngineJob& job, const Lowering& lowering,
                              const LoweredModel& lowered, std::int64_t batch_size,
                              const WeightStore& store) {
  const auto warn = [](const std::string& text) { say({EngineWord::kWarning, text}); };
  const auto note = [](const std::string& text) { say({EngineWord::kNote, text}); };
  const Status alone =
      check_rows_alone(lowering, {&lowered, batch_size}, job.row_sizes, store, {warn, note});
  if (alone || job.allow_coupled_rows) return !alone;
  return fail(alone.error());
}

// What `tfaot check` wants to know: all problems, as far as the work can go on after one. Otherwise
// the first problem ends it.
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

DumpFacts dump_facts(const EngineResult& result, const JobLevel& level, const OptimizedModel& model,
                     const WeightStore& store, const CompiledCode& code) {
  DumpFacts facts;
  facts.engine = result.model.engine;
  facts.batch_size = code.batch_size;
  facts.cpu_level = level.name;
  facts.kernels = level.kernels;
  facts.inputs = std::ssize(model.inputs);
  facts.scratch_bytes = scratch_bytes(code.buffers);
  facts.picoseconds = code.estimated_cost;
  for (const std::size_t weight : model.weights) facts.weights.push_back(store.origin(weight));
  return facts;
}

// Writes a module after each step of ours into a dump folder, next to what XLA writes there.
class StepDump {
 public:
  // An empty folder: nothing is written.
  StepDump(FileSystem& fs, const EngineJob& job)
      : fs_(fs), folder_(job.dump_directory), passes_(job.dump_passes) {}

  // Empty if nothing is written. The dump must outlive it.
  StepViewer viewer() {
    if (folder_.empty()) return {};
    return {[this](const std::string& step, const xla::HloModule& module) {
              return add(step, module.ToProto());
            },
            passes_};
  }
  // "tfaot.0003.kernel_calls.hlo.pb", an xla::HloProto
  Status add(const std::string& step, const xla::HloModuleProto& module) {
    if (folder_.empty()) return {};  // before anything is made: a module may hold all weights
    xla::HloProto proto;
    *proto.mutable_hlo_module() = module;
    return write(fmt::format("tfaot.{:04}.{}.hlo.pb", ++steps_, step), proto.SerializeAsString());
  }
  Status add(const DumpFacts& facts) {
    if (folder_.empty()) return {};
    return write(kDumpFactsName, dump_facts_to_json(facts));
  }

 private:
  Status write(const std::string& name, const std::string& text) {
    return fs_.replace_atomically(Path(folder_) / name, text, Durability::kScratch);
  }

  FileSystem& fs_;
  std::string folder_;
  bool passes_;
  int steps_ = 0;
};

Status compile_batch_size(FileSystem& fs, CodeCache& cache, const EngineJob& job,
                          const Lowering& lowering, std::int64_t batch_size, WeightStore& store,
                          std::vector<std::size_t>& used, EngineResult& result,
                          CheckReport& report) {
  CompiledModel& record = result.model;
  TFAOT_ASSIGN(const auto lowered, lowering.lower(batch_size));
  if (record.codes.empty()) {
    const bool coupled = job.row_sizes.empty() || job.allow_coupled_rows;
    TFAOT_TRY(check_output_rows(lowering, lowered, batch_size, coupled));
  }
  record.signature.inputs = lowered.inputs;
  record.signature.outputs = lowered.outputs;
  StepDump dump(fs, job);
  const bool keeps_names = job.count_operations || !job.dump_directory.empty();
  TFAOT_ASSIGN(const auto optimized,
               optimize(lowered, store, choices_of(job),
                        keeps_names ? Traces::kNames : Traces::kRemoved, dump.viewer()));
  TFAOT_TRY(dump.add("optimized", optimized.computation.proto()));
  // After optimize(), which refuses random numbers: they would look like rows that mix.
  if (record.codes.empty() && !job.row_sizes.empty()) {
    const auto coupled = has_coupled_rows(job, lowering, lowered, batch_size, store);
    TFAOT_TRY(report.take(coupled ? Status() : fail(coupled.error()), 0));
    result.coupled_rows = coupled.value_or(true);
  }
  if (record.codes.empty() && !job.lower_only && !optimized.xla_products.empty()) {
    say({EngineWord::kWarning, warning_of(optimized.xla_products)});
  }
  for (const Remark& remark : optimized.remarks) {
    say({EngineWord::kNote,
         fmt::format("batch size {}, {}{}: {}", batch_size, remark.instruction,
                     remark.layer.empty() ? "" : " of " + remark.layer, remark.text)});
  }
  const auto hlo = hlo_sha256(optimized.computation);
  std::vector<std::uint32_t> weights;
  for (const auto stored : optimized.weights) {
    const auto found = std::ranges::find(used, stored);
    weights.push_back(static_cast<std::uint32_t>(found - used.begin()));
    if (found == used.end()) used.push_back(stored);
  }
  if (record.codes.empty() && !job.embed_weights) {
    TFAOT_ASSIGN(record.hlo_text, hlo_text(optimized.computation));
  }
  TFAOT_ASSIGN(const auto module, make_module(optimized.computation.proto()));
  for (const auto& level : job.levels) {
    CompiledCode code;
    code.batch_size = batch_size;
    code.cpu_level = level.name;
    code.hlo_sha256 = hlo;
    code.weights = weights;
    if (job.lower_only) {
      record.codes.push_back(std::move(code));
      continue;
    }
    if (find_machine(level.kernels) == nullptr) {
      return fail(Error(fmt::format("there are no kernels '{}'", level.kernels)));
    }
    const std::string program = program_name(job.model_name, batch_size);
    code.object = level.name == job.levels.front().name ? lowest_object_file_name(program)
                                                        : object_file_name(program, level.name);
    code.entry_symbol = entry_symbol(job.symbol_prefix, batch_size, level.name);
    auto compiled = object_code(cache, job, optimized, level, code);
    if (!compiled) {
      Error error = std::move(compiled).error();
      TFAOT_TRY(report.take(
          fail(std::move(error).about(word_of(ProblemKind::kCompiler), {level.name})), batch_size));
      continue;
    }
    ObjectCode& made = *compiled;
    TFAOT_TRY(fs.replace_atomically(Path(job.output_directory) / code.object, made.bytes,
                                    Durability::kScratch));
    const StaticCost cost = static_cost(
        *module, {std::ssize(optimized.inputs), scratch_bytes(made.buffers), level.kernels});
    code.estimated_cost = cost.picoseconds;
    code.live_permille = cost.live_permille;
    code.shared_permille = cost.shared_permille;
    code.lane_bytes = static_cast<std::uint64_t>(lane_bytes(*module));
    if (job.count_operations) {
      made.counted.batch_size = batch_size;
      made.counted.cpu_level = level.name;
      result.counted.push_back(std::move(made.counted));
    }
    code.buffers = std::move(made.buffers);
    code.result_slot = made.result_slot;
    say({EngineWord::kProgress, fmt::format("batch size {}, {}{}", batch_size, level.name,
                                            code.from_cache ? " (from the cache)" : "")});
    report.add_code(code);
    TFAOT_TRY(dump.add(dump_facts(result, level, optimized, store, code)));
    record.codes.push_back(std::move(code));
  }
  return {};
}

Result<EngineResult> compile(FileSystem& fs, const EngineJob& job, CheckReport& report) {
  TFAOT_ASSIGN(const auto model, load_model(job));
  report.add_operations(*model);
  TFAOT_TRY(model->prepare());
  TFAOT_ASSIGN(auto made, model->lowering({job.embed_weights, job.fixed_shapes, job.any_opset}));
  const auto lowering = with_frozen_rows(std::move(made));
  EngineResult result;
  CompiledModel& record = result.model;
  record.engine = std::string("tensorflow ") + TF_VERSION_STRING;
  record.target_triple = job.target_triple;
  record.signature.key = job.serving_key;
  TFAOT_ASSIGN(auto store, WeightStore::create(fs, job, lowering->weights()));
  record.variables = model->variables();
  TFAOT_TRY(check_weight_limits(record.variables));
  std::vector<std::size_t> used;  // weights of the code, in order of first use
  CodeCache cache(fs, job, [](const std::string& text) { say({EngineWord::kWarning, text}); });
  for (const auto batch_size : job.batch_sizes) {
    Status done =
        compile_batch_size(fs, cache, job, *lowering, batch_size, store, used, result, report);
    TFAOT_TRY(report.take(std::move(done), batch_size));
  }
  TFAOT_TRY(report.end());
  result.cached_bytes = cache.added();
  TFAOT_TRY(store.finish(used, result));
  return result;
}

Status run(FileSystem& fs, const EngineJob& job) {
  if (!job.predictions.empty()) {
    TFAOT_ASSIGN(const auto made, predict_as_original(fs, job, [](const std::string& step) {
                   say({EngineWord::kProgress, step});
                 }));
    return fs.replace_atomically(job.result_file, engine_result_to_json(made),
                                 Durability::kScratch);
  }
  CheckReport report(job.check);
  const auto result = compile(fs, job, report);
  if (!result) {
    if (report.end()) static_cast<void>(report.take(fail(result.error()), 0));
    return fail(result.error());
  }
  return fs.replace_atomically(job.result_file, engine_result_to_json(*result),
                               Durability::kScratch);
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

// `first`: a job's file, or what else is asked for; `second`: the parent, or what it is asked of.
Status answer(FileSystem& fs, const std::string& first, const std::string& second) {
  if (first == kConfigOption) {
    TFAOT_ASSIGN(const auto line, tf2xla_config_json(second));
    put(line);
    return {};
  }
  if (first == kDescribeOption) {
    return describe_model(second, [](const auto& model) { put(model_description_to_json(model)); });
  }
  if (first == kOperationsOption) {
    const bool is_onnx = second == word_of(ModelFormat::kOnnx);
    put(engine_check_to_json({is_onnx ? known_onnx_operators() : known_operations(), {}, {}}));
    return {};
  }
  const bool is_question = first == kReadHloOption;
  TFAOT_ASSIGN(const auto text, fs.read(is_question ? second : first));
  if (is_question) {
    TFAOT_ASSIGN(const auto question, hlo_question_from_json(text));
    return read_hlo(fs, question, [](const auto& graph) { put(hlo_graph_to_json(graph)); });
  }
  TFAOT_ASSIGN(const auto job, engine_job_from_json(text));
  return run(fs, job);
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
  const bool is_job = !std::string_view(argv[1]).starts_with("--");
  if (is_job && !end_with_parent(argv[2])) {
    std::cerr << "tfaot-engine: process " << argv[2] << " is not the parent of this one\n";
    return 1;
  }
  mallopt(M_MMAP_THRESHOLD, kMappedFrom);
  const Status done = answer(fs, argv[1], argv[2]);
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
