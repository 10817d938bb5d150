// SPDX-License-Identifier: Apache-2.0
// `tfaot compile` with a fake engine: its inputs, its outputs, and what remains after a failure.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli_test.h"
#include "tests/support/executable_file.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

class CompileTest : public CliTest {
 protected:
  CompileTest() { write_model(); }
};

TEST_F(CompileTest, WritesATreeAndSaysSo) {
  const Outcome outcome = compile();
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/compile.txt"));
  EXPECT_EQ(files_in("out"),
            (std::vector<std::string>{
                "include/tfaot-model-test-net/model.h",
                "include/tfaot-model-test-net/test_net_bs1.h",
                "include/tfaot-model-test-net/test_net_bs4.h",
                "include/tfaot-model-test-net/test_net_costs.h",
                "lib/cmake/tfaot-model-test-net/tfaot-model-test-net-config-version.cmake",
                "lib/cmake/tfaot-model-test-net/tfaot-model-test-net-config.cmake",
                "lib/pkgconfig/tfaot-model-test-net.pc",
                "lib/test_net_bs1_x86-64.o",
                "lib/test_net_bs4_x86-64.o",
                "lib/test_net_weights.o",
                "manifest.json",
                "record.json",
                "runtime/LICENSE",
                "runtime/NOTICE",
                "runtime/include/tfaot/cmssw/drop_in/PhysicsTools/TensorFlowAOT/interface/Model.h",
                "runtime/include/tfaot/cmssw/inside/xla_function.h",
                "runtime/include/tfaot/runtime/model.h",
                "runtime/lib/libtfaot_runtime.a",
                "sbom.cdx.json",
                "tfaot-model-test-net.xml",
                "tfaot-runtime.xml"}));
  EXPECT_THAT(read("out/tfaot-model-test-net.xml"), ::testing::HasSubstr("\"@TOOL_BASE@\""));
  EXPECT_EQ(run({"package", "out", "-o", "dist"}).exit_code, 0);
}

TEST_F(CompileTest, DoesNotEmptyAFolderThatALinkLeadsTo) {
  write("mine/kept", "x");
  std::filesystem::create_directories(root_ / "out");
  std::filesystem::create_symlink(root_ / "mine", root_ / "out/.tfaot-work");
  const Outcome outcome = compile();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "tfaot: error: ROOT/out/.tfaot-work: not a folder, so nothing can be put below it\n"
            "  links out of ROOT/out are not followed\n"
            "  remove it, then try again\n");
  EXPECT_EQ(read("mine/kept"), "x");
}

TEST_F(CompileTest, TakesTheRuntimeOfTheTarget) {
  write("prefix/" TFAOT_LIBDIR "/tfaot/aarch64/libtfaot_runtime.a", "of aarch64");
  const Outcome outcome =
      compile({"--target-triple", "aarch64-unknown-linux-gnu", "--cpu-levels", "generic"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(read("out/runtime/lib/libtfaot_runtime.a"), "of aarch64");
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("the model is compiled for 'aarch64'"));
  EXPECT_THAT(compile().err, ::testing::Not(::testing::HasSubstr("will not run here")));
}

TEST_F(CompileTest, NeedsARuntimeOfTheTarget) {
  const Outcome outcome =
      compile({"--target-triple", "aarch64-unknown-linux-gnu", "--cpu-levels", "generic"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/compile_foreign.txt"));
}

TEST_F(CompileTest, QuietSaysNothing) {
  const Outcome outcome = compile({"--quiet", "--dev", "--additional-flags", ""});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(CompileTest, DevEndsWithTheNextSteps) {
  std::string transcript = compile({"--dev"}).text() + "\n";
  EXPECT_THAT(read("out/tfaot-model-test-net.xml"),
              ::testing::HasSubstr("default=\"" + at("out") + "\""));
  transcript +=
      compile({"--dev", "--tool-name", "my-tool"}, {{"CMSSW_BASE", root_.string()}}).text();
  EXPECT_THAT(read("out/my-tool.xml"), ::testing::HasSubstr("default=\"$CMSSW_BASE/out\""));
  transcript += "\n" + compile({"--dev", "--headers", "cmssw"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/compile_dev.txt"));
}

TEST_F(CompileTest, CommandLineGoesBeforeTheConfig) {
  const Outcome outcome =
      compile({"--batch-sizes", "2,8", "--namespace", "a::b", "--weights", "embedded",
               "--tool-base", "/base", "--additional-flags", "--target_cpu=x86-64-v3", "--quiet"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(files_in("out/lib"),
              ::testing::IsSupersetOf({"test_net_bs2_x86-64-v3.o", "test_net_bs8_x86-64-v3.o"}));
  EXPECT_THAT(files_in("out/lib"), ::testing::Not(::testing::Contains("test_net_weights.o")));
  EXPECT_THAT(read("out/tfaot-model-test-net.xml"), ::testing::HasSubstr("default=\"/base\""));
  EXPECT_THAT(run({"info", "out"}).out, ::testing::HasSubstr("a::b::test_net"));
}

TEST_F(CompileTest, ForeignFilesInTheOutputStay) {
  write("out/notes.txt", "mine");
  ASSERT_EQ(compile().exit_code, 0);
  ASSERT_EQ(compile({"--batch-sizes", "1"}).exit_code, 0);
  EXPECT_EQ(read("out/notes.txt"), "mine");
  EXPECT_THAT(files_in("out/lib"), ::testing::Not(::testing::Contains("test_net_bs4_x86-64.o")));
}

TEST_F(CompileTest, AFailureIsToldAndLeavesTheOutputAsItWas) {
  std::string transcript;
  for (const char* how : {"refuse", "crash", "full", "interrupt"}) {
    const Outcome outcome = compile({}, {{"FAKE_ENGINE", how}});
    EXPECT_EQ(outcome.exit_code, outcome.signal == 0 ? 1 : 0);
    transcript += outcome.text() + "\n";
    EXPECT_EQ(files_.kind(at("out")), FileKind::kMissing);
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/compile_failures.txt"));

  ASSERT_EQ(compile().exit_code, 0);
  const std::vector<std::string> before = files_in("out");
  const std::string manifest = read("out/manifest.json");
  EXPECT_EQ(compile({"--batch-sizes", "16"}, {{"FAKE_ENGINE", "crash"}}).exit_code, 1);
  EXPECT_EQ(files_in("out"), before);
  EXPECT_EQ(read("out/manifest.json"), manifest);
}

// Otherwise it would continue compiling, and keep its lock on the folder.
TEST_F(CompileTest, NoEngineOutlivesATool) {
  write("lock", "");
  const Outcome outcome =
      compile({}, {{"FAKE_ENGINE", "orphan"}, {"FAKE_ENGINE_LOCK", at("lock")}});
  ASSERT_EQ(outcome.signal, SIGKILL);
  const int lock = ::open(at("lock").c_str(), O_RDWR);
  ASSERT_GE(lock, 0);
  bool is_free = false;
  for (int i = 0; i < 1000 && !is_free; ++i) {
    is_free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (!is_free) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::close(lock);
  EXPECT_TRUE(is_free);
}

TEST_F(CompileTest, TellsHowToGetTensorFlow) {
  ASSERT_TRUE(
      files_.copy_file(TFAOT_LOST_ENGINE, root_ / "prefix/libexec/tfaot/tfaot-engine").has_value());
  const Outcome outcome = compile({}, {{"TFAOT_CACHE_DIR", at("cache")}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/compile_no_tensorflow.txt"));
}

TEST_F(CompileTest, RefusesFoldersThatAreNotItsOwn) {
  ASSERT_EQ(compile({"-q"}).exit_code, 0);
  ASSERT_EQ(run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  ASSERT_EQ(run({"install", "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst",
                 "--release-area", "area", "-q"})
                .exit_code,
            0);
  write("other.yaml",
        "model: {name: other, version: \"1\", saved_model: model/saved_model}\n"
        "compilation: {batch_sizes: [1]}\n");
  const std::vector<std::string> before = files_in(".");
  const std::string version = "area/tfaot-model-test-net/";
  std::string transcript = run({"compile", "-c", "other.yaml", "-o", "out"}).text() + "\n";
  const auto to = [&](const std::string& folder) {
    transcript += run({"compile", "-c", "model/aot_config.yaml", "-o", folder}).text() + "\n";
  };
  for (const char* name : {"1.0.0", "current", "1.1.0"}) to(version + name);
  to("model/saved_model");
  to("model/saved_model/out");
  transcript += run({"update-weights", version + "current", "--model", "model/saved_model"}).text();
  transcript += "\n" + run({"tune", version + "current"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/compile_refused_folders.txt"));
  EXPECT_EQ(files_in("."), before);
  EXPECT_EQ(
      run({"compile", "-c", "other.yaml", "-o", "out", "--expect-name", "other", "-q"}).text(),
      "$ tfaot compile -c other.yaml -o out --expect-name other -q\n[exit code 0]\n")
      << "a build's folder is its own";
  EXPECT_EQ(files_.kind(at("out/include/tfaot-model-test-net")), FileKind::kMissing);
}

TEST_F(CompileTest, WhatAKilledRunLeftIsRemoved) {
  write("out/.tfaot-work/old.o", "old");
  ASSERT_EQ(compile().exit_code, 0);
  EXPECT_EQ(files_.kind(at("out/.tfaot-work")), FileKind::kMissing);
}

TEST_F(CompileTest, BuildToolsLearnWhatWasReadAndMade) {
  const Outcome outcome = compile({"--depfile", "d/dep file.d", "--object-list", "d/objects.rsp"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  const auto shown = [&](const std::string& path) {
    std::string text = read(path);
    for (std::size_t at = 0; (at = text.find(root_.string(), at)) != std::string::npos;) {
      text.replace(at, root_.string().size(), "ROOT");
    }
    return text;
  };
  EXPECT_TRUE(
      matches_golden(shown("d/dep file.d") + shown("d/objects.rsp"), "cli/compile_lists.txt"));
}

TEST_F(CompileTest, ALinkedFolderIsPartOfTheModel) {
  const auto source_hash = [&] {
    EXPECT_EQ(compile({"--depfile", "d"}).exit_code, 0);
    const std::string manifest = read("out/manifest.json");
    return manifest.substr(manifest.find("source_sha256"), 90);
  };
  write("model/saved_model/data/variables.index", "an index");  // as that in variables
  const std::string before = source_hash();
  ASSERT_TRUE(files_.remove_all(at("model/saved_model/variables")));
  ASSERT_TRUE(files_.replace_symlink("data", at("model/saved_model/variables")));
  EXPECT_EQ(source_hash(), before);
  EXPECT_THAT(read("d"), ::testing::HasSubstr("/model/saved_model/variables/variables.index"));
  write("model/saved_model/data/variables.index", "another index");
  EXPECT_NE(source_hash(), before);
  ASSERT_TRUE(files_.replace_symlink("../aot_config.yaml", at("model/saved_model/asset")));
  EXPECT_THAT(compile().err, ::testing::HasSubstr("leads out of the model's folder, to ROOT/mod"));
}

TEST_F(CompileTest, ExpectationsOfTheBuildAreChecked) {
  std::string transcript = compile({"--expect-name", "other"}).text() + "\n";
  transcript += compile({"--expect-name", "test_net", "--expect-namespace", "other"}).text() + "\n";
  transcript += compile({"--expect-name", "test_net", "--expect-version", "other"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/compile_expectations.txt"));
  EXPECT_EQ(files_.kind(at("out")), FileKind::kMissing);
}

TEST_F(CompileTest, MissingCompanionsAreNamed) {
  std::string transcript = compile({"--engine", "nowhere"}).text() + "\n";
  transcript += compile({}, {{"TFAOT_ENGINE", "/nowhere"}}).text() + "\n";
  transcript += compile({}, {{"TFAOT_ENGINE", "/bin/true"}}).text() + "\n";
  transcript += compile({}, {{"TFAOT_TENSORFLOW_ROOT", "/nowhere"}}).text() + "\n";
  ASSERT_TRUE(files_.rename(at("prefix/libexec"), at("moved")));
  transcript += compile().text() + "\n";
  EXPECT_EQ(compile({}, {{"TFAOT_ENGINE", at("moved/tfaot/tfaot-engine")}}).exit_code, 0);
  ASSERT_TRUE(files_.remove_all(at("prefix/" TFAOT_LIBDIR)));
  transcript += compile({"--engine", "moved/tfaot/tfaot-engine"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/compile_companions.txt"));
}

TEST_F(CompileTest, CodeComesFromTheCacheTheSecondTime) {
  EXPECT_THAT(compile({"--cache", "cache"}).out, ::testing::HasSubstr("2 objects\n"));
  const std::string manifest = read("out/manifest.json");
  write("other/aot_config.yaml",
        "model: {name: other, version: 2}\n"
        "compilation: {batch_sizes: [1, 2, 4], cpu_levels: [x86-64], namespace: far}\n");
  write("other/saved_model/saved_model.pb", "another graph");
  const std::vector<std::string> other = {"compile", "-c", "other/aot_config.yaml", "-o", "o2"};
  EXPECT_THAT(run(other, {{"TFAOT_CACHE", at("cache")}}).out,
              ::testing::HasSubstr("3 objects, 2 from the cache\n"));
  ASSERT_TRUE(files_.remove_all(at("out")));
  EXPECT_THAT(compile({"--cache", "cache"}).out,
              ::testing::HasSubstr("2 objects, 2 from the cache\n"));
  EXPECT_EQ(read("out/manifest.json"), manifest) << "a cache hit must not change the product";
}

// Whoever writes an entry can write its hash too.
TEST_F(CompileTest, ACachedEntryThatIsNoCodeIsRefused) {
  ASSERT_EQ(compile({"--cache", "cache", "-q"}).exit_code, 0);
  for (const std::string& file : files_in("cache")) {
    if (file == ".added") continue;
    const std::string contents = read("cache/" + file).substr(64);
    const std::string cut = contents.substr(0, contents.size() / 2);
    write("cache/" + file, sha256_of(cut) + cut);
  }
  const Outcome outcome = compile({"--cache", "cache"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
  EXPECT_THAT(
      outcome.err,
      ::testing::HasSubstr("tfaot: error: ROOT/cache: the code cache holds an entry that is not "
                           "code\n  of batch size 1, x86-64: "));
  EXPECT_THAT(outcome.err,
              ::testing::HasSubstr("\n  compile with --no-cache, or remove the folder\n"));
}

// Two entries, and the file that counts what was added.
TEST_F(CompileTest, TheCacheIsTheUsersUnlessSaidOtherwise) {
  EXPECT_EQ(compile({}, {{"HOME", at("home")}}).exit_code, 0);
  EXPECT_EQ(files_in("home/.cache/tfaot/code").size(), 3U);
  EXPECT_EQ(compile({}, {{"HOME", at("home")}, {"XDG_CACHE_HOME", at("xdg")}}).exit_code, 0);
  EXPECT_EQ(files_in("xdg/tfaot/code").size(), 3U);
  EXPECT_EQ(compile({}, {{"HOME", at("home")}, {"TFAOT_CACHE_DIR", at("ours")}}).exit_code, 0);
  EXPECT_EQ(files_in("ours/code").size(), 3U);
  EXPECT_THAT(compile({"--no-cache"}, {{"XDG_CACHE_HOME", at("xdg")}}).out,
              ::testing::HasSubstr("2 objects\n"));
  EXPECT_EQ(compile({"--no-cache", "--cache", "x"}).exit_code, 2);
}

TEST_F(CompileTest, ARemoteCacheThatIsNoneIsAnError) {
  const auto with = [&](const std::string& place, const std::vector<std::string>& options = {}) {
    return compile(options, {{"TFAOT_REMOTE_CACHE", place}});
  };
  const Outcome wrong = with("http://host|layuot=flat");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, ::testing::HasSubstr(
                             "tfaot: error: the remote cache: unknown attribute 'layuot' (did you "
                             "mean 'layout'?)\n"
                             "  allowed: layout, read-only, authorization-file, connect-timeout, "
                             "operation-timeout\n"
                             "  named by TFAOT_REMOTE_CACHE in the environment\n"));
  const Outcome missing = with("http://host|authorization-file=token");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, ::testing::HasSubstr("token: no such file\n  the authorization-file of "
                                                "TFAOT_REMOTE_CACHE in the environment\n"));
  EXPECT_EQ(with("http://host|layuot=flat", {"--no-cache"}).exit_code, 0);
  EXPECT_THAT(with("http://host:1/c", {"-v"}).err, ::testing::HasSubstr("http://host:1/c"));
}

TEST_F(CompileTest, TheCacheIsBounded) {
  ASSERT_EQ(compile({"--cache", "cache"}).exit_code, 0);
  ASSERT_EQ(files_in("cache").size(), 3U);
  ASSERT_EQ(compile({"--cache", "cache", "--cache-limit", "0", "--batch-sizes", "8"}).exit_code, 0);
  EXPECT_TRUE(files_in("cache").empty());
}

TEST_F(CompileTest, ACacheThatCannotBeWrittenIsNoError) {
  write("cache", "a file");
  const Outcome outcome = compile({"--cache", "cache", "-v"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("ROOT/cache"));
  EXPECT_THAT(compile({"--cache", "cache"}).err, ::testing::Not(::testing::HasSubstr("cache:")));
}

TEST_F(CompileTest, DevWarnsOfBlanksInTheBase) {
  const Outcome outcome =
      run({"compile", "-c", "model/aot_config.yaml", "-o", "o u t", "--dev", "-q"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      outcome.err,
      "tfaot: warning: scram cannot use the tool file: it splits flags at spaces, and the base "
      "is 'ROOT/o u t'\n");
  EXPECT_THAT(
      run({"compile", "-c", "model/aot_config.yaml", "-o", "o u t", "--dev"}).out,
      ::testing::HasSubstr("\n     > scram setup \"ROOT/o u t/tfaot-model-test-net.xml\"\n"));
}

TEST_F(CompileTest, DevWarnsOfAForeignTarget) {
  write("prefix/" TFAOT_LIBDIR "/tfaot/aarch64/libtfaot_runtime.a", "of aarch64");
  const Outcome outcome = compile({"--dev", "--quiet", "--target-triple",
                                   "aarch64-unknown-linux-gnu", "--cpu-levels", "generic"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("but the model is compiled for 'aarch64'"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
