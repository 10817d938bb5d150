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
using testing::parse;

// CMSSW's PhysicsTools/TensorFlow, shortened.
TEST(ParseBuildFile, ReadsAPackage) {
  const auto file = parse(
      "<flags REM_CXXFLAGS='-Werror=sign-compare'/>\n<use name='tensorflow'/>\n"
      "<use name='FWCore/Utilities' source_only='1'/><use name='self'/>\n"
      "<lib name='z'/><include_path path='${GIVEN}/x'/>\n"
      "<export>\n  <lib name='1'/>\n</export>\n");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(names_of(file->common.uses), "tensorflow FWCore/Utilities");
  EXPECT_FALSE(file->common.uses[0].source_only);
  EXPECT_TRUE(file->common.uses[1].source_only);
  EXPECT_EQ(file->common.uses[1].line, 3);
  EXPECT_EQ(file->common.flags.at(0).name, "REM_CXXFLAGS");
  EXPECT_THAT(file->common.libraries, ElementsAre("z"));
  EXPECT_THAT(file->common.include_paths, ElementsAre("value/x"));
  EXPECT_TRUE(file->has_export);
  EXPECT_THAT(file->exported_libraries, ElementsAre("1"));
  EXPECT_THAT(file->warnings, IsEmpty());
}

TEST(ParseBuildFile, ReadsProducts) {
  const auto file = parse(
      "<bin name='testTF' file='runner.cpp,test TF.cc, *.cxx'><use name='cppunit'/></bin>\n"
      "<bin file='sub/one.cc'/><library file='*.cc' name='P' comment='mine'>"
      "<flags edm_plugin='1'/></library>\n"
      "<test name='t' command='run ${LOCALTOP}/x $(GIVEN)'/>");
  ASSERT_TRUE(file) << error_of(file);
  ASSERT_EQ(file->products.size(), 4U);
  EXPECT_THAT(file->products[0].files, ElementsAre("runner.cpp", "test", "TF.cc", "*.cxx"));
  EXPECT_EQ(names_of(file->products[0].block.uses), "cppunit");
  EXPECT_EQ(file->products[1].name, "one");
  EXPECT_EQ(file->products[2].block.flags.at(0).name, "EDM_PLUGIN");
  EXPECT_EQ(file->products[3].kind, ProductKind::kTest);
  EXPECT_EQ(file->products[3].command, "run ${LOCALTOP}/x value");
  EXPECT_EQ(file->products[3].line, 3);
}

TEST(ParseBuildFile, ReadsModels) {
  const auto file = parse(
      "<aot_compile model='/data/${GIVEN}' class='ns::MyModel' batch_sizes='1 2,4  8' "
      "cpu_levels='x86-64-v3' headers='cmssw' version='2.0'><!-- a comment --></aot_compile>");
  ASSERT_TRUE(file) << error_of(file);
  const AotModel& model = file->common.models.at(0);
  EXPECT_EQ(model.model, "/data/value");
  EXPECT_EQ(model.class_name, "ns::MyModel");
  EXPECT_THAT(model.batch_sizes, ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(model.cpu_levels, ElementsAre("x86-64-v3"));
  EXPECT_EQ(model.headers, "cmssw");
  EXPECT_EQ(model.version, "2.0");
}

TEST(ParseBuildFile, NamesAModelAfterItsFile) {
  const auto file = parse(
      "<aot_compile model='net.onnx' batch_sizes='1,16' dimensions='n_tracks=50, x:1=3, m=1..9'/>"
      "<aot_compile model='/data/my-tagger/saved_model'/>");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(file->common.models.at(0).class_name, "net");
  EXPECT_THAT(file->common.models.at(0).dimensions, ElementsAre("n_tracks=50", "x:1=3", "m=1..9"));
  EXPECT_EQ(file->common.models.at(1).class_name, "my_tagger");
}

TEST(ParseBuildFile, RepeatsProducts) {
  const auto file = parse(
      "<set name='base' value='unit'/>"
      "<bin name='a' file='${base}${value}.cc' for='3,7,2'><flags CPPDEFINES='N=${value}'/></bin>"
      "<bin name='b' file='${value}.cc' foreach='x,y'/><bin name='c' file='c.cc' for='2'/>");
  ASSERT_TRUE(file) << error_of(file);
  std::vector<std::string> made;
  for (const BuildProduct& product : file->products) {
    made.push_back(product.name + ":" + join(product.files, ","));
  }
  EXPECT_THAT(made, ElementsAre("a_3:unit3.cc", "a_5:unit5.cc", "a_7:unit7.cc", "b_x:x.cc",
                                "b_y:y.cc", "c_1:c.cc", "c_2:c.cc"));
  EXPECT_EQ(file->products[1].block.flags.at(0).value, "N=5");
}

TEST(ParseBuildFile, CountsAsScramDoes) {
  const auto names = [](const std::string& loop) {
    const auto file = parse("<bin name='a' file='a.cc' for='" + loop + "'/>");
    std::vector<std::string> made;
    if (!file) return std::vector<std::string>{error_of(file)};
    for (const BuildProduct& product : file->products) made.push_back(product.name);
    return made;
  };
  EXPECT_THAT(names("3,5"), ElementsAre("a_3", "a_4", "a_5"));
  EXPECT_THAT(names("1,10,4"), ElementsAre("a_1", "a_5", "a_9", "a_13"));
  EXPECT_THAT(names("5,3"), ElementsAre("a"));
}

TEST(ParseBuildFile, HasLimits) {
  for (const char* loop : {"2147483647", "1000000", "1,2147483647,1"}) {
    EXPECT_EQ(error_of(parse("<bin name='a' file='a.cc' for='" + std::string(loop) + "'/>")),
              "BuildFile.xml:1: 'for' makes more than 1000 products\n  make fewer");
  }
  const auto nested = [](const std::string& open, const std::string& close, int depth) {
    std::string text = "\n";
    for (int i = 0; i < depth; ++i) text += open;
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  for (const auto& [open, close] :
       {std::pair("<unknown>", "</unknown>"), std::pair("<set name='a' value='b'>", "</set>"),
        std::pair("<ifos name='.'>", "</ifos>")}) {
    EXPECT_TRUE(parse(nested(open, close, 500)));
    EXPECT_EQ(error_of(parse(nested(open, close, 10'000))),
              "BuildFile.xml:2: elements nested more than 500 deep\n"
              "  scram stops with a RecursionError of Python at about twice as many\n"
              "  nest them less");
  }
  std::string many;
  for (int i = 0; i < 11; ++i) many += "\n<use name='a'/>";
  EXPECT_EQ(error_of(parse("<bin name='a' file='a.cc' for='1000'>" + many + "</bin>")),
            "BuildFile.xml:2: more than 10000 elements, those in loops counted again\n"
            "  write several BuildFiles");
  EXPECT_THAT(
      error_of(parse("<ifrelease name='(a|a)*b'><lib name='x'/></ifrelease>")),
      ::testing::StartsWith("BuildFile.xml:1: the regular expression '(a|a)*b' repeats a group"));
  std::string growing = "<set name='v0' value='x'/>";
  for (int i = 1; i < 20; ++i) {
    const std::string before = "${v" + std::to_string(i - 1) + "}";
    growing += "<set name='v" + std::to_string(i) + "' value='" + before + before + "'/>";
  }
  EXPECT_THAT(error_of(parse(growing + "\n<lib name='${v19}'/>")),
              ::testing::StartsWith("BuildFile.xml:2: the variables in '${v"));
}

// Found by reading them with scram's own BuildFile.parse().
TEST(ParseBuildFile, ReadsVariablesAsScramDoes) {
  const auto file = parse(
      "<set name='b' value='X'/><set name='aX' value='y'/><set name='c' value='${b}'/>"
      "<lib name='${a${b}}'/><lib name='${c}${c}'/><lib name='$b'/>");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_THAT(file->common.libraries, ElementsAre("y", "XX", "$b"));
}

// scram reads BuildFiles with the same parser as tool files (check_tool_test.cc covers it).
TEST(ParseBuildFile, RefusesWhatPythonsParserRefuses) {
  const std::string scram = "\n  scram stops with a Python traceback: it cannot parse the file\n  ";
  EXPECT_EQ(error_of(parse("\n<flags CXXFLAGS='a & b'/>")),
            "BuildFile.xml:2: a '&' that does not start an entity" + scram + "write &amp;");
  EXPECT_EQ(error_of(parse("<!-- a -- b -->")), "BuildFile.xml:1: '--' inside of a comment" +
                                                    scram + "write '-', or end the comment there");
  EXPECT_THAT(error_of(parse("<use name='\xFF'/>")),
              ::testing::StartsWith("BuildFile.xml:1: the byte 0xff is not text"));
}

TEST(ParseBuildFile, WarnsOfWhatScramPassesOver) {
  const auto file = parse(
      "<Flags CXXFLAGS='-g'/>\n<flags CXXFLAGS='-O2' LDFLAGS='-lx'/>\n"
      "<skip><use name='inside'/></skip>\n<export><use name='lost'/></export>\n"
      "<bin name='a/b' file='b.cc'/><productstore name='lib'/>");
  ASSERT_TRUE(file) << error_of(file);
  EXPECT_EQ(
      join(file->warnings, "\n"),
      "BuildFile.xml:1: <Flags> should be written <flags>\n"
      "BuildFile.xml:2: scram reads the first attribute of <flags> only: 'LDFLAGS' has no "
      "effect; make it a separate element\n"
      "BuildFile.xml:3: <skip> is not known and is ignored, but its contents are read\n"
      "BuildFile.xml:4: <use> inside of <export> is ignored\n"
      "BuildFile.xml:5: the name of a product has no folder: 'a/b' becomes 'b'\n"
      "BuildFile.xml:5: <productstore> is not known and is ignored, but its contents are read");
  EXPECT_EQ(names_of(file->common.uses), "inside");
  EXPECT_EQ(file->products.at(0).name, "b");
}

TEST(ParseBuildFile, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(error_of(parse("<use name='a'/>\n<bin></lib>")),
            "BuildFile.xml:2: not valid XML\n"
            "  scram stops with a Python traceback: it cannot parse the file\n"
            "  correct it: mismatched tag");
  EXPECT_THAT(
      error_of(parse("<?xml version='1.0'?>\n<use name='a'/>")),
      ::testing::StartsWith("BuildFile.xml:1: <?xml ...> does not belong in a scram file\n"));
  EXPECT_EQ(error_of(parse("\n<use nam='a'/>")),
            "BuildFile.xml:2: <use> has no attribute 'nam' (did you mean 'name'?)\n"
            "  allowed: name, source_only, for, force_link");
  EXPECT_EQ(error_of(parse("<export name='x'/>")),
            "BuildFile.xml:1: <export> has no attribute 'name'\n  it takes none");
  EXPECT_THAT(error_of(parse("<use name='a' name='b'/>")),
              ::testing::StartsWith("BuildFile.xml:1: <use> has the attribute 'name' twice\n"));
  EXPECT_EQ(error_of(parse("<library name='x'/>")),
            "BuildFile.xml:1: <library> needs the attribute 'file'");
  EXPECT_EQ(error_of(parse("<bin file='a.cc,b.cc'/>")),
            "BuildFile.xml:1: a product of several files needs the attribute 'name'");
  EXPECT_EQ(error_of(parse("<bin file='*.cc'/>")),
            "BuildFile.xml:1: a product of several files needs the attribute 'name'");
  EXPECT_EQ(error_of(parse("<bin file=' ,' name='x'/>")), "BuildFile.xml:1: 'file' names no file");
  EXPECT_EQ(error_of(parse("<bin file='a.cc'/>\n<library file='b.cc' name='a'/>")),
            "BuildFile.xml:2: there is already a product 'a' on line 1");
  EXPECT_EQ(error_of(parse("<bin file='a.cc'>\n<bin file='b.cc'/></bin>")),
            "BuildFile.xml:2: <bin> inside of another product");
  EXPECT_EQ(error_of(parse("\n<aot_compile model='m' class='M' batch_sizes='1 x'/>")),
            "BuildFile.xml:2: batch_sizes: 'x' is not a number from 1 on\n"
            "  write batch_sizes=\"1 4 16\"");
  EXPECT_THAT(error_of(parse("<aot_compile model='m' class='M' batch_sizes='4,0'/>")),
              ::testing::StartsWith("BuildFile.xml:1: batch_sizes: '0' is not a number"));
  EXPECT_EQ(error_of(parse("<aot_compile model='m' class='M' headers='x'/>")),
            "BuildFile.xml:1: headers: 'x' is neither self_contained nor cmssw");
  for (const char* contents : {"text", "<use name='x'/>"}) {
    EXPECT_EQ(error_of(parse(std::string("<aot_compile model='m' class='M'>") + contents +
                             "</aot_compile>")),
              "BuildFile.xml:1: <aot_compile> has contents, which mean nothing here\n"
              "  write it as <aot_compile .../>");
  }
  EXPECT_EQ(error_of(parse("<flags/>")), "BuildFile.xml:1: <flags> needs an attribute");
  EXPECT_EQ(error_of(parse("<flags CXXFLAGS='-I$(X_BASE)'/>")),
            "BuildFile.xml:1: the variable in '-I$(X_BASE)' is unknown\n"
            "  give it a value: VARIABLES X_BASE=<value>");
  EXPECT_EQ(error_of(parse("<set name='a' value='${b}'/><set name='b' value='${a}'/>"
                           "<lib name='${a}'/>")),
            "BuildFile.xml:1: the variables in '${a}' expand to too much, or to themselves\n"
            "  the limits are 1000 values and 100000 characters");
  EXPECT_EQ(error_of(parse("<bin file='a.cc' for='1,x'/>")),
            "BuildFile.xml:1: for=\"1,x\" is not a loop\n"
            "  write for=\"last\", for=\"first,last\" or for=\"first,last,step\"");
  EXPECT_EQ(error_of(parse("<bin file='a.cc' foreach=','/>")),
            "BuildFile.xml:1: 'foreach' has no value");
  EXPECT_EQ(error_of(parse("<aot_compile class='M'/>")),
            "BuildFile.xml:1: <aot_compile> needs the attribute 'model'");
  EXPECT_EQ(error_of(parse("<aot_compile model='m/config.yaml'/>")),
            "BuildFile.xml:1: <aot_compile> of a config needs the attribute 'class'\n"
            "  it is the config's model.name");
  for (const std::string dimension : {"n", "n=", "=4", "n=0", "n=4x"}) {
    EXPECT_EQ(error_of(parse("<aot_compile model='m' dimensions='a=1," + dimension + "'/>")),
              "BuildFile.xml:1: dimensions: '" + dimension +
                  "' is not name=size\n"
                  "  write dimensions=\"n_tracks=50\"");
  }
}

}  // namespace
}  // namespace tfaot::toolkit
