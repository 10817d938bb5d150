// SPDX-License-Identifier: Apache-2.0
// --timeout and --memory: no verb works for ever, and no engine takes all of the machine.
#include <gmock/gmock.h>

#include <chrono>

#include "loaded_package_test.h"
#include "tests/support/executable_file.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

class LimitsTest : public LoadedPackageTest {
 protected:
  // With an engine that does this.
  Outcome with_engine(const std::string& how, const std::vector<std::string>& arguments) const {
    return run_loaded(arguments, {{"FAKE_ENGINE", how}});
  }
  const std::vector<std::string> compile_ = {"compile", "-c", "model/aot_config.yaml", "-o", "o2"};
  static std::vector<std::string> with(std::vector<std::string> words,
                                       const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(LimitsTest, TheEngineGetsSoMuchMemory) {
  for (const auto& verb : std::vector<std::vector<std::string>>{with(compile_, {"-j", "1"}),
                                                                {"info", "model/saved_model"},
                                                                {"init", "model/saved_model"}}) {
    const Outcome outcome = with_engine("memory", with(verb, {"--memory", "100"}));
    EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
    EXPECT_THAT(outcome.err,
                HasSubstr(" needed more than 100 MB of memory\n"
                          "  the limit is for all engine processes together: raise it with "
                          "--memory MB (0: none), or start fewer at the same time (-j)\n"));
  }
  EXPECT_EQ(files_.kind(at("o2")), FileKind::kMissing);
}

// The report names what went wrong.
TEST_F(LimitsTest, CheckPassesThemOn) {
  const std::vector<std::string> check = {"check", "model/aot_config.yaml"};
  EXPECT_THAT(with_engine("memory", with(check, {"--memory", "100"})).out,
              HasSubstr("needed more than 100 MB of memory"));
  EXPECT_THAT(with_engine("slow", with(check, {"--timeout", "2"})).out,
              HasSubstr("did not end within 2 s"));
}

TEST_F(LimitsTest, AnEngineThatALauncherStartsKeepsToItsMemory) {
  const Outcome outcome =
      with_engine("memory", with(compile_, {"--launcher", "env", "--memory", "100"}));
  EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
  EXPECT_THAT(outcome.err, HasSubstr("its last output:\n    it needed too much memory: raise the "
                                     "limit with --memory MB (0: none)\n"));
}

// Each of the two models gets half of the memory.
TEST_F(LimitsTest, ReleasePassesThemOn) {
  write("bin/rpmbuild", "#!/bin/sh\necho \"$@\" >> " + at("rpmbuild.log") + "\nexit 1\n");
  make_executable(at("bin/rpmbuild"));
  write("model/other.yaml", replace_all(read("model/aot_config.yaml"), "test_net", "other"));
  const std::vector<std::string> release = {
      "release", "model/aot_config.yaml", "model/other.yaml", "-o", "released", "-j2"};
  EXPECT_EQ(run_loaded(with(release, {"--timeout", "50", "--memory", "3000"})).exit_code, 1);
  EXPECT_THAT(read("rpmbuild.log"), HasSubstr("tfaot_limits --timeout 50 --memory 1500 "));
  EXPECT_EQ(run_loaded(with(release, {"--memory", "0"})).exit_code, 1);
  EXPECT_THAT(read("rpmbuild.log"), HasSubstr("tfaot_limits --memory 0 "));
}

TEST_F(LimitsTest, TheEngineGetsSoMuchTime) {
  for (const auto& [verb, words] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {with(compile_, {"-j", "1"}), "the compiler did not end within 2 s (batch sizes 1, 4)"},
           {{"info", "model/saved_model"}, "the engine did not read it within 2 s"},
           {{"init", "model/saved_model"}, "the engine did not read it within 2 s"}}) {
    const Outcome outcome = with_engine("slow", with(verb, {"--timeout", "2"}));
    EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
    EXPECT_THAT(outcome.err,
                HasSubstr(words + "\n  raise the limit with --timeout SECONDS (0: none)\n"));
  }
}

// The disk stands still, as one of a network does.
TEST_F(LimitsTest, TfaotsOwnWorkGetsSoMuchTime) {
  std::filesystem::create_symlink(TFAOT_FAULT_LIBRARY, at("fault_at.so"));
  for (const auto& verb :
       std::vector<std::vector<std::string>>{compile_,
                                             {"package", "out", "-o", "dist"},
                                             {"run", "out", "-i", "ones", "-o", "y.npy"}}) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = run_loaded(
        with(verb, {"--timeout", "1"}),
        {{"LD_PRELOAD", at("fault_at.so")}, {"TFAOT_FAULT", "stall"}, {"TFAOT_FAULT_AT", "3"}});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
    EXPECT_THAT(outcome.err, HasSubstr("tfaot: error: the time limit of 1 s is over\n"
                                       "  raise the limit with --timeout SECONDS (0: none)\n"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  }
}

TEST_F(LimitsTest, EveryVerbHasALimitOfTime) {
  const std::string help = CliTest::run({"--help-all"}).out;
  for (const std::string& verb : verbs()) {
    EXPECT_THAT(help, HasSubstr("\n  " + verb + " "));
    EXPECT_THAT(CliTest::run({verb, "--help"}).out, HasSubstr("--timeout SECONDS")) << verb;
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing
