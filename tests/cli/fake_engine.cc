// SPDX-License-Identifier: Apache-2.0
// Speaks the engine's side of records/engine_job.h without TensorFlow. FAKE_ENGINE in the
// environment makes it misbehave: "refuse" the model, find a disk "full", "crash", "interrupt" (a
// user's Ctrl-C while it works), "orphan" (kill -9 of the tool; it holds a lock on
// FAKE_ENGINE_LOCK while it lives), take 300 MB of "memory" or be "slow" without an end, also when
// it is asked about a model, which is an ONNX model of a "newer_opset".
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "fake_dump.h"
#include "tfaot/arrays/npy.h"
#include "tfaot/base/file_cache.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/memory_budget.h"
#include "tfaot/base/program_start.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/model_check_json.h"
#include "tfaot/records/symbols.h"

namespace tfaot::toolkit {
namespace {

void say(const EngineLine& line) { std::cout << engine_line_to_json(line) << std::flush; }

// A model may say "wider", or end with the letter that its weights consist of.
std::string model_text(const FileSystem& files, const JobModel& job) {
  return files.read(Path(job.source) / "saved_model.pb").value_or("");
}
std::string weights_of(const std::string& model) {
  return std::string(64, model.empty() ? 'w' : model.back());
}
std::string operation_of(const std::string& model) {
  return model.find("wider") == std::string::npos ? "add" : "multiply";
}

CompiledCode fake_code(const JobHlo& job, const std::string& model, std::int64_t batch_size,
                       const std::string& level) {
  const auto rows = static_cast<std::uint64_t>(batch_size);
  CompiledCode code;
  code.batch_size = batch_size;
  code.cpu_level = level;
  code.buffers = {{BufferKind::kInput, 0, rows * 40},
                  {BufferKind::kOutput, 0, rows * 8},
                  {BufferKind::kTemporary, 0, 8}};
  if (!job.embed_weights) {
    code.buffers.push_back({BufferKind::kWeight, 0, 64});
    code.weights = {0};
  }
  code.result_slot = 2;
  code.hlo_sha256 = sha256_of(operation_of(model) + std::to_string(batch_size));
  return code;
}

// Like the engine: from the cache, or made and put there. `place`: null for no cache.
Status write_object(FileSystem& files, const JobCode& job, const JobCache* place,
                    EngineResult& result) {
  CompiledCode& code = result.model.codes.back();
  code.object = object_file_name(program_name(job.model_name, code.batch_size), code.cpu_level);
  code.entry_symbol = entry_symbol(job.symbol_prefix, code.batch_size, code.cpu_level);
  TFAOT_ASSIGN(std::string object, files.read(TFAOT_FAKE_OBJECT));
  if (place != nullptr && !place->directory.empty()) {
    FileCache cache(files, place->directory);
    const std::string key = sha256_of(code.hlo_sha256 + code.cpu_level + place->compiler_flags);
    const auto cached = cache.get(key);
    code.from_cache = cached.has_value();
    if (cached) object = *cached;
    const Status kept = cached ? Status() : cache.put(key, object);
    if (!kept) say({EngineWord::kNote, kept.error().text()});
    if (kept && !cached) result.cached_bytes += object.size();
  }
  return files.replace_atomically(Path(job.output_directory) / code.object, object);
}

// What it says of any model.
EngineCheck fake_check() {
  const CheckedOperation product{"MatMul",
                                 OperationSupport::kKernel,
                                 {{"T", {"float32", "float64", "int32"}, {"float32"}}},
                                 {},
                                 {},
                                 "",
                                 {{"dense/MatMul", "forward"}, {"dense_1/MatMul", "forward"}}};
  const CheckedOperation noise{"RandomUniform",
                               OperationSupport::kKernel,
                               {{"T", {"int32", "int64"}, {"int32"}}, {"dtype", {"float32"}, {}}},
                               {"shape"},
                               {OperationTrait::kDrawsRandomNumbers},
                               "make the noise an input",
                               {{"dropout/uniform", ""}}};
  return {{product, noise}, {}, {}};
}

// As loaded_code.cc predicts: the sum of a row, and the letter of its weights. A model that says
// "off" has other sums, one that says "picky" takes no NaN and no huge numbers, one that says
// "nans" makes all of a row NaN, "flat" has other sums of equal numbers alone, as a normalisation
// may have, and sums of "shaky" depend on the last bit of a row's first number.
Status predict(FileSystem& files, const std::string& model, const Path& folder,
               std::string& refusal) {
  TFAOT_ASSIGN(const std::string bytes, files.read(folder / input_file(0)));
  TFAOT_ASSIGN(const Array x, npy_from_bytes(bytes, "x"));
  Array y = make_array({"y", DType::kFloat32, {2}}, x.shape.front());
  const auto* const from = reinterpret_cast<const float*>(x.bytes.data());
  auto* const to = reinterpret_cast<float*>(y.bytes.data());
  for (std::int64_t row = 0; row < x.shape.front(); ++row) {
    to[2 * row] = 0;
    for (int i = 0; i < 10; ++i) to[2 * row] += from[10 * row + i];
    if (model.find("off") != std::string::npos) to[2 * row] *= 1.01F;
    const float* const first = from + 10 * row;
    const bool is_flat = std::equal(first, first + 9, first + 1) && *first != 0;
    if (model.find("flat") != std::string::npos && is_flat) to[2 * row] *= 1.01F;
    std::uint32_t bits = 0;
    std::memcpy(&bits, first, sizeof bits);
    if (model.find("shaky") != std::string::npos && bits % 2 != 0) to[2 * row] += 0.002F;
    if (model.find("picky") != std::string::npos && !(std::abs(to[2 * row]) < 1e6F)) {
      refusal = "TensorFlow: this is too much";
    }
    const bool spreads = model.find("nans") != std::string::npos && std::isnan(to[2 * row]);
    to[2 * row + 1] = spreads ? to[2 * row] : 'w';
  }
  return files.replace_atomically(folder / output_file(0), npy_to_bytes(y));
}

Result<EngineResult> predictions(FileSystem& files, const PredictJob& job) {
  const std::string model = model_text(files, job.model);
  EngineResult result;
  result.model.engine = "fake 1.0";
  result.model.signature = {
      job.model.serving_key, {{"x", DType::kFloat32, {10}}}, {{"y", DType::kFloat32, {2}}}};
  if (model.find("wider") != std::string::npos) result.model.signature.inputs[0].row_shape = {12};
  for (const std::string& folder : job.folders) {
    TFAOT_TRY(predict(files, model, folder, result.refusals.emplace_back()));
    say({EngineWord::kProgress, Path(folder).filename().string()});
  }
  return result;
}

// `code`: null if only lowered.
Result<EngineResult> compile(FileSystem& files, const JobHlo& job, const JobCode* code,
                             const JobCache* cache = nullptr, bool is_check = false) {
  const std::string model = model_text(files, job.model);
  const std::string weights = weights_of(model);
  EngineResult result;
  CompiledModel& record = result.model;
  record.engine = "fake 1.0";
  record.hlo_text = "ENTRY computation.1 {\n  p0.1 = f32[1] parameter(0)\n  ROOT " +
                    operation_of(model) + ".2 = f32[1] " + operation_of(model) +
                    "(p0.1, p0.1)\n}\n";
  record.signature = {
      job.model.serving_key, {{"x", DType::kFloat32, {10}}}, {{"y", DType::kFloat32, {2}}}};
  if (!job.embed_weights) {
    record.weights = {{"w", DType::kFloat32, {16}, 0, 64}};
    result.weight_files = {"raw_0"};
    TFAOT_TRY(files.replace_atomically(Path(job.weights_directory) / "raw_0", weights));
  }
  if (is_check) std::cout << engine_check_to_json(fake_check()) << std::flush;
  for (const std::int64_t batch_size : job.batch_sizes) {
    for (const JobLevel& level : job.levels) {
      record.codes.push_back(fake_code(job, model, batch_size, level.name));
      if (code == nullptr) continue;
      TFAOT_TRY(write_object(files, *code, cache, result));
      if (is_check) {
        std::cout << engine_check_to_json(
            {{}, {{batch_size, level.name, record.codes.back().object}}, {}});
      }
      const std::string step = "batch size " + std::to_string(batch_size) + ", " + level.name;
      say({EngineWord::kProgress, step});
    }
  }
  return result;
}

ModelDescription fake_description() {
  const DescribedTensor x{"x", "serving_default_x:0", "float32", true, {-1, 10}};
  const DescribedTensor y{"y", "StatefulPartitionedCall:0", "float32", true, {-1, 2}};
  const DescribedTensor odd{"odd", "odd:0", "string", false, {}};
  return {ModelFormat::kSavedModel,
          "fake 1.0",
          {{"other", {odd}, {y}, {}, {}, -1, "input 'odd' has dtype string", {"allowed: bool"}},
           {"serving_default",
            {x},
            {y},
            {{"dense/kernel", "float32", {10, 200}}, {"dense/bias", "float32", {200}}},
            {{"MatMul", 2}, {"BiasAdd", 1}},
            4200,
            "",
            {}}}};
}

// If the job checks, it hears of a second problem too.
Error refusal(const std::vector<std::int64_t>& batch_sizes, bool is_check) {
  Error error = Error("op 'Foo' of node 'bar' cannot be compiled")
                    .note("XLA has no kernel for it")
                    .about(word_of(ProblemKind::kNoKernel), {"bar"});
  error.also(Error("the model draws random numbers when it runs, by 'dropout/uniform'")
                 .note("make the noise an input")
                 .about(word_of(ProblemKind::kRandom), {"dropout/uniform"}));
  EngineCheck check = fake_check();
  check.problems = problems_of(error, batch_sizes.front());
  if (is_check) std::cout << engine_check_to_json(check);
  return error;
}

void misbehave(const std::string& how) {
  if (how == "crash") {
    std::cerr << "F0000 fake.cc:1] Check failed: the fake engine was told to crash" << std::endl;
    std::abort();
  }
  if (how == "interrupt") {
    kill(getppid(), SIGINT);
    for (;;) pause();  // the tool must end it
  }
  if (how == "orphan") {
    flock(open(std::getenv("FAKE_ENGINE_LOCK"), O_RDWR), LOCK_EX);
    kill(getppid(), SIGKILL);
    for (;;) pause();  // it must end by itself
  }
}

// Answers a job in its file, unless FAKE_ENGINE is another word than these.
struct Answer {
  RealFileSystem& files;
  Path file;
  std::string how;

  Status operator()(const CompileJob& job) const { return compiled(job, false); }
  Status operator()(const CheckJob& job) const { return compiled(job.compile, true); }
  Status operator()(const CountJob& job) const { return compiled({job.hlo, job.code, {}}, false); }
  Status operator()(const ResultsJob& job) const {
    return compiled({job.hlo, job.code, {}}, false);
  }
  Status operator()(const DumpJob& job) const {
    TFAOT_TRY(write_fake_dump(files, job.hlo, job.dump));
    return compiled({job.hlo, job.code, {}}, false);
  }
  Status operator()(const LowerJob& job) const {
    TFAOT_TRY(begin(job.hlo.batch_sizes, false));
    if (!job.dump.directory.empty()) TFAOT_TRY(write_fake_dump(files, job.hlo, job.dump));
    return write(compile(files, job.hlo, nullptr));
  }
  Status operator()(const PredictJob& job) const {
    TFAOT_TRY(begin({job.batch_size}, false));
    return write(predictions(files, job));
  }
  Status operator()(const DescribeJob&) const {
    ModelDescription model = fake_description();
    if (how == "newer_opset") {
      model.format = ModelFormat::kOnnx;
      for (DescribedSignature& signature : model.signatures) {
        signature.newer_opset = "the model has opset 99, and the newest that tfaot knows is 27";
      }
    }
    std::cout << model_description_to_json(model) << std::flush;
    return {};
  }
  Status operator()(const OperationsJob&) const {
    EngineCheck known = fake_check();
    for (CheckedOperation& one : known.operations) one.nodes.clear();
    std::cout << engine_check_to_json(known) << std::flush;
    return {};
  }
  Status operator()(const Tf2xlaConfigJob&) const { return fail(Error("not faked")); }
  Status operator()(const HloQuestion& job) const { return say_fake_graphs(files, job); }

 private:
  // Misbehaves.
  Status begin(const std::vector<std::int64_t>& batch_sizes, bool is_check) const {
    misbehave(how);
    if (how == "refuse") return fail(refusal(batch_sizes, is_check));
    if (how == "full") {
      return fail(Error::at({(file.parent_path() / "a.o").string()},
                            "cannot write: No space left on device"));
    }
    return {};
  }
  Status compiled(const CompileJob& job, bool is_check) const {
    TFAOT_TRY(begin(job.hlo.batch_sizes, is_check));
    return write(compile(files, job.hlo, &job.code, &job.cache, is_check));
  }
  Status write(const Result<EngineResult>& result) const {
    if (!result) return fail(result.error());
    return files.replace_atomically(result_file(file), engine_result_to_json(*result));
  }
};

}  // namespace
}  // namespace tfaot::toolkit

int main(int argc, char** argv) {
  using namespace tfaot::toolkit;
  const char* const word = std::getenv("FAKE_ENGINE");
  const std::string how = word == nullptr ? "" : word;
  if (argc == 4) end_above_memory(std::strtoull(argv[3], nullptr, 10), [] { std::_Exit(1); });
  if (how == "slow" || how == "memory") {
    const std::string much(how == "memory" ? 300'000'000 : 0, 'x');
    for (;;) pause();
  }
  if ((argc != 3 && argc != 4) || !end_with_parent(argv[2])) return 2;
  RealFileSystem files;
  const auto text = files.read(argv[1]);
  const auto job = text ? engine_job_from_json(*text) : fail(text.error());
  const Status done = job ? std::visit(Answer{files, argv[1], how}, *job) : fail(job.error());
  if (done) return 0;
  say({.word = EngineWord::kError,
       .text = done.error().message(),
       .notes = done.error().notes(),
       .file = done.error().where().file});
  return 1;
}
