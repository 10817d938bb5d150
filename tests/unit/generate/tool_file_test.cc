// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/records/sample_records.h"
#include "tfaot/generate/generate.h"
#include "tfaot/scram/tool_file.h"

namespace tfaot::toolkit {
namespace {

std::string tool_file(const std::string& base) {
  const testing::Records records = testing::simple_records();
  const auto generated = generate_files(
      records.spec, records.compiled, make_manifest(records.spec, records.compiled, "", {}), base);
  for (const GeneratedFile& file : generated->files) {
    if (file.path == "tfaot-model-test.xml") return file.text;
  }
  return "none";
}

std::string rebase_error(const std::string& xml, const std::string& base = "/base") {
  const auto rebased = rebase_tool_file({xml, "t.xml"}, base);
  return rebased ? "no error" : rebased.error().text();
}

TEST(ToolFile, RebaseEqualsGeneratedWithThatBase) {
  const std::string hostile = "/an area/<&>'\"/1.0.0";
  EXPECT_EQ(*rebase_tool_file({tool_file("@TOOL_BASE@"), "t.xml"}, hostile), tool_file(hostile));
  EXPECT_EQ(*rebase_tool_file({tool_file(hostile), "t.xml"}, "$CMSSW_BASE"),
            tool_file("$CMSSW_BASE"));
}

TEST(ToolFile, IsWhatRealScramReads) {
  const std::string xml = tool_file("@TOOL_BASE@");
  EXPECT_EQ(xml.find("<?xml"), std::string::npos);
  EXPECT_EQ(xml.find("revision"), std::string::npos);
}

TEST(ToolFile, SaysWhoMadeIt) {
  EXPECT_TRUE(is_made_by_tfaot(tool_file("@TOOL_BASE@")));
  EXPECT_TRUE(
      is_made_by_tfaot(*rebase_tool_file({tool_file("@TOOL_BASE@"), "t.xml"}, "/area/t/1")));
  EXPECT_FALSE(is_made_by_tfaot("<tool name='Made by tfaot' version='1'/>"));
  EXPECT_FALSE(is_made_by_tfaot("<!-- by hand --><tool name='t' version='1'/>"));
  EXPECT_FALSE(is_made_by_tfaot("Made by tfaot"));
}

TEST(ToolFile, RebaseRefusesWhatIsNoToolFile) {
  EXPECT_EQ(rebase_error("<tool"),
            "t.xml:1: the tool file is not valid XML\n  Error parsing start element tag");
  EXPECT_EQ(
      rebase_error("<tool name='t' version='1'><client/></tool>"),
      "t.xml: the tool file does not define its base\n"
      "  expected <environment name=\"T_BASE\" default=\"...\"/> in the <client> of a <tool>");
  EXPECT_EQ(
      rebase_error(tool_file("@TOOL_BASE@"), ""),
      "the tool base '' is empty or contains control characters\n"
      "  it is the folder given with --tool-base, or the one that the package is installed into: "
      "choose another one");
}

TEST(ToolFile, RebaseRefusesWhatWouldGrowWithoutEnd) {
  std::string deep = "<tool name='t' version='1'>";
  for (int i = 0; i < 40'000; ++i) deep += "<a>";
  for (int i = 0; i < 40'000; ++i) deep += "</a>";
  EXPECT_EQ(rebase_error(deep + "</tool>"), "t.xml: the tool file is nested deeper than 64 levels");
  EXPECT_EQ(rebase_error("<tool>" + std::string(1 << 20, ' ') + "</tool>"),
            "t.xml: has 1048589 bytes, but a tool file has at most 1048576");
}

}  // namespace
}  // namespace tfaot::toolkit
