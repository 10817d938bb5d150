// SPDX-License-Identifier: Apache-2.0
// --json of the verbs that change something: one JSON value on the standard output, nothing else.
#include <nlohmann/json.hpp>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using Json = nlohmann::json;

class JsonTest : public CliTest {
 protected:
  Json said(const std::vector<std::string>& arguments, int exit_code = 0) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.text();
    return Json::parse(outcome.out, nullptr, false);
  }
};

TEST_F(JsonTest, EveryVerbButCompletionHasIt) {
  for (const std::string& verb : verbs()) {
    const bool has = run({verb, "--help"}).out.find("--json") != std::string::npos;
    EXPECT_EQ(has, verb != "completion") << verb;
  }
}

TEST_F(JsonTest, FromTheModelToTheArea) {
  write_model();
  const Json config = said({"init", "model/saved_model", "-o", "new.yaml", "--json"});
  EXPECT_EQ(config["path"], "ROOT/new.yaml");

  const Json tree = said({"compile", "-c", "model/aot_config.yaml", "-o", "out", "--json", "-q"});
  EXPECT_EQ(tree["path"], "ROOT/out");
  EXPECT_EQ(tree["name"], "test_net");
  EXPECT_EQ(tree["batch_sizes"], Json({1, 4}));
  EXPECT_EQ(tree["objects"], 2);

  const Json archive = said({"package", "out", "-o", "dist", "--json", "-q"});
  EXPECT_EQ(archive["tool_name"], "tfaot-model-test-net");
  EXPECT_TRUE(archive.contains("sha256"));
  const std::string file = at("dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst");
  EXPECT_EQ(archive["size"].get<std::size_t>(), files_.read(file).value().size());

  const Json first = said({"install", file, "--release-area", "area", "--json", "-q"});
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0]["path"], "ROOT/area/tfaot-model-test-net/1.0.0");
  EXPECT_EQ(first[0]["made_current"], true);
  EXPECT_EQ(first[0]["unchanged"], false);
  const Json again = said({"install", file, "--release-area", "area", "--json"});
  EXPECT_EQ(again[0]["unchanged"], true);
  EXPECT_EQ(again[0]["replaced_version"], nullptr);
}

TEST_F(JsonTest, IsAListOfWhatWasInstalledAlsoAfterAnError) {
  write_tree_at("tree", {});
  write("broken.tar.zst", "no archive");
  said({"package", "tree", "-o", "dist", "--json", "-q"});
  const std::string file = at("dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst");
  const Json installed =
      said({"install", file, "broken.tar.zst", "--release-area", "area", "--json"}, 1);
  EXPECT_EQ(installed, Json::array());  // all archives are read first
}

TEST_F(JsonTest, FindingsInToolFiles) {
  write("bad.xml", "<tool name=\"bad\" version=\"1\" revision=\"2\">\n</tool>\n");
  const Json found = said({"check-tool", "bad.xml", "--json"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]["file"], "bad.xml");
  EXPECT_EQ(found[0]["findings"][0]["severity"], "warning");
  EXPECT_EQ(found[0]["findings"][0]["line"], 1);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
