// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <regex>

#include "loaded_package_test.h"
#include "tfaot/package/zip_file.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunTest : public LoadedPackageTest {
 protected:
  Outcome run(std::vector<std::string> arguments, const Variables& more = {}) const {
    arguments.insert(arguments.begin(), "run");
    return run_loaded(arguments, more);
  }
};

TEST_F(RunTest, PrintsATable) {
  write_npy("in.npy", 5);
  const std::string transcript =
      run({"out", "--inputs", "in.npy"}).text() + "\n" +
      run({"out", "-i", "incremental", "--rows", "30", "--cpu-level", "x86-64"}).text() + "\n" +
      run({"out", "-i", "ones", "--rows", "0"}).text() + "\n" +
      run({"out", "-i", "random", "--json", "--batch-rule", "2:4", "--batch-rule", "5:1,4"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/run.txt"));
}

TEST_F(RunTest, ReadsAndWritesAllFormats) {
  write_npy("in.npy", 5);
  ASSERT_TRUE(write_zip(
      files_, at("in.npz"),
      {{"labels.npy", npy_to_bytes(array_of<float>("", DType::kFloat32, {5}, {0, 0, 1, 1, 0}))},
       {"x.npy", npy_to_bytes(x_of(5))}}));
  std::string csv = "x[0],x[1],x[2],x[3],x[4],x[5],x[6],x[7],x[8],x[9]\n";
  for (int row = 0; row < 5; ++row) {
    for (int i = 0; i < 10; ++i) csv += (i == 0 ? "" : ",") + std::to_string(10 * row + i);
    csv += "\n";
  }
  write("in.csv", csv);
  for (const std::string input : {"in.npy", "in.npz", "in.csv"}) {
    for (const std::string output : {"y.npz", "y.npy", "y.csv"}) {
      const Outcome outcome = run({"out", "-i", input, "-o", output, "-q"});
      EXPECT_EQ(outcome.text(),
                "$ tfaot run out -i " + input + " -o " + output + " -q\n[exit code 0]\n");
    }
    const Array y = read_npy("y.npy");
    EXPECT_THAT(y.shape, ElementsAre(5, 2));
    EXPECT_THAT(values_of<float>(y), ElementsAre(45, 119, 145, 119, 245, 119, 345, 119, 445, 119));
    EXPECT_EQ(read("y.csv"), "y[0],y[1]\n45,119\n145,119\n245,119\n345,119\n445,119\n");
    const auto entries =
        read_zip(files_, at("y.npz"), {10'000, [](const std::string&) { return true; }});
    ASSERT_TRUE(entries) << entries.error().text();
    ASSERT_EQ(entries->size(), 1U);
    EXPECT_EQ(entries->front().name, "y.npy");
    EXPECT_EQ(entries->front().bytes, read("y.npy"));
  }
  EXPECT_TRUE(
      matches_golden(run({"out", "-i", "in.npy", "-o", "new/y.npz"}).text(), "cli/run_file.txt"));
}

TEST_F(RunTest, WritesThroughLinks) {
  std::filesystem::create_directory(at("data"));
  std::filesystem::create_symlink("data/scores", at("y.csv"));
  std::filesystem::create_symlink("data/report", at("y.html"));
  for (int i = 0; i < 2; ++i) {  // first there is nothing behind them
    const Outcome outcome = run({"out", "-i", "zeros", "-o", "y.csv", "--html", "y.html"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_TRUE(std::filesystem::is_symlink(at("y.csv")));
    EXPECT_TRUE(std::filesystem::is_symlink(at("y.html")));
    EXPECT_THAT(files_in("data"), ElementsAre("report", "scores"));
  }
  EXPECT_THAT(read("data/scores"), HasSubstr("y[0],y[1]\n"));
  EXPECT_THAT(read("data/report"), HasSubstr("<!DOCTYPE html>"));
}

TEST_F(RunTest, PutsNothingIntoPackages) {
  write("manifest.json", "{}");  // of a browser's extension
  const std::vector<std::string> before = files_in("out");
  for (const std::string option : {"--output", "--html"}) {
    const Outcome refused = run({"out", "-i", "zeros", option, "out/new/y.csv"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.err, "tfaot: error: " + option +
                               ": 'ROOT/out/new/y.csv' is in the package tree 'ROOT/out'\n"
                               "  choose a folder outside of it\n");
  }
  EXPECT_EQ(files_in("out"), before);
  EXPECT_EQ(run({"out", "-i", "zeros", "-o", "y.csv"}).exit_code, 0);
}

TEST_F(RunTest, LinksOnce) {
  for (int i = 0; i < 2; ++i) ASSERT_EQ(run({"out", "-i", "zeros"}).exit_code, 0);
  EXPECT_EQ(read("linked"), "linked\n");
}

TEST_F(RunTest, LinksAgainWhatIsDamagedInTheCache) {
  const std::string wanted = run({"out", "-i", "ones"}).out;
  EXPECT_THAT(wanted, HasSubstr("10"));
  const std::vector<std::string> cached = files_in("cache/loaded");
  ASSERT_EQ(cached.size(), 2U);  // the library and its hash
  std::string linked = read("linked");
  for (const std::string& file : cached) {
    const std::string whole = read("cache/loaded/" + file);
    std::string flipped = whole;
    flipped[flipped.size() / 2] ^= 1;
    for (const std::string& damaged : {std::string(), whole.substr(0, whole.size() / 2), flipped}) {
      write("cache/loaded/" + file, damaged);
      const Outcome outcome = run({"out", "-i", "ones"});
      EXPECT_EQ(outcome.out, wanted) << outcome.text();
      EXPECT_EQ(read("cache/loaded/" + file), whole);
      EXPECT_EQ(read("linked"), linked += "linked\n");
    }
    ASSERT_TRUE(files_.remove_all(root_ / "cache/loaded" / file));
    EXPECT_EQ(run({"out", "-i", "ones"}).out, wanted);
    EXPECT_EQ(read("linked"), linked += "linked\n");
  }
}

TEST_F(RunTest, RefusesADamagedPackageWhoseCodeWasLinkedBefore) {
  ASSERT_EQ(run({"out", "-i", "zeros"}).exit_code, 0);
  const std::string object = "out/lib/test_net_bs1_x86-64.o";
  write(object, read(object) + "damage");
  const Outcome outcome = run({"out", "-i", "zeros"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("test_net_bs1_x86-64.o"));
}

TEST_F(RunTest, TakesArchivesAndInstalledModels) {
  ASSERT_EQ(CliTest::run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  const std::string archive = "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  ASSERT_EQ(CliTest::run({"install", archive, "--release-area", "area", "-q"}).exit_code, 0);
  const std::string wanted = run({"out", "-i", "ones"}).out;
  EXPECT_THAT(wanted, HasSubstr("10"));
  for (const std::string& package :
       {archive, std::string("area/test_net"), std::string("area/tfaot-model-test-net"),
        std::string("area/tfaot-model-test-net/1.0.0"), std::string("out/manifest.json")}) {
    const Outcome outcome = run({package, "-i", "ones"});
    EXPECT_EQ(outcome.out, wanted) << outcome.text();
  }
  for (const std::string& file : files_in("cache")) EXPECT_THAT(file, HasSubstr("loaded/"));
}

TEST_F(RunTest, SaysWhatIsWrong) {
  write_npy("in.npy", 1);
  write("wide.npy",
        npy_to_bytes(array_of<double>("", DType::kFloat64, {1, 10}, std::vector<double>(10))));
  write("flat.npy",
        npy_to_bytes(array_of<float>("", DType::kFloat32, {10}, std::vector<float>(10))));
  ASSERT_TRUE(write_zip(files_, at("other.npz"), {{"z.npy", npy_to_bytes(x_of(1))}}));
  write("in.csv", "x[0],label\n1,2\n");
  write("broken.npz", "no zip");
  write_tree_at("old", {});
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"out"},
      {"nowhere", "-i", "ones"},
      {"model/aot_config.yaml", "-i", "ones"},
      {"old", "-i", "ones"},
      {"out", "-i", "nowhere.npz"},
      {"out", "-i", "in.txt"},
      {"out", "-i", "rnadom"},
      {"out", "-i", "wide.npy"},
      {"out", "-i", "flat.npy"},
      {"out", "-i", "other.npz"},
      {"out", "-i", "broken.npz"},
      {"out", "-i", "in.csv"},
      {"out", "-i", "in.npy", "--rows", "3"},
      {"out", "-i", "ones", "--seed", "3"},
      {"out", "-i", "ones", "--rows", "-1"},
      {"out", "-i", "ones", "--rows", "99999999999999"},
      {"out", "-i", "ones", "-o", "y.txt"},
      {"out", "-i", "ones", "-o", "model"},
      {"out", "-i", "ones", "--cpu-level", "x86-64-v9"},
      {"out", "-i", "ones", "--batch-rule", "3:2,1"},
      {"out", "-i", "ones", "--batch-rule", "many"}};
  std::string transcript;
  for (const auto& line : lines) {
    const Outcome outcome = run(line);
    EXPECT_NE(outcome.exit_code, 0) << outcome.text();
    transcript += outcome.text() + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/run_errors.txt"));
}

// 100 GB of holes.
TEST_F(RunTest, DoesNotReadAFileThatIsNone) {
  write_npy("in.npy", 1);
  write("in.npz", "PK");
  write("in.csv", "x[0],x[1],x[2],x[3],x[4],x[5],x[6],x[7],x[8],x[9]\n");
  for (const auto& [file, fault] : {std::pair("in.npy", "bytes of elements follow its header"),
                                    std::pair("in.npz", "not a zip file, or damaged"),
                                    std::pair("in.csv", "not a table of text")}) {
    std::filesystem::resize_file(at(file), 100'000'000'000);
    const Outcome outcome = run({"out", "-i", file});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(fault));
  }
}

TEST_F(RunTest, SaysWherePythonsModuleIs) {
  std::string transcript = CliTest::run({"setup", "--python-path"}).text() + "\n";
  write("prefix/" TFAOT_LIBDIR "/tfaot/python/tfaot/__init__.py", "");
  transcript += CliTest::run({"setup", "--python-path"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/python_path.txt"));
}

TEST_F(RunTest, AFullCacheSaysWhatToDo) {
  ASSERT_EQ(CliTest::run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  std::filesystem::create_symlink(TFAOT_FAULT_LIBRARY, at("fault_at.so"));
  int failures = 0;
  for (int call = 1;; call += 8) {  // the disk is full from that one on
    std::filesystem::remove_all(at("cache"));
    const Outcome outcome =
        run({"dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst", "-i", "ones"},
            {{"LD_PRELOAD", at("fault_at.so")},
             {"TFAOT_FAULT", fmt::format("from {}", ENOSPC)},
             {"TFAOT_FAULT_AT", std::to_string(call)}});
    if (outcome.exit_code == 0) break;
    ++failures;
    EXPECT_THAT(outcome.err, HasSubstr("TFAOT_CACHE_DIR")) << call;
  }
  EXPECT_GT(failures, 3);
}

TEST_F(RunTest, ALinkerOnAFullDiskSaysWhatToDo) {
  write("bin/ld", "#!/bin/sh\necho 'ld: final link failed: No space left on device' >&2\nexit 1\n");
  EXPECT_THAT(run({"out", "-i", "ones"}).err,
              HasSubstr("\n  ld: final link failed: No space left on device\n"
                        "  name another folder for it with TFAOT_CACHE_DIR\n"));
}

TEST_F(RunTest, SaysWhatTheMachineLacks) {
  std::string transcript = run({"out", "-i", "ones"}, {{"PATH", at("empty")}}).text() + "\n";
  transcript += run({"out", "-i", "ones"}, {{"TFAOT_CACHE_DIR", ""}}).text() + "\n";
  write("cache_file", "");
  transcript += run({"out", "-i", "ones"}, {{"TFAOT_CACHE_DIR", at("cache_file")}}).text() + "\n";
  write("out/record.json", read("out/record.json") + " ");
  transcript += run({"out", "-i", "ones"}).text();
  // The folder is named by a hash of the code as this machine's tools made it.
  transcript = std::regex_replace(transcript, std::regex("loaded/[0-9a-f]{2}"), "loaded/HASH");
  EXPECT_TRUE(matches_golden(transcript, "cli/run_machine.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
