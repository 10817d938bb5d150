// SPDX-License-Identifier: Apache-2.0
// `tfaot tune` with a compiler that writes a shell script, which always prints the same timings.
// Real measurements are in tests/e2e.
#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>

#include "cli_test.h"
#include "tests/support/executable_file.h"

namespace tfaot::toolkit::testing {
namespace {

class TuneTest : public CliTest {
 protected:
  TuneTest() {
    write_model();
    write("c++",
          "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n"
          "printf '#!/bin/sh\\necho 1 x86-64 2000\\necho 4 x86-64 5250.25\\n' > \"$2\"\n"
          "chmod +x \"$2\"\n");
    testing::make_executable(at("c++"));
    EXPECT_EQ(run({"compile", "-c", "model/aot_config.yaml", "-o", "out", "-q"}).exit_code, 0);
  }

  // With this compiler unless another one is given.
  Outcome tune(std::vector<std::string> more) {
    const bool named = std::find(more.begin(), more.end(), "--compiler") != more.end();
    if (!named) more.insert(more.begin(), {"--compiler", "./c++"});
    more.insert(more.begin(), "tune");
    Outcome outcome = run(more);
    outcome.out =
        std::regex_replace(outcome.out, std::regex("Measured on .*"), "Measured on A CPU.");
    return outcome;
  }

  std::string costs() const { return read("out/include/tfaot-model-test-net/test_net_costs.h"); }
};

TEST_F(TuneTest, WritesTheCostsIntoTheTree) {
  EXPECT_THAT(costs(), ::testing::HasSubstr("kBs4_x86_64 = 0;"));
  const std::vector<std::string> before = files_in("out");
  EXPECT_TRUE(matches_golden(tune({"out"}).text(), "cli/tune.txt"));
  EXPECT_THAT(costs(), ::testing::HasSubstr("kBs1_x86_64 = 2000000;"));
  EXPECT_THAT(costs(), ::testing::HasSubstr("kBs4_x86_64 = 5250250;"));
  EXPECT_EQ(files_in("out"), before);
  EXPECT_EQ(run({"package", "out", "-o", "dist"}).exit_code, 0) << "hashes are wrong";
  EXPECT_THAT(run({"info", "out"}).out, ::testing::HasSubstr("tuned on"));
}

TEST_F(TuneTest, ReplacesEarlierCosts) {
  ASSERT_EQ(tune({"out"}).exit_code, 0);
  write("c++", std::regex_replace(read("c++"), std::regex("2000"), "3000"));
  testing::make_executable(at("c++"));
  ASSERT_EQ(tune({"out", "--quiet"}).text(),
            "$ tfaot tune --compiler ./c++ out --quiet\n[exit code 0]\n");
  EXPECT_THAT(costs(), ::testing::HasSubstr("kBs1_x86_64 = 3000000;"));
}

TEST_F(TuneTest, TunesAnArchiveInItsPlaceOrIntoAnother) {
  const std::string name = "tfaot-model-test-net-1.0.0-x86_64-linux.tar.gz";
  ASSERT_EQ(run({"package", "out", "-o", "dist", "--format", "tar.gz"}).exit_code, 0);
  const std::string untuned = read("dist/" + name);
  ASSERT_EQ(tune({"dist/" + name, "-o", "other/copy.tar.gz", "-q"}).exit_code, 0);
  EXPECT_EQ(read("dist/" + name), untuned);
  EXPECT_EQ(files_in("other"), std::vector<std::string>{"copy.tar.gz"});
  const Outcome outcome = tune({"--package", "dist/" + name});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_EQ(files_in("dist"), (std::vector<std::string>{"SHA256SUMS", name}));
  EXPECT_EQ(std::system(("cd " + at("dist") + " && sha256sum --quiet -c SHA256SUMS").c_str()), 0);
  EXPECT_EQ(read("dist/" + name), read("other/copy.tar.gz"));
  EXPECT_THAT(run({"info", "dist/" + name}).out, ::testing::HasSubstr("tuned on"));
  EXPECT_EQ(run({"install", "dist/" + name, "--release-area", "area"}).exit_code, 0);
}

TEST_F(TuneTest, AnInterruptWhileItLinksIsToldAsOne) {
  write("c++", "#!/bin/sh\nkill -INT $PPID\nexec sleep 1000\n");
  testing::make_executable(at("c++"));
  const std::vector<std::string> before = files_in("out");
  EXPECT_EQ(tune({"out"}).text(),
            "$ tfaot tune --compiler ./c++ out\n[signal 2]\n[standard error]\n"
            "tfaot: error: interrupted by signal 2 (Interrupt); './c++' was stopped\n");
  EXPECT_EQ(files_in("out"), before);
}

TEST_F(TuneTest, SuggestsSizes) {
  std::string transcript = tune({"out", "--suggest"}).text() + "\n";
  ASSERT_EQ(tune({"out"}).exit_code, 0);
  transcript += tune({"out", "--suggest", "--range", "1:64", "--max-sizes", "2"}).text() + "\n";
  transcript += tune({"out", "--suggest", "--rows", "1:5,4", "--candidates", "1,2,4", "--max-bytes",
                      "100000", "--cpu-level", "x86-64"})
                    .text();
  EXPECT_TRUE(
      matches_golden(std::regex_replace(transcript, std::regex(" +[0-9]{4,5}  "), " BYTES "),
                     "cli/tune_suggest.txt"));
}

TEST_F(TuneTest, SaysWhatIsWrong) {
  write_tree_at("old", {});
  write("plain.txt", "words");
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"out", "--package", "x"},
      {"missing"},
      {"plain.txt"},
      {"old"},
      {"model"},
      {"out", "-o", "x"},
      {"--package", "out"},
      {"out", "--range", "1:2"},
      {"out", "--suggest", "-o", "x"},
      {"out", "--suggest", "--range", "5:1"},
      {"out", "--suggest", "--rows", "4:0"},
      {"out", "--suggest", "--rows", "4", "--range", "1:4"},
      {"out", "--budget", "0"},
      {"out", "--compiler", "/nowhere/c++"}};
  std::string transcript;
  for (const auto& line : lines) {
    const Outcome outcome = tune(line);
    EXPECT_NE(outcome.exit_code, 0);
    transcript += outcome.text() + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/tune_errors.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
