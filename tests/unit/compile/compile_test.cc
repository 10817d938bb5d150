// SPDX-License-Identifier: Apache-2.0
// compile_model() with a stand-in for the engine: a shell script that follows the protocol, or
// breaks it.
#include "tfaot/compile/compile.h"
#include "tests/support/executable_file.h"
#include "tfaot/base/real_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/symbol_hash.h"
#include "tfaot/compile/update_weights.h"
#include "tfaot/elf/data_object.h"
#include "tfaot/elf/symbols.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/symbols.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RecordingDiagnostics final : public Diagnostics {
 public:
  void warning(const std::string& text) override { add("warning: " + text); }
  void verbose(const std::string&) override {}
  void progress(std::size_t done, std::size_t total, const std::string& step) override {
    add(fmt::format("{}/{} {}", done, total, step));
  }
  std::vector<std::string> lines;

 private:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines.push_back(std::move(line));
  }
  std::mutex mutex_;
};

class CompileModel : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_.create_directories(root_ / "work"));
    ASSERT_TRUE(fs_.replace_atomically(root_ / "model" / "saved_model.pb", "a model"));
    spec_.model.name = "test";
    spec_.model.source = root_ / "model";
    spec_.compilation.batch_sizes = {1, 2};
    spec_.compilation.cpu_levels = {"x86-64"};
    options_.engine.file = root_ / "engine";
    options_.work_directory = root_ / "work";
    options_.jobs = 2;
  }
  void engine(const std::string& script) {
    ASSERT_TRUE(fs_.replace_atomically(options_.engine.file, "#!/bin/sh\n" + script));
    testing::make_executable(options_.engine.file);
  }

  // What the engine process of one batch size would write; the script copies it into place.
  void prepare(std::int64_t batch_size, std::size_t process, std::int64_t row_elements = 3) {
    CompiledModel record;
    record.engine = "tensorflow 0";
    record.target_triple = "x86_64-unknown-linux-gnu";
    record.signature.outputs = {{"y", DType::kFloat32, {row_elements}}};
    record.weights = {{"w", DType::kFloat32, {1}, 0, 4}};
    CompiledCode code;
    code.batch_size = batch_size;
    code.cpu_level = "x86-64";
    code.object = fmt::format("test_bs{}.o", batch_size);
    code.entry_symbol = fmt::format("entry_bs{}", batch_size);
    code.weights = {0};
    record.codes = {code};
    const auto object = make_data_object("code", {{kNeutralEntrySymbol}}, record.target_triple);
    ASSERT_TRUE(fs_.replace_atomically(root_ / "made" / code.object, *object));
    ASSERT_TRUE(fs_.replace_atomically(root_ / "made" / fmt::format("result_{}.json", process),
                                       engine_result_to_json({record, {"raw_0"}})));
    ASSERT_TRUE(fs_.replace_atomically(root_ / "work" / "weights" / "raw_0", "wwww"));
  }
  // Each process copies only its own result, because the others' are read while it runs.
  std::string copy_script() const {
    return fmt::format(
        "echo '{{\"progress\": \"a step\"}}'\n"
        "cp '{0}/made/'*.o '{0}/work/'\n"
        "cp \"{0}/made/$(basename \"$1\" .job).json\" '{0}/work/'\n",
        root_.string());
  }

  Result<CompiledModel> compile() { return compile_model(fs_, spec_, options_, diagnostics_); }
  std::string error_text() {
    const auto compiled = compile();
    EXPECT_FALSE(compiled);
    return compiled ? "" : replace_all(compiled.error().text(), root_.string(), "ROOT");
  }

  RealFileSystem fs_;
  testing::TemporaryFolder scratch_;
  Path root_ = scratch_.path();
  ModelSpec spec_;
  CompileOptions options_;
  RecordingDiagnostics diagnostics_;
};

TEST_F(CompileModel, MergesTheSharesOfAllProcesses) {
  prepare(1, 0);
  prepare(2, 1);
  engine(copy_script());
  const auto compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_THAT(compiled->batch_sizes, ElementsAre(1, 2));
  EXPECT_THAT(compiled->cpu_levels, ElementsAre("x86-64"));
  ASSERT_EQ(compiled->codes.size(), 2U);
  EXPECT_EQ(compiled->codes[0].batch_size, 1);
  EXPECT_EQ(compiled->codes[1].batch_size, 2);
  EXPECT_EQ(compiled->source_sha256, *sha256_of_tree(fs_, spec_.model.source));
}

TEST_F(CompileModel, PassesOnWhatSeveralProcessesWarnOfOnce) {
  prepare(1, 0);
  prepare(2, 1);
  engine("echo '{\"warning\": \"a dead cache\"}'\n" + copy_script());
  ASSERT_TRUE(compile());
  EXPECT_THAT(diagnostics_.lines,
              ::testing::UnorderedElementsAre("warning: a dead cache", "1/2 a step", "2/2 a step"));
}

TEST_F(CompileModel, MakesAnObjectOfTheWeights) {
  prepare(1, 0);
  prepare(2, 1);
  engine(copy_script());
  const auto compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(compiled->weights_object, "test_weights.o");
  EXPECT_EQ(compiled->weights_symbol, symbol_name("tfaot_tfaot_model_test_weights", "wwww"));
  EXPECT_EQ(*fs_.read(options_.work_directory / "test_weights.o"),
            *make_data_object("wwww", {{compiled->weights_symbol, 0, 4, false, true}},
                              compiled->target_triple));
  EXPECT_EQ(compiled->weights_object_sha256,
            *sha256_of_file(fs_, options_.work_directory / "test_weights.o"));
}

TEST_F(CompileModel, NamesTheEntryOfEachObject) {
  prepare(1, 0);
  prepare(2, 1);
  engine(copy_script());
  const auto compiled = compile();
  ASSERT_TRUE(compiled) << compiled.error().text();
  for (const CompiledCode& code : compiled->codes) {
    const auto object = fs_.read(options_.work_directory / code.object);
    ASSERT_TRUE(object);
    EXPECT_EQ(code.entry_symbol, symbol_name(fmt::format("entry_bs{}", code.batch_size),
                                             *fs_.read(root_ / "made" / code.object)));
    EXPECT_TRUE(rename_symbol(*object, {code.entry_symbol, "other"}));
    EXPECT_FALSE(rename_symbol(*object, {kNeutralEntrySymbol, "other"}));
  }
}

TEST_F(CompileModel, RefusesCodeThatCallsWhatTheRuntimeDoesNotHave) {
  prepare(1, 0);
  prepare(2, 1);
  ASSERT_TRUE(fs_.copy_file(TFAOT_LOST_CALL_OBJECT, root_ / "made" / "test_bs2.o"));
  engine(copy_script());
  EXPECT_EQ(error_text(),
            "ROOT/model: the code for batch size 2, x86-64, calls "
            "'tfaot_lost_by_every_runtime_there_is_f32_x86_64', which libtfaot_runtime does not "
            "have\n"
            "  do this part outside of the model, or express it with other ops");
}

// libgcc has the first since GCC 13; a malicious model might call "system".
TEST_F(CompileModel, RefusesCodeThatCallsWhatItMayNot) {
  const std::pair<const char*, const char*> calls[] = {
      {"__extendbfsf2", "libtfaot_runtime does not have"},
      {"system", "libtfaot_runtime does not have"},
      {"__xla_cpu_runtime_DuccSingleThreadedFft", "asks for memory when it runs"}};
  for (const auto& [symbol, fault] : calls) {
    prepare(1, 0);
    prepare(2, 1);
    const Path object = root_ / "made" / "test_bs2.o";
    const auto lost = fs_.read(TFAOT_LOST_CALL_OBJECT);
    ASSERT_TRUE(lost);
    std::string changed = *lost;
    const std::string name = "tfaot_lost_by_every_runtime_there_is_f32_x86_64";
    std::string padded = symbol;
    padded.resize(name.size(), '\0');
    const auto place = changed.find(name);
    ASSERT_NE(place, std::string::npos);
    changed.replace(place, name.size(), padded);
    ASSERT_TRUE(fs_.replace_atomically(object, changed));
    engine(copy_script());
    EXPECT_THAT(error_text(), HasSubstr(fmt::format("calls '{}', which {}\n", symbol, fault)));
  }
}

TEST_F(CompileModel, TellsItsProgress) {
  prepare(1, 0);
  prepare(2, 1);
  engine(copy_script());
  ASSERT_TRUE(compile());
  EXPECT_THAT(diagnostics_.lines, ElementsAre("1/2 a step", "2/2 a step"));
}

TEST_F(CompileModel, RefusesRowsThatDependOnTheBatchSize) {
  prepare(1, 0, 3);
  prepare(2, 1, 4);
  engine(copy_script());
  EXPECT_EQ(error_text(), "ROOT/model: the shape of an output row depends on the batch size");
}

TEST_F(CompileModel, RepeatsWhatTheEngineSaysOfTheModel) {
  engine("echo '{\"error\": \"input x is odd\", \"notes\": [\"make it even\"]}'\nexit 1\n");
  EXPECT_EQ(error_text(), "ROOT/model: input x is odd\n  make it even");
}

TEST_F(CompileModel, ASettingOfThePackageThatDoesNotFitShowsAnotherModel) {
  engine("echo '" +
         replace_all(engine_line_to_json({.word = EngineWord::kError,
                                          .text = "no input has an open dimension 'n'",
                                          .notes = {"open dimensions: batch"},
                                          .config_key = "model.dimensions"}),
                     "'", "'\"'\"'") +
         "'\nexit 1\n");
  const auto updated = update_weights(fs_, spec_, {}, options_, diagnostics_);
  ASSERT_FALSE(updated);
  EXPECT_EQ(replace_all(updated.error().text(), root_.string(), "ROOT"),
            "ROOT/model: another model than the package was made from\n"
            "  no input has an open dimension 'n'\n"
            "  open dimensions: batch");
}

TEST_F(CompileModel, TurnsACrashIntoAnErrorWithItsLastWords) {
  spec_.compilation.batch_sizes = {1};
  engine("echo 'Check failed: so sad' >&2\nkill -ABRT $$\n");
  EXPECT_EQ(error_text(),
            "ROOT/model: the compiler crashed with signal 6 (Aborted) (batch sizes 1)\n"
            "  its last output:\n"
            "    Check failed: so sad");
}

TEST_F(CompileModel, NamesAFlagHoweverLong) {
  spec_.compilation.batch_sizes = {1};
  for (int i = 0; i < 4; ++i) spec_.compilation.xla_flags.push_back("--" + std::string(20000, 'x'));
  engine("echo \"Unknown flags in XLA_FLAGS: $XLA_FLAGS\" >&2\nkill -ABRT $$\n");
  EXPECT_THAT(error_text(), HasSubstr("XLA does not know '--xxx"));
  engine("echo \"Flag parsing failed.\nusage: $XLA_FLAGS\" >&2\nexit 1\n");
  EXPECT_THAT(error_text(), HasSubstr("XLA cannot read the value of '--xxx"));
  engine("echo \"Couldn't interpret value $XLA_FLAGS\" >&2\nexit 1\n");
  EXPECT_THAT(error_text(), HasSubstr("ended with exit code 1"));
}

// TensorFlow would wait for the pipe's other end, and the hash of the model would read for minutes.
TEST_F(CompileModel, LooksAtTheModelsFilesFirst) {
  engine("touch \"$1.started\"\n");
  ASSERT_TRUE(fs_.create_directories(root_ / "model" / "variables"));
  const Path index = root_ / "model" / "variables" / "variables.index";
  ASSERT_EQ(::mkfifo(index.c_str(), 0600), 0);
  const std::string pipe =
      "neither a file nor a folder\n  pipes, sockets and devices cannot be read as files: remove "
      "it";
  EXPECT_EQ(error_text(), "ROOT/model/variables/variables.index: " + pipe);
  ASSERT_TRUE(fs_.remove_all(index));
  ASSERT_TRUE(fs_.replace_symlink("/dev/zero", index));
  EXPECT_EQ(error_text(), "ROOT/model/variables/variables.index: " + pipe);
  ASSERT_TRUE(fs_.remove_all(index));

  const Path asset = root_ / "model" / "asset";
  ASSERT_TRUE(fs_.replace_atomically(asset, "x"));
  ASSERT_EQ(::truncate(asset.c_str(), 60'000'000'000), 0);
  EXPECT_EQ(error_text(),
            "ROOT/model/asset: 60000000000 bytes, so that the model has more than 16 GB\n"
            "  remove from the model's folder what is not needed to predict");
  EXPECT_EQ(fs_.list(root_ / "work").value(), std::vector<std::string>());
}

TEST_F(CompileModel, TurnsAnEngineWithoutTensorFlowIntoAnError) {
  engine("echo 'error while loading shared libraries: libtensorflow_cc.so.2' >&2\nexit 127\n");
  EXPECT_THAT(error_text(),
              HasSubstr("engine: TensorFlow's libtensorflow_cc.so.2 cannot be loaded"));
}

TEST_F(CompileModel, NeverHangs) {
  spec_.compilation.batch_sizes = {1};
  options_.timeout = std::chrono::seconds(1);
  engine("sleep 1000\n");
  EXPECT_EQ(error_text(),
            "ROOT/model: the compiler did not end within 1 s (batch sizes 1)\n"
            "  raise the limit with --timeout SECONDS (0: none)");
}

TEST_F(CompileModel, NamesAMissingEngine) {
  EXPECT_THAT(error_text(), HasSubstr("cannot start 'ROOT/engine'"));
}

TEST_F(CompileModel, DistrustsAResultThatIsNoRecord) {
  spec_.compilation.batch_sizes = {1};
  engine(fmt::format("echo nonsense > '{}/work/result_0.json'\n", root_.string()));
  EXPECT_THAT(error_text(), HasSubstr("not an engine's result"));
}

}  // namespace
}  // namespace tfaot::toolkit
