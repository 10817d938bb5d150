// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <regex>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using PackageTest = CliTest;

// The number of bytes depends on the compressor.
std::string without_size(const std::string& text) {
  return std::regex_replace(text, std::regex("size     [0-9]+ bytes"), "size     N bytes");
}

// An area, a CMake project or a product with several packages uses the runtime of one of them.
TEST_F(PackageTest, PackagesWithOtherHeadersHaveTheSameRuntime) {
  write_model();
  std::vector<std::string> line = {"compile", "-c", "model/aot_config.yaml", "-o", "out",
                                   "-j",      "1"};
  ASSERT_EQ(run(line).exit_code, 0);
  const std::vector<std::string> runtime = files_in("out/runtime");
  EXPECT_THAT(runtime, ::testing::IsSupersetOf(
                           {"include/tfaot/cmssw/inside/xla_function.h",
                            "include/tfaot/cmssw/drop_in/PhysicsTools/TensorFlowAOT/interface/"
                            "Model.h"}));
  line.insert(line.end(), {"--headers", "cmssw"});
  ASSERT_EQ(run(line).exit_code, 0);
  EXPECT_EQ(files_in("out/runtime"), runtime);
  EXPECT_THAT(read("out/include/tfaot-model-test-net/model.h"),
              ::testing::HasSubstr("#include \"PhysicsTools/TensorFlowAOT/interface/Wrapper.h\""));
  EXPECT_THAT(run({"info", "out"}).out, ::testing::HasSubstr("bytes, cmssw"));
}

TEST_F(PackageTest, PrintsWhatItWrote) {
  write_tree_at("tree", {});
  std::string transcript = run({"package", "tree", "-o", "dist"}).text() + "\n";
  transcript += run({"package", "tree", "-o", "dist", "--format", "tar.gz"}).text() + "\n";
  transcript += run({"package", "tree", "-o", "dist", "--quiet"}).text();
  EXPECT_TRUE(matches_golden(without_size(transcript), "cli/package.txt"));
  EXPECT_EQ(files_in("dist"), (std::vector<std::string>{
                                  "SHA256SUMS", "tfaot-model-test-net-1.0.0-x86_64-linux.tar.gz",
                                  "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst"}));
}

TEST_F(PackageTest, RefusesAChangedTree) {
  write_tree_at("tree", {});
  write("tree/lib/test_net_bs1_x86-64.o", "tampered");
  const Outcome outcome = run({"package", "tree"});
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/package_changed.txt"));
  EXPECT_EQ(files_in("tree").size(), 6U);
}

// What each verb says about the inputs and outputs of other verbs, and about files that are not
// tfaot's.
TEST_F(PackageTest, WrongInputsAreToldForWhatTheyAre) {
  write_model();
  write_tree_at("tree", {});
  write("six/1", "");
  for (const char* name : {"six/2", "six/3", "six/4", "six/5", "six/6", "two/a", "two/b"}) {
    write(name, "");
  }
  ASSERT_EQ(run({"package", "tree", "-o", "d i s t"}).exit_code, 0);
  const std::string archive = "d i s t/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  ASSERT_EQ(run({"install", archive, "--release-area", "area"}).exit_code, 0);
  write("cut.tar.zst", read(archive).substr(0, 300));
  write("words.tar.gz", "words");
  ASSERT_TRUE(files_.create_directories(at("empty")));
  write("torn/record.json", "{}");
  ASSERT_TRUE(files_.replace_symlink("nowhere", at("dangling")));
  std::string transcript;
  for (const std::string path :
       {"missing", "dangling", "empty", "two", "torn", "six", "six/1", "words.tar.gz",
        "cut.tar.zst", archive.c_str(), "tree", "tree/manifest.json", "area",
        "area/tfaot-model-test-net", "model/saved_model", "model/aot_config.yaml"}) {
    for (const std::vector<std::string>& line :
         std::vector<std::vector<std::string>>{{"package", path},
                                               {"install", path, "--release-area", "new"},
                                               {"list", "--release-area", path},
                                               {"info", path}}) {
      const Outcome outcome = run(line);
      if (outcome.exit_code != 0) transcript += outcome.text() + "\n";
    }
    ASSERT_TRUE(files_.remove_all(at("new")));
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/wrong_inputs.txt"));
}

// A killed run leaves the new manifest in the side folder, and the tree without one.
TEST_F(PackageTest, ATreeInPiecesIsToldAsOne) {
  write_tree_at("tree", {});
  ASSERT_TRUE(
      files_.move_file(at("tree/manifest.json"), at("tree/.tfaot-aside/new/manifest.json")));
  for (const std::string verb : {"package", "info"}) {
    const Outcome outcome = run({verb, "tree"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err,
                ::testing::HasSubstr(
                    "ROOT/tree: a package tree that a killed run left incomplete; 'tfaot " + verb +
                    "' takes a"));
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("run that command again: 'tfaot compile', "
                                                  "'update-weights' or 'tune' completes it"));
  }
  write_model();
  write("model/other.yaml",
        std::regex_replace(read("model/aot_config.yaml"), std::regex("test_net"), "other_net"));
  EXPECT_THAT(run({"compile", "-c", "model/other.yaml", "-o", "tree"}).err,
              ::testing::HasSubstr("holds the package tree of model 'test_net'"));
}

TEST_F(PackageTest, TheToolFilesBaseStaysBehind) {
  write_model();
  const std::string archive = "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  const auto bytes_of = [&](const std::string& out, const std::string& option) {
    std::vector<std::string> line = {"compile", "-c", "model/aot_config.yaml", "-o", out};
    if (!option.empty()) line.push_back(option);
    EXPECT_EQ(run(line).exit_code, 0);
    const Outcome packed = run({"package", out, "-o", out + "-dist"});
    EXPECT_EQ(packed.exit_code, 0) << packed.text();
    return read(out + "-dist/" + archive);
  };
  const std::string released = bytes_of("plain", "");
  EXPECT_EQ(bytes_of("dev", "--dev"), released);
  EXPECT_EQ(bytes_of("based", "--tool-base=/some/base"), released);
  EXPECT_EQ(run({"install", "dev-dist/" + archive, "--release-area", "area"}).exit_code, 0);
  EXPECT_EQ(read("area/tfaot-model-test-net/1.0.0/tfaot-model-test-net.xml"),
            read("plain/tfaot-model-test-net.xml"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
