// SPDX-License-Identifier: Apache-2.0
// `tfaot profile` with a runner whose clock is arithmetic, and a linker of ours. Real engines are
// in tests/e2e.
#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>

#include "cli_test.h"
#include "fake_linker.h"
#include "fake_runner.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ProfileTest : public CliTest {
 protected:
  ProfileTest() {
    write_model();
    EXPECT_EQ(CliTest::run({"compile", "-c", "model/aot_config.yaml", "-o", "out", "-q"}).exit_code,
              0);
    write_fake_linker(at("bin"), read("out/record.json"), at("linked"));
    write_fake_runner(at("prefix"));
    write("cache/started", "");
  }

  Outcome profile(std::vector<std::string> arguments, Variables more = {}) const {
    arguments.insert(arguments.begin(), "profile");
    Variables variables = {{"TFAOT_CACHE_DIR", at("cache")},
                           {"PATH", at("bin") + ":" + std::getenv("PATH")}};
    more.merge(variables);
    return CliTest::run(arguments, more);
  }
};

TEST_F(ProfileTest, PrintsATable) {
  write("net.onnx", "a net");
  write("ort.so", "a library");
  const Outcome outcome =
      profile({"out", "--batch-sizes", "1,3,8", "--strategies", "normal,stitching,padding",
               "--batch-rule", "3:1,1,1", "--peer", "onnxruntime=net.onnx", "--library",
               "onnxruntime=ort.so", "--rounds", "2"});
  EXPECT_TRUE(matches_golden(masked(outcome.text()), "cli/profile.txt"));
  const std::string started = read("cache/started");
  EXPECT_THAT(started, HasSubstr("engine=package core="));
  EXPECT_THAT(started, HasSubstr("batch_rule=3:1,1,1 library="));
  EXPECT_THAT(started, HasSubstr("batch_rule=1:1 batch_rule=3:4 batch_rule=8:4,4"));
  EXPECT_THAT(started,
              HasSubstr("engine=onnxruntime model=" + at("net.onnx") + " library=" + at("ort.so") +
                        " signature=serving_default batch=first input=float32 10 x"));
}

TEST_F(ProfileTest, ARunnerGetsSoMuchMemory) {
  write("large.onnx", "a net");
  write("ort.so", "a library");
  const Outcome outcome = profile({"out", "--peer", "onnxruntime=large.onnx", "--library",
                                   "onnxruntime=ort.so", "--memory", "100"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("large.onnx: onnxruntime cannot run this model\n"
                                     "  it needed too much memory and was stopped\n"
                                     "  the limit is for all engine processes together: raise it "
                                     "with --memory MB (0: none)\n"));
}

TEST_F(ProfileTest, WritesFiles) {
  const Outcome outcome =
      profile({"out", "--rounds", "3", "--inputs", "ones", "-o", "p.json", "--csv", "csv", "--plot",
               "p.svg", "--html", "p.html", "--json", "--machine", "mine"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, read("p.json"));
  EXPECT_THAT(files_in("csv"), ElementsAre("test_net_1.0.0_tfaot_x86-64_normal.csv"));
  EXPECT_EQ(read("csv/test_net_1.0.0_tfaot_x86-64_normal.csv"),
            "1,0.001\n1,0.001\n1,0.001\n4,0.001\n4,0.001\n4,0.001\n");
  EXPECT_THAT(read("p.svg"), HasSubstr("tfaot, 4: 0.25 (0.25 to 0.25)"));
  const std::string page = read("p.html");
  EXPECT_THAT(page, HasSubstr("Microseconds a row of test_net 1.0.0"));
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["machine"]["name"], "mine");
  EXPECT_EQ(json["inputs"], "ones");
  ASSERT_EQ(json["curves"].size(), 1U);
  const auto& curve = json["curves"][0];
  EXPECT_EQ(curve["engine"], "tfaot");
  EXPECT_EQ(curve["load"]["median"], 2e6);
  ASSERT_EQ(curve["sizes"].size(), 2U);
  EXPECT_EQ(curve["sizes"][1]["rounds"], nlohmann::json({1000.0, 1000.0, 1000.0}));
  EXPECT_EQ(curve["sizes"][1]["allocated"], 64);
  EXPECT_GT(curve["sizes"][1]["proportional"], 0);
}

// Massif's file, after the runner has ended.
constexpr const char* kValgrind = R"sh(#!/bin/sh
for word; do case $word in --massif-out-file=*) out=${word#*=};; esac; done
[ -n "$out" ] || exit 0
while case $1 in -*) true;; *) false;; esac; do shift; done
"$@" || exit
bytes=80000
case "$*" in *engine=package*) bytes=1250000;; esac
printf 'time_unit: ms\nsnapshot=0\ntime=0\nmem_heap_B=0\n' > "$out"
printf 'snapshot=1\ntime=7\nmem_heap_B=%s\n' $bytes >> "$out"
)sh";

TEST_F(ProfileTest, WatchesTheHeap) {
  write("bin/valgrind", kValgrind);
  make_executable(at("bin/valgrind"));
  const Outcome outcome = profile({"out", "--rounds", "1", "--heap", "massif", "-o", "p.json",
                                   "--html", "p.html", "--batch-sizes", "1,8"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("[4/4] heap of test_net, x86-64, normal\n"));
  EXPECT_THAT(outcome.out, HasSubstr("peak heap (massif)\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("empty process .* 80\\.0 kB\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("tfaot .* 1\\.2 MB\n"));
  const auto json = nlohmann::json::parse(read("p.json"));
  EXPECT_EQ(json["heap_tool"], "massif");
  const auto& heap = json["curves"][0]["heap"];
  EXPECT_EQ(heap["peak"], 1250000);
  EXPECT_EQ(heap["cpu_level"], "x86-64");
  EXPECT_EQ(heap["over_time"][1]["ms"], 7);
  EXPECT_THAT(read("p.html"), HasSubstr("tfaot, 7: 1250 (1250 to 1250)"));
  // What it cannot measure is a warning: the times are there.
  write("bin/valgrind", std::string(kValgrind) + "case \"$*\" in *=package*) rm \"$out\";; esac\n");
  make_executable(at("bin/valgrind"));
  const Outcome without = profile({"out", "--rounds", "1", "--heap", "massif", "--json"});
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_THAT(without.err, HasSubstr("its heap cannot be measured by massif: "));
  EXPECT_EQ(nlohmann::json::parse(without.out)["curves"][0]["heap"]["peak"], -1);
}

// A call of 4 takes longer than four of 1, which the package's estimates do not know.
TEST_F(ProfileTest, AdvisesToTune) {
  std::string runner = kRunner;
  const std::string prepare = "prepare) ";
  runner.insert(
      runner.find(prepare) + prepare.size(),
      "ns=1000\n"
      "      [ $number = 4 ] && case \"$all\" in *=4:1,1,1,1*) ns=4000;; *) ns=5000;; esac\n"
      "      ");
  runner.insert(runner.find("while read"), "all=\"$*\"\n");
  write("prefix/libexec/tfaot/tfaot-runner", runner);
  make_executable(at("prefix/libexec/tfaot/tfaot-runner"));
  // 1 is measured only for the advice.
  const Outcome outcome = profile({"out", "--rounds", "2", "--batch-sizes", "4", "-o", "p.json",
                                   "--html", "p.html", "--strategies", "normal,padding"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("\n    tfaot, normal: 4 rows run as 4 in 5.00 µs, but as 4 x 1 in 4.00 "
                        "µs: run `tfaot tune`\n"));
  EXPECT_THAT(read("p.html"), HasSubstr("but as 4 x 1 in 4.00 µs"));
  const auto json = nlohmann::json::parse(read("p.json"));
  const auto& plans = json["curves"][0]["better_plans"];
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0]["rows"], 4);
  EXPECT_EQ(plans[0]["better"]["median"], 4000);
  EXPECT_TRUE(json["curves"][1]["better_plans"].empty());
  // 9 % less is not clearly faster.
  write("prefix/libexec/tfaot/tfaot-runner",
        std::regex_replace(runner, std::regex("ns=5000"), "ns=4360"));
  make_executable(at("prefix/libexec/tfaot/tfaot-runner"));
  EXPECT_THAT(profile({"out", "--rounds", "2"}).out, Not(HasSubstr("slower than it could")));
}

TEST_F(ProfileTest, GoesOnWithAStudy) {
  ASSERT_EQ(CliTest::run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  write("net.onnx", "a net");
  write("ort.so", "a library");
  const std::string study =
      "models:\n"
      "  - model/aot_config.yaml\n"
      "  - package: out\n"
      "    peers: {onnxruntime: net.onnx}\n"
      "libraries: {onnxruntime: ort.so}\n"
      "batch_sizes: [1, 4, 100]\n"
      "strategies: [normal, padding]\n"
      "output: results\n";
  write("profile.yaml", study + "rounds: 2\n");
  const std::vector<std::string> command = {"--study", "profile.yaml", "--machine", "here"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), command.begin(), command.end());
    return profile(more);
  };
  // The second model cannot be run: the results of the first stay.
  write("net.onnx", "");
  const std::string runner = read("prefix/libexec/tfaot/tfaot-runner");
  write("prefix/libexec/tfaot/tfaot-runner",
        "#!/bin/sh\ncase \"$*\" in *onnxruntime*) exit 1;; esac\n" + runner);
  make_executable(at("prefix/libexec/tfaot/tfaot-runner"));
  EXPECT_EQ(with({}).exit_code, 1);
  EXPECT_EQ(files_in("results/here").size(), 1U);
  write("prefix/libexec/tfaot/tfaot-runner", runner);
  make_executable(at("prefix/libexec/tfaot/tfaot-runner"));
  const Outcome rest = with({"--json", "--html", "study.html", "--csv", "csv"});
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("[1/2] model/aot_config.yaml (measured before)\n"));
  EXPECT_THAT(rest.err, HasSubstr("[2/2] out\n"));
  const auto json = nlohmann::json::parse(rest.out);
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["machine"]["name"], "here");
  EXPECT_EQ(json[0]["curves"].size(), 5U);
  EXPECT_THAT(files_in("csv/here"), ::testing::SizeIs(5));  // two packages of one model
  // Nothing is measured again, until something changes.
  write("cache/started", "");
  EXPECT_EQ(nlohmann::json::parse(with({"--json"}).out), json);
  EXPECT_EQ(read("cache/started"), "");
  write("profile.yaml", study + "rounds: 3\n");
  EXPECT_EQ(nlohmann::json::parse(with({"--json"}).out)[0]["round_count"], 3);
  // Another machine adds its own.
  const Outcome both =
      profile({"--study", "profile.yaml", "--machine", "there", "--json", "--html", "both.html"});
  EXPECT_EQ(nlohmann::json::parse(both.out).size(), 2U);
  EXPECT_THAT(read("both.html"), HasSubstr("test_net 1.0.0 on here"));
  EXPECT_THAT(read("both.html"), HasSubstr("Machine there"));
}

TEST_F(ProfileTest, SaysWhatIsWrongWithAStudy) {
  write("net.onnx", "a net");
  std::string transcript;
  for (const std::string text :
       {"models: [out]\nround: 1\n", "models: [nowhere]\n",
        "models: [{package: out, peers: {steam: net.onnx}}]\n",
        "models: [{package: out, peers: {litert: net.onnx}}]\n",
        "models: [out]\nstrategies: [best]\n", "models: [out]\nbatch_sizes: [1, 0]\n",
        "models: [out]\ninputs: words.txt\n", "models: [out]\ninputs: nowhere.npz\n",
        "models: [{package: out, peers: {tensorflow: net.onnx}}]\n", ""}) {
    write("profile.yaml", text);
    transcript += text + masked(profile({"--study", "profile.yaml"}).text()) + "\n";
  }
  transcript += profile({"out", "--study", "profile.yaml"}).text() + "\n";
  transcript += profile({"--study", "profile.yaml", "--batch-sizes", "1"}).text() + "\n";
  transcript += profile({"--study", "profile.yaml", "--plot", "a.svg"}).text() + "\n";
  transcript += profile({"--study", "nowhere.yaml"}).text() + "\n";
  transcript += profile({"--study", "profile.yaml", "--machine", "a/b"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/profile_study_errors.txt"));
}

TEST_F(ProfileTest, TellsTwoPackagesOfOneModelApart) {
  std::filesystem::copy(at("out"), at("tuned"), std::filesystem::copy_options::recursive);
  const Outcome outcome = profile({"out", "tuned", "--rounds", "1", "--csv", "csv"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\n     1  tfaot, out    "));
  EXPECT_THAT(outcome.out, HasSubstr("\n     1  tfaot, tuned  "));
  EXPECT_THAT(files_in("csv"), ElementsAre("test_net_1.0.0_tfaot_x86-64_normal.csv",
                                           "test_net_1.0.0_tfaot_x86-64_normal_2.csv"));
}

// Each is measured with the sizes that it was compiled for.
TEST_F(ProfileTest, ShowsPackagesOfOtherSizes) {
  std::filesystem::remove(
      at("prefix/libexec/tfaot/tfaot-runner"));  // the fake one predicts nothing
  ASSERT_EQ(CliTest::run({"compile", "-c", "model/aot_config.yaml", "-o", "other", "-q",
                          "--batch-sizes", "4"})
                .exit_code,
            0);
  write_fake_runner(at("prefix"));
  for (const auto& packages : {std::vector<std::string>{"out", "other"}, {"other", "out"}}) {
    const Outcome outcome =
        profile({packages[0], packages[1], "--rounds", "1", "--html", "p.html", "-q"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("\n     1  tfaot, out    "));
    EXPECT_THAT(outcome.out, HasSubstr("\n     4  tfaot, out    "));
    EXPECT_THAT(outcome.out, HasSubstr("\n     4  tfaot, other  "));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\n     1  tfaot, other")));
  }
}

TEST_F(ProfileTest, CompilesAConfig) {
  const Outcome outcome = profile({"model/aot_config.yaml", "--rounds", "1", "-q"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\ntest_net 1.0.0\n"));
}

TEST_F(ProfileTest, SaysWhatIsWrong) {
  write("net.onnx", "a net");
  write("broken.onnx", "a net");
  write("other.csv", "a,b\n1,2\n");
  write("ort.so", "a library");
  write("bin/python3", "#!/bin/sh\n");  // has no framework
  make_executable(at("bin/python3"));
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"nowhere"},
      {"model"},
      {"out", "out", "--peer", "tensorflow=net.onnx"},
      {"out", "--peer", "torch=net.pt"},
      {"out", "--peer", "onnxruntime=nowhere.onnx"},
      {"out", "--peer", "onnxruntime=net.onnx"},
      {"out", "--peer", "onnxruntime=net.onnx", "--library", "onnxruntime=nowhere.so"},
      {"out", "--peer", "onnxruntime=broken.onnx", "--library", "onnxruntime=ort.so"},
      {"out", "--peer", "tensorflow=net.onnx"},
      {"out", "--peer", "onnxruntime=model", "--library", "onnxruntime=ort.so"},
      {"out", "--library", "onnxruntime=ort.so"},
      {"out", "--library", "litert=ort.so", "--peer", "onnxruntime=net.onnx"},
      {"out", "--batch-sizes", "0"},
      {"out", "--strategies", "rules"},
      {"out", "--rounds", "0"},
      {"out", "--round-ms", "-1"},
      {"out", "--core", "9999"},
      {"out", "--inputs", "words"},
      {"model/aot_config.yaml", "--inputs", "nowhere.npz"},
      {"out", "--inputs", "other.csv"},
      {"out", "--cpu-levels", "x86-64-v9"},
      {"out", "--plot", "plot.bmp"},
      {"out", "--html", "model"},
      {"out", "--heap", "igprof"},
  };
  std::string transcript;
  for (const auto& line : lines) {
    const Outcome outcome = profile(line);
    EXPECT_NE(outcome.exit_code, 0) << outcome.text();
    transcript += masked(outcome.text()) + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/profile_errors.txt"));
}

TEST_F(ProfileTest, EndsWhenInterrupted) {
  std::string runner = kRunner;
  runner.insert(runner.find("echo ready"),
                "case \"$*\" in *engine=package*) kill -INT $PPID; sleep 10;; esac\n");
  write("prefix/libexec/tfaot/tfaot-runner", runner);
  make_executable(at("prefix/libexec/tfaot/tfaot-runner"));
  write("profile.yaml", "models: [out]\n");
  const Outcome outcome = profile({"--study", "profile.yaml"});
  EXPECT_EQ(outcome.signal, SIGINT);
  EXPECT_THAT(outcome.err, Not(HasSubstr("cannot")));
}

TEST_F(ProfileTest, SaysWhatIsMissing) {
  std::string transcript =
      masked(profile({"out", "--plot", "p.png", "-q", "--rounds", "1"}).text()) + "\n";
  write("prefix/share/tfaot/plot.py", "import sys\nsys.exit('matplotlib cannot be imported')\n");
  transcript += masked(profile({"out", "--plot", "p.png", "-q", "--rounds", "1"}).text()) + "\n";
  EXPECT_EQ(read("cache/started"), "");  // it is said before anything is measured
  for (const char* tool : {"massif", "heaptrack"}) {
    transcript += profile({"out", "--heap", tool}, {{"PATH", at("bin")}}).text() + "\n";
  }
  ASSERT_TRUE(files_.remove_all(at("prefix/libexec/tfaot/tfaot-runner")));
  transcript += profile({"out"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/profile_missing.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
