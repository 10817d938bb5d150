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
#include "tfaot/records/model_description_json.h"
#include "tfaot/records/symbols.h"

namespace tfaot::toolkit {
namespace {

void say(const EngineLine& line) { std::cout << engine_line_to_json(line) << std::flush; }

// A model may say "wider", or end with the letter that its weights consist of.
std::string model_text(const FileSystem& files, const EngineJob& job) {
  return files.read(Path(job.source) / "saved_model.pb").value_or("");
}
std::string weights_of(const std::string& model) {
  return std::string(64, model.empty() ? 'w' : model.back());
}
std::string operation_of(const std::string& model) {
  return model.find("wider") == std::string::npos ? "add" : "multiply";
}

CompiledCode fake_code(const EngineJob& job, const std::string& model, std::int64_t batch_size,
                       const std::string& level) {
  const auto rows = static_cast<std::uint64_t>(batch_size);
  CompiledCode code;
  code.batch_size = batch_size;
  code.cpu_level = level;
  code.object = object_file_name(program_name(job.model_name, batch_size), level);
  code.entry_symbol = entry_symbol(job.symbol_prefix, batch_size, level);
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

// Like the engine: from the cache, or made and put there.
Status write_object(FileSystem& files, const EngineJob& job, EngineResult& result) {
  CompiledCode& code = result.model.codes.back();
  TFAOT_ASSIGN(std::string object, files.read(TFAOT_FAKE_OBJECT));
  if (!job.cache_directory.empty()) {
    FileCache cache(files, job.cache_directory);
    const std::string key = sha256_of(code.hlo_sha256 + code.cpu_level + job.compiler_flags);
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

Status run_as_original(FileSystem& files, const EngineJob& job) {
  const std::string model = model_text(files, job);
  EngineResult result;
  result.model.engine = "fake 1.0";
  result.model.signature = {
      job.serving_key, {{"x", DType::kFloat32, {10}}}, {{"y", DType::kFloat32, {2}}}};
  if (model.find("wider") != std::string::npos) result.model.signature.inputs[0].row_shape = {12};
  for (const std::string& folder : job.predictions) {
    TFAOT_TRY(predict(files, model, folder, result.refusals.emplace_back()));
    say({EngineWord::kProgress, Path(folder).filename().string()});
  }
  return files.replace_atomically(job.result_file, engine_result_to_json(result));
}

Status run(FileSystem& files, const EngineJob& job) {
  if (!job.predictions.empty()) return run_as_original(files, job);
  const std::string model = model_text(files, job);
  const std::string weights = weights_of(model);
  EngineResult result;
  CompiledModel& record = result.model;
  record.engine = "fake 1.0";
  record.hlo_text = "ENTRY computation.1 {\n  p0.1 = f32[1] parameter(0)\n  ROOT " +
                    operation_of(model) + ".2 = f32[1] " + operation_of(model) +
                    "(p0.1, p0.1)\n}\n";
  record.target_triple = job.target_triple;
  record.signature = {
      job.serving_key, {{"x", DType::kFloat32, {10}}}, {{"y", DType::kFloat32, {2}}}};
  if (!job.embed_weights) {
    record.weights = {{"w", DType::kFloat32, {16}, 0, 64}};
    result.weight_files = {"raw_0"};
    TFAOT_TRY(files.replace_atomically(Path(job.weights_directory) / "raw_0", weights));
  }
  if (job.check) std::cout << engine_check_to_json(fake_check()) << std::flush;
  if (!job.dump_directory.empty()) TFAOT_TRY(write_fake_dump(files, job));
  for (const std::int64_t batch_size : job.batch_sizes) {
    for (const JobLevel& level : job.levels) {
      record.codes.push_back(fake_code(job, model, batch_size, level.name));
      if (job.lower_only) continue;
      TFAOT_TRY(write_object(files, job, result));
      if (job.check) {
        std::cout << engine_check_to_json(
            {{}, {{batch_size, level.name, record.codes.back().object}}, {}});
      }
      const std::string step = "batch size " + std::to_string(batch_size) + ", " + level.name;
      say({EngineWord::kProgress, step});
    }
  }
  return files.replace_atomically(job.result_file, engine_result_to_json(result));
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
int refuse(const EngineJob& job) {
  Error error = Error("op 'Foo' of node 'bar' cannot be compiled")
                    .note("XLA has no kernel for it")
                    .about(word_of(ProblemKind::kNoKernel), {"bar"});
  error.also(Error("the model draws random numbers when it runs, by 'dropout/uniform'")
                 .note("make the noise an input")
                 .about(word_of(ProblemKind::kRandom), {"dropout/uniform"}));
  EngineCheck check = fake_check();
  check.problems = problems_of(error, job.batch_sizes.front());
  if (job.check) std::cout << engine_check_to_json(check);
  say({.word = EngineWord::kError, .text = error.message(), .notes = error.notes()});
  return 1;
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

}  // namespace
}  // namespace tfaot::toolkit

int main(int argc, char** argv) {
  using namespace tfaot::toolkit;
  const char* const how = std::getenv("FAKE_ENGINE");
  if (argc == 4) end_above_memory(std::strtoull(argv[3], nullptr, 10), [] { std::_Exit(1); });
  if (how != nullptr && (std::string(how) == "slow" || std::string(how) == "memory")) {
    const std::string much(*how == 'm' ? 300'000'000 : 0, 'x');
    for (;;) pause();
  }
  if (argc == 3 && std::string(argv[1]) == kDescribeOption) {
    ModelDescription model = fake_description();
    if (how != nullptr && std::string(how) == "newer_opset") {
      model.format = ModelFormat::kOnnx;
      for (DescribedSignature& signature : model.signatures) {
        signature.newer_opset = "the model has opset 99, and the newest that tfaot knows is 27";
      }
    }
    std::cout << model_description_to_json(model) << std::flush;
    return 0;
  }
  if (argc == 3 && std::string(argv[1]) == kOperationsOption) {
    EngineCheck known = fake_check();
    for (CheckedOperation& one : known.operations) one.nodes.clear();
    std::cout << engine_check_to_json(known) << std::flush;
    return 0;
  }
  if (argc == 3 && std::string(argv[1]) == kReadHloOption) {
    RealFileSystem files;
    const Status read = say_fake_graphs(files, argv[2]);
    if (!read) say({.word = EngineWord::kError, .text = read.error().message()});
    return read ? 0 : 1;
  }
  if ((argc != 3 && argc != 4) || !end_with_parent(argv[2])) return 2;
  misbehave(how == nullptr ? "" : how);
  RealFileSystem files;
  const auto text = files.read(argv[1]);
  const auto job = text ? engine_job_from_json(*text) : fail(text.error());
  if (job && how != nullptr && std::string(how) == "refuse") return refuse(*job);
  if (job && how != nullptr && std::string(how) == "full") {
    say({.word = EngineWord::kError,
         .text = "cannot write: No space left on device",
         .file = job->output_directory + "/a.o"});
    return 1;
  }
  const Status done = job ? run(files, *job) : fail(job.error());
  if (!done) std::cerr << done.error().text() << std::endl;
  return done ? 0 : 3;
}
