// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scram/build_files.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::IsEmpty;
using testing::names_of;
using testing::plan;

std::string kinds(const Result<BuildPlan>& made) {
  if (!made) return made.error().text();
  std::vector<std::string> list;
  for (const BuildTarget& target : made->targets) {
    const char* names[] = {"package", "library", "plugin", "program", "test"};
    list.push_back(std::string(names[static_cast<int>(target.kind)]) + " " + target.name);
  }
  return join(list, ", ");
}

TEST(Plan, APackageIsALibraryWhenItExportsOrUses) {
  const auto exported = plan("<export><lib name='1'/></export>", "");
  EXPECT_EQ(kinds(exported), "package SubPkg");
  EXPECT_TRUE(exported->targets[0].builds_library);
  EXPECT_TRUE(exported->targets[0].all_sources);
  EXPECT_TRUE(plan("<use name='a'/>", "")->targets[0].builds_library);
  EXPECT_FALSE(plan("", "")->targets[0].builds_library);
  EXPECT_EQ(kinds(plan("<export><lib name='Other'/></export>", "")), "package Other");
  EXPECT_EQ(error_of(plan("<export><lib name='1'/><lib name='b'/></export>", "")),
            "BuildFile.xml: <export> names 2 libraries, but a package has one");
}

TEST(Plan, APackageKeepsBackWhatItIsTold) {
  const auto made = plan("<use name='a'/><use name='b'/><use name='a'/><flags NO_EXPORT='b'/>", "");
  EXPECT_EQ(names_of(made->targets[0].uses), "a");
  EXPECT_EQ(names_of(made->targets[0].private_uses), "b");
}

TEST(Plan, LibrariesOfPluginsArePlugins) {
  EXPECT_EQ(kinds(plan("<library file='*.cc' name='P'/>")), "plugin P");
  EXPECT_EQ(kinds(plan("<flags EDM_PLUGIN='0'/><library file='*.cc' name='P'/>")), "library P");
  EXPECT_EQ(kinds(plan("<library file='*.cc' name='L'/>", "test")), "library L");
  EXPECT_EQ(kinds(plan("<library file='*.cc' name='P'><flags EDM_PLUGIN='1'/></library>", "test")),
            "plugin P");
  EXPECT_EQ(kinds(plan("\n<library file='a.cc' name='P'><flags EDM_PLUGIN='yes'/></library>")),
            "BuildFile.xml:2: EDM_PLUGIN is 0 or 1, not 'yes'");
}

TEST(Plan, PluginsWithoutProductsAreOne) {
  const auto made = plan("<use name='FWCore/Framework'/>");
  EXPECT_EQ(kinds(made), "plugin SubPkgAuto");
  EXPECT_TRUE(made->targets[0].all_sources);
  EXPECT_EQ(kinds(plan("<use name='a'/><flags EDM_PLUGIN='0'/>")), "");
  EXPECT_THAT(plan("")->warnings,
              ElementsAre("BuildFile.xml: nothing is built: there is neither a <library> nor a "
                          "<use>"));
}

TEST(Plan, ProgramsOfTestAreTests) {
  const std::string text =
      "<bin name='a' file='a.cc'><flags TEST_RUNNER_ARGS='-v x'/><flags SETENV='A=b c'/>"
      "<flags PRE_TEST='b'/></bin><bin name='b' file='b.cc'><flags NO_TESTRUN='1'/></bin>"
      "<test name='c' command='c.sh'/>";
  const auto made = plan(text, "test");
  EXPECT_EQ(kinds(made), "test a, test b, test c");
  EXPECT_THAT(made->targets[0].arguments, ElementsAre("-v", "x"));
  EXPECT_THAT(made->targets[0].environment, ElementsAre("A=b c"));
  EXPECT_THAT(made->targets[0].run_before, ElementsAre("b"));
  EXPECT_TRUE(made->targets[0].runs);
  EXPECT_FALSE(made->targets[1].runs);
  EXPECT_EQ(made->targets[2].command, "c.sh");
  const auto in_bin = plan(text, "bin");
  EXPECT_EQ(kinds(in_bin), "program a, program b");
  EXPECT_THAT(in_bin->warnings, ElementsAre("BuildFile.xml:1: the test 'c' is ignored: <test> has "
                                            "a meaning only in the folder test"));
}

TEST(Plan, ProductsGetWhatTheFileSaysForAll) {
  const auto made = plan(
      "<use name='a'/><flags CXXFLAGS='-O2 -Wx=1'/><flags CPPDEFINES='A B=1'/><lib name='l'/>"
      "<aot_compile model='m' class='M'/>"
      "<library file='p.cc' name='P'><use name='b'/><flags REM_CXXFLAGS='-W%'/>"
      "<flags CXXFLAGS='-O3'/><lib name='1'/></library><library file='q.cc' name='Q'/>");
  ASSERT_TRUE(made) << error_of(made);
  EXPECT_EQ(names_of(made->targets[0].private_uses), "a b");
  EXPECT_THAT(made->targets[0].flags.at("CXXFLAGS"), ElementsAre("-O2", "-Wx=1", "-O3"));
  EXPECT_THAT(made->targets[0].flags.at("CPPDEFINES"), ElementsAre("A", "B=1"));
  EXPECT_THAT(made->targets[0].libraries, ElementsAre("l"));
  EXPECT_THAT(made->targets[1].flags.at("CXXFLAGS"), ElementsAre("-O2", "-Wx=1"));
  EXPECT_THAT(made->targets[1].models, ElementsAre("M"));
  EXPECT_EQ(made->models.size(), 1U);
  EXPECT_THAT(made->warnings, IsEmpty());
}

TEST(Plan, AModelIsThereOnce) {
  EXPECT_EQ(error_of(plan("<library file='p.cc' name='P'><aot_compile model='m' class='M'/>"
                          "</library>\n<library file='q.cc' name='Q'>"
                          "<aot_compile model='m' class='M'/></library>")),
            "BuildFile.xml:2: there is already a model 'M' on line 1\n"
            "  put it at the top of the file, outside of the products");
}

TEST(Plan, SaysWhatHasNoMeaningHere) {
  const auto made = plan(
      "<flags ALPAKA_BACKENDS='1'/>\n<export/>\n<library file='p.cc' name='P'/>"
      "<library file='q.cc' name='Q'><flags LCG_DICT_HEADER='c.h'/></library>");
  EXPECT_EQ(join(made->warnings, "\n"),
            "BuildFile.xml:1: the flag ALPAKA_BACKENDS has no meaning outside of scram\n"
            "BuildFile.xml:3: the flag LCG_DICT_HEADER has no meaning outside of scram\n"
            "BuildFile.xml: <export> has a meaning only in a package's own BuildFile");
  EXPECT_EQ(join(plan("<export/>\n<bin file='a.cc'/>", "")->warnings, "\n"),
            "BuildFile.xml:2: 'a' is ignored: a package's own BuildFile makes one library; "
            "programs belong in bin or test");
  EXPECT_EQ(error_of(plan("<flags DNN_NAME='a b'/><library file='p.cc' name='P'/>")),
            "BuildFile.xml: a product has one DNN_NAME, not 2\n"
            "  scram's rule makes only one of them; use <aot_compile> for more");
  for (const std::string name : {"../net", "/tmp/net", "a/net", ".."}) {
    EXPECT_EQ(error_of(plan("<flags DNN_NAME='" + name + "'/><library file='p.cc' name='P'/>")),
              "BuildFile.xml: DNN_NAME is a name without a folder, not '" + name +
                  "'\n"
                  "  the network lies in the folder of the sources");
  }
}

}  // namespace
}  // namespace tfaot::toolkit
