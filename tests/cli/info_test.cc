// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli_test.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using InfoTest = CliTest;

TEST_F(InfoTest, DescribesATree) {
  write_tree_at("tree", {});
  EXPECT_TRUE(matches_golden(run({"info", "tree"}).text(), "cli/info_tree.txt"));
  EXPECT_TRUE(matches_golden(run({"info", "tree", "--json"}).text(), "cli/info_tree_json.txt"));
  const auto below_first_line = [](const std::string& text) {
    return text.substr(text.find('\n'));
  };
  EXPECT_EQ(below_first_line(run({"info", "tree/manifest.json"}).out),
            below_first_line(run({"info", "tree/"}).out));
}

TEST_F(InfoTest, PrintsTheRecordOfAPackageAlone) {
  write_model();
  ASSERT_EQ(compile().exit_code, 0);
  const Outcome outcome = run({"info", "out", "--record"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  const auto record = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(record["model_name"], "test_net");
  EXPECT_EQ(record["version"], 1'000'000);
  EXPECT_EQ(record["hash"], "<sha256>");  // masked
  const auto manifest = nlohmann::json::parse(read("out/manifest.json"));
  const std::string hash = manifest["record"]["hash"];
  EXPECT_NE(read("out/include/tfaot-model-test-net/model.h").find(hash), std::string::npos);
  write_tree_at("old", {});
  const Outcome old = run({"info", "old", "--record"});
  EXPECT_EQ(old.exit_code, 1);
  EXPECT_NE(old.err.find("the package has no record"), std::string::npos) << old.err;
  const Outcome config = run({"info", "model/aot_config.yaml", "--record"});
  EXPECT_EQ(config.exit_code, 1);
  EXPECT_NE(config.err.find("--record is for packages"), std::string::npos) << config.err;
}

// The config may give one.
TEST_F(InfoTest, AVersionWithoutANumberHasNoRecord) {
  write_model();
  const std::string config = read("model/aot_config.yaml");
  write("model/aot_config.yaml", replace_all(config, "\"1.0.0\"", "summer"));
  ASSERT_EQ(compile().exit_code, 0);
  const Outcome none = run({"info", "out", "--record"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("the version 'summer' has no number"), std::string::npos) << none.err;
  write("model/aot_config.yaml",
        replace_all(config, "version: \"1.0.0\"", "version: summer\n  record_version: 25"));
  ASSERT_EQ(compile().exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(run({"info", "out", "--record"}).out)["version"], 25);
  // Also in a package with other weights.
  write("retrained/saved_model.pb", "the same with weights n");
  const Outcome updated = run({"update-weights", "out", "--model", "retrained", "-j1"});
  ASSERT_EQ(updated.exit_code, 0) << updated.text();
  EXPECT_EQ(nlohmann::json::parse(run({"info", "out", "--record"}).out)["version"], 25);
}

TEST_F(InfoTest, DescribesAnArchiveAsItsTree) {
  write_tree_at("tree", {});
  ASSERT_EQ(run({"package", "tree"}).exit_code, 0);
  const std::string archive = "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  const Outcome outcome = run({"info", archive});
  const std::string head = "archive " + archive + "\n";
  ASSERT_EQ(outcome.out.substr(0, head.size()), head) << outcome.text();
  EXPECT_EQ("package tree tree\n" + outcome.out.substr(head.size()), run({"info", "tree"}).out);
}

TEST_F(InfoTest, DescribesAConfig) {
  write_model();
  EXPECT_TRUE(matches_golden(run({"info", "model/aot_config.yaml"}).text() + "\n" +
                                 run({"info", "model/aot_config.yaml", "--json"}).text(),
                             "cli/info_config.txt"));
}

TEST_F(InfoTest, DescribesAModel) {
  write("net/saved_model.pb", "a graph");
  EXPECT_TRUE(
      matches_golden(run({"info", "net"}).text() + "\n" + run({"info", "net", "--json"}).text(),
                     "cli/info_model.txt"));
}

TEST_F(InfoTest, WritesPages) {
  write_tree_at("tree", {});
  write_model();
  write("net/saved_model.pb", "a graph");
  const Outcome tree = run({"info", "tree", "--html", "pages/tree.html"});
  EXPECT_EQ(tree.out, run({"info", "tree"}).out) << tree.text();
  EXPECT_TRUE(matches_golden(read_page("pages/tree.html"), "cli/info_tree.html"));
  EXPECT_EQ(run({"info", "model/aot_config.yaml", "--html", "config.html"}).exit_code, 0);
  EXPECT_TRUE(matches_golden(read_page("config.html"), "cli/info_config.html"));
  const Outcome net = run({"info", "net", "--html", "net.html", "--json"});
  EXPECT_EQ(net.out, run({"info", "net", "--json"}).out) << net.text();
  EXPECT_TRUE(matches_golden(read_page("net.html"), "cli/info_model.html"));
}

TEST_F(InfoTest, ReplacesNothingButPages) {
  write_tree_at("tree", {});
  write("notes.txt", "my notes");
  write("page.html", "<!DOCTYPE html>\nan older page");
  EXPECT_EQ(run({"info", "tree", "--html", "page.html"}).exit_code, 0);
  EXPECT_GT(read("page.html").size(), 1000U);
  const std::string transcript = run({"info", "tree", "--html", "notes.txt"}).text() + "\n" +
                                 run({"info", "tree", "--html", "tree"}).text() + "\n" +
                                 run({"info", "tree", "--html", "notes.txt/page.html"}).text() +
                                 "\n" + run({"info", "tree", "--html", ""}).text() + "\n" +
                                 run({"info", "nowhere", "--html", "none.html"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/html_errors.txt"));
  EXPECT_EQ(read("notes.txt"), "my notes");
  EXPECT_FALSE(is_file(files_, at("none.html")));
}

TEST_F(InfoTest, SaysAConfigsNamesBeforeThereIsAModel) {
  write("early.yaml", "model: {name: early, version: 1.10}\n");
  EXPECT_EQ(run({"info", "--identity", "early.yaml"}).out,
            "{\n  \"name\": \"early\",\n  \"namespace\": \"tfaot_model\",\n"
            "  \"version\": \"1.10\"\n}\n");
  write("wrong.yaml", "model: {name: 9lives, version: 1}\n");
  EXPECT_EQ(run({"info", "--identity", "wrong.yaml"}).exit_code, 1);
}

TEST_F(InfoTest, CannotTellThatAnArchiveIsCutBehindTheManifest) {
  write_tree_at("tree", {"1.0.0", std::string(300'000, 'x') + read("prefix/bin/tfaot")});
  ASSERT_EQ(run({"package", "tree"}).exit_code, 0);
  const std::string archive = read("tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst");
  write("cut.tar.zst", archive.substr(0, archive.size() / 2));
  EXPECT_EQ(run({"info", "cut.tar.zst"}).exit_code, 0);
  EXPECT_EQ(run({"install", "cut.tar.zst", "--release-area", "area"}).exit_code, 1);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
