// SPDX-License-Identifier: Apache-2.0
#include "cli_test.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

class ScramTest : public CliTest {
 protected:
  // With the outcome appended.
  Outcome note(const std::vector<std::string>& arguments, const Variables& environment = {}) {
    Outcome outcome = run(arguments, environment);
    transcript_ += outcome.text() + "\n";
    return outcome;
  }
  void write_area() {
    write("area/config/scram_version", "V3_00_78\n");
    write("area/config/SCRAM/Plugins/BuildRules.py",
          "class BuildRules(object):\n    def dnn_template(self): pass\n"
          "    def dnn_template(self):\n        pass\n    def dump(self): self.dnn_template()\n"
          "    def isPublictype(self): return True\n");
    write("area/config/SCRAM/GMake/Makefile.rules",
          "define CommonBinaryTail\n$(eval "
          "$($(1)_PRE_INIT_FUNC))\n$($(1)_precompile)\nendef\n$($(1)_LOC_USE_ALL)\ndefine "
          "AutoCleanFile\nendef\n");
  }

  std::string transcript_;
};

TEST_F(ScramTest, ChecksToolFiles) {
  write("good.xml",
        "<tool name=\"good\" version=\"1\"><client><environment name=\"GOOD_BASE\" "
        "default=\"$PLACE\"/></client></tool>\n");
  write("bad.xml",
        "<tool name=\"bad\" version=\"1\" revision=\"2\">\n"
        "  <client><environment name=\"BAD_BASE\" default=\"/bad\"/></client>\n"
        "  <flags LDFLAGS=\"$BAD_BASE/bad.o\" CXXFLAGS=\"-g\"/>\n"
        "  <use name=\"good\"/><use name=\"worse\"/>\n</tool>\n");
  EXPECT_EQ(note({"check-tool", "good.xml", "--env", "PLACE=/good"}).exit_code, 0);
  EXPECT_EQ(note({"check-tool", "good.xml"}, {{"PLACE", "/good"}}).exit_code, 0);
  EXPECT_EQ(note({"check-tool", "good.xml"}).exit_code, 1);
  write_area();
  EXPECT_EQ(note({"check-tool", "bad.xml", "good.xml", "--env", "PLACE=/good", "--area", "area"})
                .exit_code,
            1);
  write("odd.xml",
        "<tool name=\"odd\" version=\"1\"><client><environment name=\"INCLUDE\" "
        "default=\"/tmp\"/></client></tool>\n");
  EXPECT_EQ(note({"check-tool", "odd.xml"}).exit_code, 0);
  EXPECT_EQ(note({"check-tool", "odd.xml", "--strict"}).exit_code, 1);
  EXPECT_EQ(note({"check-tool", "none.xml"}).exit_code, 1);
  EXPECT_EQ(note({"check-tool", "odd.xml", "--env", "PLACE"}).exit_code, 2);
  EXPECT_EQ(note({"check-tool", "odd.xml", "--area", "none"}).exit_code, 1);
  EXPECT_TRUE(matches_golden(transcript_, "cli/check_tool.txt"));
}

TEST_F(ScramTest, IsContentWithItsOwnToolFiles) {
  write_model();
  ASSERT_EQ(
      run({"compile", "-c", "model/aot_config.yaml", "-o", "out", "-j", "1", "--dev"}).exit_code,
      0);
  const Outcome outcome =
      run({"check-tool", "out/tfaot-model-test-net.xml", "out/tfaot-runtime.xml", "--strict"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

TEST_F(ScramTest, HooksAnArea) {
  write_area();
  const std::string rules = read("area/config/SCRAM/Plugins/BuildRules.py");
  const auto hook = [&](const std::string& action) {
    return note({"scram-hook", action, "area", "--program", "/opt/tfaot"}).exit_code;
  };
  EXPECT_EQ(hook("status"), 0);
  EXPECT_EQ(hook("install"), 0);
  EXPECT_EQ(hook("install"), 0);
  EXPECT_EQ(hook("status"), 0);
  EXPECT_EQ(note({"scram-hook", "status", "area"}).exit_code, 0);  // of another program
  ASSERT_TRUE(files_.remove_all(at("area/config/SCRAM/Plugins/tfaot_hook.py")));
  EXPECT_EQ(hook("status"), 1);
  EXPECT_EQ(hook("install"), 0);
  EXPECT_EQ(hook("remove"), 0);
  EXPECT_EQ(hook("remove"), 0);
  EXPECT_EQ(read("area/config/SCRAM/Plugins/BuildRules.py"), rules);
  EXPECT_EQ(note({"scram-hook", "install", "model"}).exit_code, 1);
  EXPECT_EQ(note({"scram-hook", "frob", "area"}).exit_code, 2);
  transcript_ = replace_all(transcript_, TFAOT_VERSION, "VERSION");
  EXPECT_TRUE(matches_golden(transcript_, "cli/scram_hook.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
