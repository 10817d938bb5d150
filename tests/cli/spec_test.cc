// SPDX-License-Identifier: Apache-2.0
// What `tfaot spec` writes and prints. tests/cmake/rpm and tests/cmake/release build RPMs from it.
#include <gmock/gmock.h>

#include "cli_test.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using SpecTest = CliTest;

constexpr const char* kConfig = "model/aot_config.yaml";

TEST_F(SpecTest, ForRpmbuild) {
  write_model();
  const std::vector<std::string> line = {"spec", "-c", kConfig, "-o", "rpm", "--flavour", "rpm"};
  std::string transcript = run(line).text() + "\n";
  EXPECT_THAT(files_in("rpm"),
              ElementsAre("SOURCES/tfaot-compile.file", "SOURCES/tfaot-model-test-net-1.0.0.tar",
                          "SPECS/tfaot-model-test-net.spec", "tfaot-models.file"));
  transcript += read("rpm/SPECS/tfaot-model-test-net.spec") + "\n";
  const std::string list = read("rpm/tfaot-models.file");
  transcript += list + "\n";
  EXPECT_EQ(run(line).exit_code, 0);
  EXPECT_EQ(read("rpm/tfaot-models.file"), list);
  const std::vector<std::string> remove = {"spec", "--remove", "tfaot-model-test-net", "-o", "rpm"};
  transcript += run(remove).text() + "\n";
  transcript += run(remove).text();
  EXPECT_THAT(files_in("rpm"),
              ElementsAre("SOURCES/tfaot-compile.file", "SOURCES/tfaot-model-test-net-1.0.0.tar",
                          "tfaot-models.file"));
  EXPECT_EQ(read("rpm/tfaot-models.file"),
            replace_all(list, "Requires: tfaot-model-test-net\n", ""));
  EXPECT_TRUE(matches_golden(transcript, "cli/spec_rpm.txt"));
}

// The archive that one flavour makes is the source of the other.
TEST_F(SpecTest, ForCmsdistFromAnArchive) {
  write_model();
  ASSERT_EQ(run({"spec", "-c", kConfig, "-o", "rpm", "--flavour", "rpm"}).exit_code, 0);
  write("cmsdist/tfaot-models.file", "# for tests\nRequires: tfaot-model-z\n");
  const std::string archive = "rpm/SOURCES/tfaot-model-test-net-1.0.0.tar";
  const std::string spec = "cmsdist/tfaot-model-test-net.spec";
  std::vector<std::string> line = {"spec", "--source", archive, "-c", "/aot_config.yaml",
                                   "-o",   "cmsdist"};
  std::string transcript;
  const auto add = [&] {
    transcript += run(line).text() + "\n";
    transcript += read(spec) + "\n";
  };
  add();
  EXPECT_EQ(read("cmsdist/tfaot-model-test-net-1.0.0.tar.file"), read(archive));
  ASSERT_TRUE(files_.remove_all(at("cmsdist/tfaot-model-test-net-1.0.0.tar.file")));
  line.insert(line.end(), {"--source-url", "git+https://host/r.git?obj=main/1&output=/r.tgz"});
  add();
  line.resize(line.size() - 2);
  line.insert(line.end(), {"--data-package", "data-Sub-Pkg"});
  add();
  transcript += read("cmsdist/tfaot-models.file");
  EXPECT_TRUE(matches_golden(transcript, "cli/spec_cmsdist.txt"));
  EXPECT_THAT(files_in("cmsdist"),
              ElementsAre("tfaot-compile.file", "tfaot-model-test-net.spec", "tfaot-models.file"));
}

TEST_F(SpecTest, SaysWhatIsWrong) {
  write_model();
  ASSERT_EQ(run({"spec", "-c", kConfig, "-o", "rpm", "--flavour", "rpm"}).exit_code, 0);
  const std::string archive = "rpm/SOURCES/tfaot-model-test-net-1.0.0.tar";
  write("model/absolute.yaml",
        "model: {name: net, version: 1.0.0, saved_model: " + at("model/saved_model") +
            "}\ncompilation: {batch_sizes: [1]}\n");
  std::string transcript;
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"spec", "-o", "new"},
           {"spec", "-c", "missing.yaml", "-o", "new"},
           {"spec", "-c", "model/absolute.yaml", "-o", "new"},
           {"spec", "-c", "a.yaml", "--source", archive, "-o", "new"},
           {"spec", "-c", "a.yaml", "--source", kConfig, "-o", "new"},
           {"spec", "-c", "a", "--source", archive, "--data-package", "Sub", "-o", "new"},
           {"spec", "-c", "a", "--source", archive, "--source-url", "u", "--flavour", "rpm", "-o",
            "new"},
           {"spec", "-c", "a", "--source-url", "u", "-o", "new"},
           {"spec", "-c", "a", "--remove", "b", "-o", "new"},
           {"spec", "-c", kConfig, "--tool-name", "a b", "-o", "new"},
           {"release", kConfig}}) {
    transcript += run(line).text() + "\n";
    EXPECT_EQ(files_.kind(at("new")), FileKind::kMissing) << ::testing::PrintToString(line);
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/spec_errors.txt"));
}

TEST_F(SpecTest, ReleaseSaysThatRpmbuildIsMissing) {
  write_model();
  const Outcome outcome = run({"release", kConfig, "-o", "out"}, {{"PATH", "/nowhere"}});
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/release_without_rpmbuild.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
