// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/scram/build_files.h"

namespace tfaot::toolkit {
namespace {

// The names that the file uses, with the conditions of a CMS machine.
std::string used(const std::string& text) {
  BuildConditions conditions;
  conditions.architecture = "el8_amd64_gcc12";
  conditions.release = "CMSSW_14_1_0";
  conditions.tools = {{"cuda", "12.4.1"}, {"plain", "unknown"}};
  const auto file = testing::parse(text, conditions);
  return file ? testing::names_of(file->common.uses) : file.error().text();
}
std::string if_met(const std::string& condition) {
  const std::string tag = condition.substr(0, condition.find(' '));
  return used("<" + condition + "><use name='yes'/><else/><use name='no'/></" + tag + ">");
}

TEST(Conditions, NameAndMatchAreLookedForInTheText) {
  EXPECT_EQ(if_met("ifarchitecture name='amd64'"), "yes");
  EXPECT_EQ(if_met("architecture match='^el8_.*gcc1[0-9]$'"), "yes");
  EXPECT_EQ(if_met("ifarchitecture name='^amd64'"), "no");
  EXPECT_EQ(if_met("ifrelease name='CMSSW_14'"), "yes");
  EXPECT_EQ(if_met("release name='_ASAN_'"), "no");
  EXPECT_EQ(if_met("ifcompiler match='gcc'"), "yes");
  EXPECT_EQ(if_met("compiler name='llvm'"), "no");
  EXPECT_EQ(if_met("ifos name='linux'"), "yes");
  EXPECT_EQ(if_met("ifarch name='aarch64'"), "no");
}

TEST(Conditions, ValueIsTheWholeText) {
  EXPECT_EQ(if_met("ifarchitecture value='el8_amd64_gcc12'"), "yes");
  EXPECT_EQ(if_met("ifarchitecture value='amd64'"), "no");
  EXPECT_EQ(if_met("ifcxx11_abi value='1'"), "yes");
  EXPECT_EQ(if_met("ifproject value=''"), "yes");
}

TEST(Conditions, AnExclamationMarkTurnsThemAround) {
  EXPECT_EQ(if_met("ifarchitecture name='!_ppc64le_'"), "yes");
  EXPECT_EQ(if_met("ifarchitecture name='!amd64'"), "no");
  EXPECT_EQ(if_met("ifarchitecture value='!el8_amd64_gcc12'"), "no");
  EXPECT_EQ(if_met("iftool name='cuda' version='!^11'"), "yes");
}

TEST(Conditions, ToolsAreThereOrHaveAVersion) {
  EXPECT_EQ(if_met("iftool name='cuda'"), "yes");
  EXPECT_EQ(if_met("iftool name='CUDA'"), "yes");
  EXPECT_EQ(if_met("iftool name='rocm'"), "no");
  EXPECT_EQ(if_met("iftool name='cuda' version='^12[.]'"), "yes");
  EXPECT_EQ(if_met("iftool name='cuda' version='^11[.]'"), "no");
  EXPECT_EQ(if_met("iftool name='plain'"), "yes");
}

// Found by reading them with scram's own BuildFile.parse().
TEST(Conditions, AnExclamationMarkBeforeAToolAsksIfItIsMissing) {
  EXPECT_EQ(if_met("iftool name='!rocm'"), "yes");
  EXPECT_EQ(if_met("iftool name='!cuda'"), "no");
  EXPECT_EQ(if_met("iftool name='!cuda' version='^11[.]'"), "yes");
  EXPECT_EQ(if_met("iftool name='rocm' version=''"), "yes");
}

TEST(Conditions, SomeAreHeededThoughScramCallsThemInvalid) {
  const auto file =
      testing::parse("<ifos name='linux'/>\n<ifscram value=''><use name='yes'/></ifscram>");
  ASSERT_TRUE(file);
  EXPECT_EQ(testing::names_of(file->common.uses), "yes");
  EXPECT_EQ(join(file->warnings, "\n"),
            "BuildFile.xml:2: <ifscram> is not in scram's list of tags: it prints \"Invalid tag\" "
            "but applies it");
  // These belong to tool files.
  EXPECT_EQ(if_met("ifversion name='1'"), "BuildFile.xml:1: <else> outside of a condition");
}

TEST(Conditions, TheFirstThatAppliesIsTaken) {
  const std::string text =
      "<iftool name='rocm'><use name='a'/><elif name='cuda'/><use name='b'/><use name='c'/>"
      "<elif name='plain'/><use name='d'/><else/><use name='e'/></iftool>";
  EXPECT_EQ(used(text), "b c");
}

TEST(Conditions, StandInsideOfEachOtherAndOfProducts) {
  EXPECT_EQ(used("<iftool name='cuda'><ifarchitecture name='aarch64'><use name='a'/><else/>"
                 "<use name='b'/></ifarchitecture><use name='c'/></iftool>"),
            "b c");
  const auto file = testing::parse(
      "<bin name='x' file='x.cc'><ifos name='linux'><use name='a'/></ifos><ifos name='osx'>"
      "<use name='b'/></ifos></bin>");
  ASSERT_TRUE(file);
  EXPECT_EQ(testing::names_of(file->products.at(0).block.uses), "a");
}

TEST(Conditions, ErrorsSayWhere) {
  EXPECT_EQ(used("<use name='a'/>\n<else/>"), "BuildFile.xml:2: <else> outside of a condition");
  EXPECT_EQ(used("\n\n<ifos name='('><use name='a'/></ifos>"),
            "BuildFile.xml:3: '(' is not a regular expression\n"
            "  Mismatched '(' and ')' in regular expression");
  EXPECT_EQ(used("<ifos/>"),
            "BuildFile.xml:1: <ifos> needs one of the attributes name, match, value");
  EXPECT_EQ(used("<iftool version='1'/>"), "BuildFile.xml:1: <iftool> needs the attribute 'name'");
  EXPECT_EQ(used("<ifos name='a'>\n<else><use name='b'/></else></ifos>"),
            "BuildFile.xml:2: <else> must be empty: write <else/>, and after it what applies");
  EXPECT_EQ(used("<ifos name='a'><use name='b'/><else/>\n<elif name='c'/></ifos>"),
            "BuildFile.xml:2: <elif/> after an <else/>: scram ignores what comes after it\n"
            "  write one <else/>, as the last case");
}

}  // namespace
}  // namespace tfaot::toolkit
