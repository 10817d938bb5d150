// SPDX-License-Identifier: Apache-2.0
// Each finding here was observed with real scram; docs/measurements.md says how.
#include "tfaot/scram/check_tool.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/relocatable_object.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHead =
    "<tool name=\"t\" version=\"1\">\n<client><environment name=\"T_BASE\" "
    "default=\"/t\"/></client>\n";

class CheckTool : public ::testing::Test {
 protected:
  // The findings in /tools/t.xml, as "error 3: what".
  std::vector<std::string> findings_in(const std::string& text) {
    report_ = check(text);
    std::vector<std::string> lines;
    for (const ToolFinding& finding : report_.findings) {
      lines.push_back((finding.severity == Severity::kError ? "error " : "warning ") +
                      std::to_string(finding.line) + ": " + finding.what);
    }
    return lines;
  }
  // Inside the tool of kHead, starting at line 3.
  std::vector<std::string> findings_of(const std::string& elements) {
    return findings_in(kHead + elements + "\n</tool>\n");
  }
  ToolReport check(const std::string& text) {
    EXPECT_TRUE(fs_.replace_atomically(options_.file, text));
    return check_tool(fs_, options_).value();
  }

  testing::MemoryFileSystem fs_ =
      testing::MemoryFileSystem({{"/t/lib/x.o", "no object"}, {"/t/include/x.h", ""}});
  CheckToolOptions options_{.file = "/tools/t.xml"};
  ToolReport report_;
};

TEST_F(CheckTool, IsSilentAboutAGoodFile) {
  EXPECT_THAT(
      findings_of("<!-- <?xml & is free here -->\n"
                  "<flags LDFLAGS=\"$T_BASE/lib/x.o -lm\"/><lib name=\"a\"/>\n"
                  "<root/><info url=\"http://x\"/><ifrelease name=\"X\"><flags A=\"$NOT_HERE\"/>\n"
                  "<else/><flags B=\"1\"/></ifrelease>"),
      IsEmpty());
}

// As 'tfaot compile --tool-name my.tool' writes it.
TEST_F(CheckTool, KnowsTheVariableOfEveryName) {
  options_.file = "/tools/my.tool+2.xml";
  EXPECT_THAT(findings_in("<tool name=\"my.tool+2\" version=\"1\"><client>"
                          "<environment name=\"MY_TOOL_2_BASE\" default=\"/t\"/></client></tool>"),
              IsEmpty());
}

TEST_F(CheckTool, FindsWhatTheParserRefuses) {
  EXPECT_THAT(findings_in("<?xml version=\"1.0\"?>\n<tool name=\"t\" version=\"1\"/>"),
              ElementsAre("error 1: <?xml ...> does not belong in a scram file"));
  EXPECT_THAT(findings_in("<tool name=\"t\" version=\"1\">\n"),
              ElementsAre(HasSubstr("not valid XML")));
  EXPECT_THAT(findings_of("<flags A=\"a & b\"/>"),
              ElementsAre("error 3: a '&' that does not start an entity"));
  EXPECT_THAT(findings_of("\n<lib name=\"a\" name=\"b\"/>"),
              ElementsAre("error 4: <lib> has the attribute 'name' twice"));
}

TEST_F(CheckTool, TakesAllThatXmlAllows) {
  EXPECT_THAT(findings_of("<?xml-stylesheet x?><!-- - -->\n<![CDATA[ & < -- ]]>\n"
                          "<flags A=\"&quot;&amp;&apos;&lt;&gt;&#65;&#x41;\n\"/>\n"
                          "<flags comment=\"&amp;\" A='\"' />"),
              IsEmpty());
  EXPECT_THAT(findings_in("\xEF\xBB\xBF" + kHead + "\xC3\xA4</tool>"), IsEmpty());
}

TEST_F(CheckTool, RefusesWhatPythonsParserRefuses) {
  EXPECT_THAT(findings_of("<!--\n a -- b -->"), ElementsAre("error 4: '--' inside of a comment"));
  EXPECT_THAT(findings_of("<!-- a --->"), ElementsAre("error 3: '--' inside of a comment"));
  EXPECT_THAT(findings_of("<flags A=\"\xFF\"/>"),
              ElementsAre("error 3: the byte 0xff is not text"));
  EXPECT_THAT(findings_of("<flags A=\"\x01\"/>"),
              ElementsAre("error 3: the byte 0x01 is not text"));
  EXPECT_THAT(findings_of("\xED\xA0\x80"), ElementsAre("error 3: the byte 0xed is not text"));
  EXPECT_THAT(findings_of("<flags A=\"&nbsp;\"/>"),
              ElementsAre("error 3: a '&' that does not start an entity"));
  EXPECT_THAT(findings_of("<flags A=\"&#0;&#x110000;\"/>"),
              ElementsAre("error 3: a '&' that does not start an entity"));
  EXPECT_THAT(findings_of("<flags A=\"<b\"/>"), ElementsAre("error 3: a '<' in a value"));
  EXPECT_THAT(findings_of("]]>"), ElementsAre("error 3: ']]>' outside of a <![CDATA["));
  EXPECT_THAT(findings_of("<x:flags A=\"b\"/>"),
              ElementsAre("error 3: 'x:flags' has a prefix that nothing declares"));
  EXPECT_THAT(findings_of("<flags A=\"b\"B=\"c\"/>"),
              ElementsAre("error 3: no space before the attribute 'B'"));
  EXPECT_THAT(findings_in("<?XML?>" + kHead + "</tool>"),
              ElementsAre("error 1: <?xml ...> does not belong in a scram file"));
}

TEST_F(CheckTool, HasALimitForElementsAndAttributes) {
  std::string many = "<tool name=\"t\" version=\"1\">\n";
  for (int i = 0; i < 5000; ++i) many += "<lib name=\"a\"/>\n";
  EXPECT_THAT(findings_in(many + "</tool>"), ElementsAre("error 5001: more than 5000 elements"));
  std::string wide = "<tool name=\"t\" version=\"1\">\n<lib name=\"a\"";
  for (int i = 0; i < 100; ++i) wide += " a" + std::to_string(i) + "=\"1\"";
  EXPECT_THAT(findings_in(wide + "/></tool>"), ElementsAre("error 2: more than 100 attributes"));
}

TEST_F(CheckTool, HasALimitForNestedElements) {
  const auto nested = [](int depth) {
    std::string text = "<tool name=\"t\" version=\"1\">\n";
    for (int i = 0; i < depth; ++i) text += "<client>";
    for (int i = 0; i < depth; ++i) text += "</client>";
    return text + "</tool>";
  };
  EXPECT_THAT(findings_in(nested(499)), IsEmpty());
  for (const int depth : {500, 17'000, 100'000}) {
    EXPECT_THAT(findings_in(nested(depth)),
                ElementsAre("error 2: elements nested more than 500 deep"));
  }
}

TEST_F(CheckTool, ReadsConditionsAsScramDoes) {
  EXPECT_THAT(findings_of("<architecture name=\"*_amd64\">\n<flags A=\"b\"/></architecture>"),
              ElementsAre("error 3: '*_amd64' is not a regular expression"));
  EXPECT_THAT(
      findings_of("<architecture name=\"!*\">\n<flags A=\"b\"/><elif match=\"(\"/></architecture>"),
      ElementsAre("error 3: '*' is not a regular expression",
                  "error 4: '(' is not a regular expression"));
  EXPECT_THAT(findings_of("<architecture value=\"*\"><lib name=\"a\"/></architecture>\n"
                          "<architecture name=\"*\"/><architecture/>"),
              IsEmpty());
  EXPECT_THAT(
      findings_of("<architecture name=\"a\">\n<else><flags A=\"b\"/></else></architecture>"),
      ElementsAre("error 4: <else> with contents"));
  EXPECT_THAT(findings_of("<architecture name=\"a\"><info><else/></info></architecture>"),
              ElementsAre("error 3: <else/> outside a condition"));
  EXPECT_THAT(findings_of("<ifversion name=\"1\"><lib name=\"a\"/></ifversion>"),
              ElementsAre("error 3: <ifversion> is not in scram's list of tags"));
  EXPECT_THAT(findings_of("<ifcxx11_abi name=\"1\"><lib name=\"a\"/></ifcxx11_abi>"),
              ElementsAre("error 3: <ifcxx11_abi> has no attribute 'name'"));
}

TEST_F(CheckTool, FindsToolsThatBreakOthers) {
  EXPECT_THAT(findings_of("<use name=\"T\"/>"), ElementsAre("error 3: a tool that uses itself"));
  EXPECT_THAT(findings_in("<tool name=\"Self\" version=\"1\"/>"),
              ElementsAre("error 1: a tool cannot be called 'self'"));
}

TEST_F(CheckTool, FindsWhatStopsScram) {
  EXPECT_THAT(findings_in("<tool name=\"t\"/>"), ElementsAre("error 1: <tool> without 'version'"));
  EXPECT_THAT(findings_of("<flags/>"), ElementsAre("error 3: <flags> without an attribute"));
  EXPECT_THAT(findings_of("<lib/>"), ElementsAre("error 3: <lib> without 'name'"));
  EXPECT_THAT(findings_of("<runtime name=\"A\"/>"),
              ElementsAre("error 3: <runtime> without 'value'"));
  EXPECT_THAT(findings_of("<else/>"), ElementsAre("error 3: <else/> outside a condition"));
  EXPECT_THAT(findings_of("<ifrelease/><ifrelease>text</ifrelease>"), IsEmpty());
  EXPECT_THAT(findings_of("<ifrelease><lib name=\"a\"/></ifrelease>"),
              ElementsAre("error 3: <ifrelease> without 'name'"));
  EXPECT_THAT(findings_of("<flags comment=\"b\"/>"),
              ElementsAre("error 3: <flags> without an attribute"));
  EXPECT_THAT(findings_of("<environment name=\"A\" default=\"\"/>"),
              ElementsAre("error 3: the variable A has no value"));
  EXPECT_THAT(findings_of("<environment name=\"A\" default=\"$B\"/>\n"
                          "<environment name=\"B\" default=\"${A}/b\"/>"),
              ElementsAre("error 3: a variable that refers to itself",
                          "error 4: a variable that refers to itself"));
  EXPECT_THAT(findings_of("<environment name=\"a\" default=\"b\"/>"),
              ElementsAre("error 3: the variable 'a' has lower-case letters"));
  EXPECT_THAT(findings_of("<environment name=\"PATH\" default=\"b\"/>"),
              ElementsAre("error 3: PATH in <environment>"));
  EXPECT_THAT(findings_of("<environment name=\"FLAGS\" default=\"b\"/>"),
              ElementsAre("error 3: a variable cannot be called FLAGS"));
}

TEST_F(CheckTool, FindsWhatScramDrops) {
  EXPECT_THAT(findings_of("<flags CXXFLAGS=\"-a\" LDFLAGS=\"-b\"/>"),
              ElementsAre("error 3: <flags> with a second attribute, 'LDFLAGS'"));
  EXPECT_THAT(
      findings_of("<flags LDFLAGS=\"$NOWHERE/x.o\"/>"),
      ElementsAre("error 3: $NOWHERE is defined neither in the file nor in the environment"));
  EXPECT_THAT(findings_of("<library name=\"a\"/>\n<flag LDFLAGS=\"a\"/>"),
              ElementsAre("error 3: <library> is unknown in a tool file",
                          "error 4: <flag> is unknown in a tool file"));
  EXPECT_EQ(report_.findings[1].advice, "did you mean <flags>?");
  EXPECT_THAT(findings_in("<tool name=\"t\" version=\"1\" revision=\"2\" type=\"x\"/>"),
              ElementsAre("warning 1: not every scram knows 'revision' in <tool>",
                          "error 1: no such type of tool: 'X'"));
}

// A model of many objects, and a name that is made from a value.
TEST_F(CheckTool, TakesManyVariables) {
  std::string many;
  for (int i = 0; i < 300; ++i) many += " $T_BASE/lib/x.o";
  EXPECT_THAT(findings_of("<flags LDFLAGS=\"" + many + "\"/>"), IsEmpty());
  EXPECT_THAT(findings_of("<client><environment name=\"A\" default=\"BASE\"/></client>\n"
                          "<flags LDFLAGS=\"${T_$A}/lib/x.o\"/>"),
              IsEmpty());
}

TEST_F(CheckTool, TakesVariablesFromTheEnvironment) {
  options_.environment = {{"AREA", "/t"}, {"SPACED", "/a b"}};
  EXPECT_THAT(findings_of("<flags LDFLAGS=\"${AREA}/lib/x.o\"/>"), IsEmpty());
  EXPECT_THAT(findings_of("<flags LDFLAGS=\"$SPACED/lib/x.o\"/>"),
              ElementsAre("error 3: the value of $SPACED contains a space"));
}

TEST_F(CheckTool, LooksForPaths) {
  EXPECT_THAT(findings_of("<flags LDFLAGS=\"$T_BASE/lib/y.o\"/>"),
              ElementsAre("warning 3: no such file: /t/lib/y.o"));
  EXPECT_THAT(findings_of("<environment name=\"LIBDIR\" default=\"$T_BASE/lib\"/>\n"
                          "<environment name=\"INCLUDE\" default=\"$T_BASE/inc\"/>"),
              ElementsAre("warning 4: INCLUDE is missing: /t/inc"));
  ASSERT_TRUE(fs_.create_directories("/with blank"));
  const auto include = [this](const std::string& value) {
    return findings_of("<client>\n<environment name=\"INCLUDE\" default=\"" + value +
                       "\"/></client>");
  };
  EXPECT_THAT(include("/with blank"), ElementsAre("error 4: a space in INCLUDE: /with blank"));
  EXPECT_THAT(include("/t/include /t/lib"), IsEmpty());
  EXPECT_THAT(
      findings_of("<runtime name=\"A\" value=\"$T_BASE/lib\" type=\"path\"/>\n"
                  "<runtime name=\"A\" value=\"$T_BASE/no\" type=\"path\"/>\n"
                  "<runtime name=\"A\" value=\"$T_BASE/no\" type=\"path\" handler=\"warn\"/>\n"
                  "<runtime name=\"PATH\" value=\"$T_BASE/no\"/>\n"
                  "<runtime name=\"A\" value=\"$T_BASE/no\"/>"),
      ElementsAre("error 4: no such path: /t/no", "warning 5: no such path: /t/no",
                  "error 6: no such path: /t/no"));
}

TEST_F(CheckTool, KnowsTheOrderOfTheLinkLine) {
  EXPECT_THAT(findings_of("<flags LDFLAGS=\"-a.a\"/>\n<flags LDFLAGS=\"$T_BASE/lib/x.o\"/>"),
              ElementsAre("error 4: an object after the library -a.a"));
}

TEST_F(CheckTool, ComparesNames) {
  EXPECT_THAT(findings_in("<tool name=\"Other\" version=\"1\"/>"),
              ElementsAre("warning 1: the tool's name 'Other' has capitals",
                          "warning 1: the file is not called other.xml"));
  EXPECT_THAT(findings_in("<tool name=\"a b\" version=\"1\"/>").back(),
              "error 1: 'a b' cannot be a tool's name");
  EXPECT_THAT(findings_in("<lib name=\"a\"/>"),
              ElementsAre("error 0: no <tool name=... version=...>"));
  EXPECT_THAT(findings_in(kHead + "</tool>\n<tool name=\"t\" version=\"2\"/>"),
              ElementsAre("error 4: a second <tool>"));
}

// Most tools of cmsdist name flags, libraries or other tools alone.
TEST_F(CheckTool, WantsTheFolderOfToolsThatHaveOne) {
  const auto tool = [](const std::string& type, const std::string& contents) {
    return "<tool name=\"t\" version=\"1\"" + type + ">" + contents + "</tool>";
  };
  EXPECT_THAT(findings_in(tool("", "<flags CXXFLAGS=\"-O3\"/><lib name=\"a\"/>")), IsEmpty());
  EXPECT_THAT(findings_in(tool("", "<client><environment name=\"F77\" default=\"f77\"/></client>")),
              IsEmpty());
  const std::string missing = "warning 0: the tool's folder is in no variable T_BASE";
  EXPECT_THAT(findings_in(tool(" type=\"scram\"", "")), ElementsAre(missing));
  for (const std::string name : {"LIBDIR", "INCLUDE"}) {
    const std::string environment = "<environment name=\"" + name + "\" default=\"/no\"/>";
    EXPECT_EQ(findings_in(tool("", "<client>" + environment + "</client>")).front(), missing);
  }
}

TEST_F(CheckTool, KnowsTheToolsOfTheArea) {
  EXPECT_THAT(findings_of("<use name=\"tensorflow\"/>"), IsEmpty());  // who knows
  EXPECT_THAT(findings_of("<use name=\"tfaot-runtime\"/>"),
              ElementsAre("warning 3: the tool 'tfaot-runtime' is not set up"));
  options_.all_tools_known = true;
  options_.tool_folders = {"/area/selected"};
  EXPECT_THAT(findings_of("<use name=\"tensorflow\"/>"),
              ElementsAre("warning 3: the tool 'tensorflow' is not set up"));
  ASSERT_TRUE(fs_.replace_atomically("/area/selected/tensorflow.xml", "<tool/>"));
  EXPECT_THAT(findings_of("<use name=\"TensorFlow\"/>"), IsEmpty());
}

TEST_F(CheckTool, TakesAPlaceholderForTheFolder) {
  EXPECT_THAT(findings_in("<tool name=\"t\" version=\"1\">\n<client>\n"
                          "<environment name=\"T_BASE\" default=\"@TOOL_BASE@\"/>\n"
                          "<environment name=\"LIBDIR\" default=\"$T_BASE/lib\"/></client>\n"
                          "<flags LDFLAGS=\"$T_BASE/lib/x.o\"/></tool>"),
              ElementsAre("warning 3: the tool's folder is still @TOOL_BASE@"));
}

TEST_F(CheckTool, FindsObjectsThatNeedAFixedPlace) {
  ASSERT_TRUE(fs_.replace_atomically("/t/lib/x.o", testing::object_with(R_X86_64_PC32)));
  EXPECT_THAT(findings_of("<flags LDFLAGS=\"$T_BASE/lib/x.o\"/>"), IsEmpty());
  for (const std::uint32_t absolute : {R_X86_64_32, R_X86_64_32S}) {
    ASSERT_TRUE(fs_.replace_atomically("/t/lib/x.o", testing::object_with(absolute)));
    EXPECT_THAT(findings_of("<flags LDFLAGS=\"$T_BASE/lib/x.o\"/>"),
                ElementsAre("error 3: not position independent: /t/lib/x.o"));
  }
}

// The form that cms_tfaot_compile writes, with the text of every finding in it.
TEST_F(CheckTool, ExplainsUpstreamsShape) {
  const std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<tool name=\"tfaot-model-test\" version=\"1.0.0\" revision=\"1\">\n"
      "  <client>\n"
      "    <environment name=\"TFAOT_MODEL_TEST_BASE\" default=\"/t\"/>\n"
      "    <environment name=\"LIBDIR\" default=\"$TFAOT_MODEL_TEST_BASE/lib\"/>\n"
      "    <environment name=\"INCLUDE\" default=\"$TFAOT_MODEL_TEST_BASE/include\"/>\n"
      "    <flags LDFLAGS=\"$LIBDIR/test_bs1.o\"/>\n"
      "    <flags LDFLAGS=\"$LIBDIR/test_bs2.o\"/>\n"
      "  </client>\n"
      "  <use name=\"tensorflow-xla-runtime\"/>\n"
      "</tool>\n";
  options_ = {.file = "/tools/tfaot-model-test.xml", .all_tools_known = true};
  std::string words;
  for (const std::string& part : {text, text.substr(text.find('\n') + 1)}) {
    for (const ToolFinding& finding : check(part).findings) {
      words += finding_text(finding, "tfaot-model-test.xml");
    }
    words += "\n";
  }
  EXPECT_TRUE(testing::matches_golden(words, "scram/upstream.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit
