// SPDX-License-Identifier: Apache-2.0
// `tfaot convert-area` on an area in upstream's form. Tests on code from the real tfcompile:
// tests/e2e.
#include <gmock/gmock.h>

#include <regex>

#include "cli_test.h"
#include "tests/unit/convert/upstream_samples.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ConvertAreaTest : public CliTest {
 protected:
  // As cms_tfaot_compile --dev writes it.
  ConvertAreaTest() {
    write_program("area", "net");
    write("area/tfaot-model-net.xml",
          "<tool name=\"tfaot-model-net\" version=\"2.1\">\n"
          "  <flags LDFLAGS=\"$TFAOT_MODEL_NET_BASE/lib/net_bs4.o\"/>\n</tool>\n");
  }

  void write_program(const std::string& folder, const std::string& name) {
    const std::string header = replace_all(header_text(4), "entry_bs4", "tfaot_entry");
    write(folder + "/include/" + name + "_bs4.h", replace_all(header, "net_bs4", name + "_bs4"));
    write(folder + "/lib/" + name + "_bs4.o", files_.read(TFAOT_FAKE_OBJECT).value());
  }

  Outcome convert(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "convert-area");
    Outcome outcome = run(arguments);
    outcome.out = std::regex_replace(outcome.out, std::regex("[0-9]+ bytes"), "N bytes");
    return outcome;
  }
};

TEST_F(ConvertAreaTest, MakesATreeThatIsAPackage) {
  EXPECT_TRUE(matches_golden(convert({"area", "-o", "out"}).text(), "cli/convert_area.txt"));
  EXPECT_EQ(run({"package", "out", "-o", "dist"}).exit_code, 0);
  EXPECT_EQ(files_in("dist"),
            (std::vector<std::string>{"SHA256SUMS", "tfaot-model-net-2.1-x86_64-linux.tar.zst"}));
  const std::string info = run({"info", "out"}).out;
  EXPECT_THAT(info, HasSubstr("some::models::net"));
  EXPECT_THAT(info, HasSubstr("tfcompile"));
  EXPECT_EQ(read("out/lib/net_bs4.o"), read("area/lib/net_bs4.o"));
  EXPECT_EQ(files_.kind(at("out/.tfaot-work")), FileKind::kMissing);
  const std::string xml = read("out/tfaot-model-net.xml");
  EXPECT_THAT(xml, HasSubstr("lib/net_bs4.o"));
  EXPECT_THAT(xml, HasSubstr("@TOOL_BASE@"));
}

TEST_F(ConvertAreaTest, OptionsGoBeforeTheToolFile) {
  ASSERT_EQ(convert({"area", "-o", "out", "--version", "3", "--tool-name", "nets", "--tool-base",
                     "$CMSSW_BASE/nets", "--cpu-level", "x86-64-v3", "-q"})
                .text(),
            "$ tfaot convert-area area -o out --version 3 --tool-name nets --tool-base "
            "$CMSSW_BASE/nets --cpu-level x86-64-v3 -q\n[exit code 0]\n");
  const std::string manifest = read("out/manifest.json");
  EXPECT_THAT(manifest, HasSubstr("\"version\": \"3\""));
  EXPECT_THAT(manifest, HasSubstr("\"x86-64-v3\""));
  EXPECT_THAT(read("out/nets.xml"), HasSubstr("$CMSSW_BASE/nets"));
}

TEST_F(ConvertAreaTest, ErrorsSayWhatToDo) {
  std::string transcript;
  const auto refuse = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = convert(arguments);
    EXPECT_NE(outcome.exit_code, 0);
    transcript += outcome.text() + "\n";
  };
  refuse({"nowhere", "-o", "out"});
  refuse({"area/lib/net_bs4.o", "-o", "out"});
  write("empty/file", "");
  refuse({"empty", "-o", "out"});
  write_program("raw", "net");
  refuse({"raw", "-o", "out"});
  write_program("area", "other");
  refuse({"area", "-o", "out"});
  refuse({"area", "-o", "out", "--model", "third"});
  refuse({"area", "-o", "out", "--model", "other"});
  write_program("raw", "class");
  refuse({"raw", "-o", "out", "--model", "class", "--version", "1"});
  write("area/tfaot-model-net.xml",
        "<tool name=\"n\" version=\"../1\"><flags LDFLAGS=\"net_bs4.o\"/></tool>");
  refuse({"area", "-o", "out", "--model", "net"});
  EXPECT_TRUE(matches_golden(transcript, "cli/convert_area_errors.txt"));
  EXPECT_EQ(files_.kind(at("out")), FileKind::kMissing);
}

TEST_F(ConvertAreaTest, OffersLevelsForAnUnknownOne) {
  const Outcome level = convert({"area", "-o", "out", "--cpu-level", "avx2"});
  EXPECT_EQ(level.exit_code, 2);
  EXPECT_THAT(level.err, StartsWith("tfaot: error: 'avx2' is not a CPU level of objects for x86_64"
                                    "\n  allowed: x86-64, x86-64-v2, "));
  EXPECT_THAT(level.err, Not(HasSubstr("native")));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
