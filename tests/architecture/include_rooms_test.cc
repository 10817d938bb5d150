// SPDX-License-Identifier: Apache-2.0
// The tree follows the table of rooms, and a wrong include anywhere is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/architecture/include_rules.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The findings if the real tree gets one more file.
Violations with(const std::string& path, const std::string& text) {
  SourceTree tree = project();
  tree.push_back({path, text});
  return check_includes(tree);
}

TEST(IncludeRooms, TheProjectKeepsTheTable) { EXPECT_THAT(check_includes(project()), IsEmpty()); }

TEST(IncludeRooms, AWrongIncludeOnDiskIsFound) {
  const testing::TemporaryFolder folder;
  RealFileSystem fs;
  const Path source = TFAOT_SOURCE_DIR;
  std::filesystem::copy(source / "modules", folder.path() / "modules",
                        std::filesystem::copy_options::recursive);
  std::filesystem::copy(source / "CMakeLists.txt", folder.path());
  const auto check = [&] { return check_includes(read_sources(fs, folder.path()).value()); };
  ASSERT_THAT(check(), IsEmpty());
  ASSERT_TRUE(fs.replace_atomically(folder.path() / "modules/base/src/wrong.cc",
                                    "// x\n#include \"tfaot/config/config.h\"\n"));
  EXPECT_THAT(check(), ElementsAre("modules/base/src/wrong.cc:2: 'base' may not include "
                                   "tfaot/config/config.h"));
}

TEST(IncludeRooms, CallsNeverGoUpstreamNorAside) {
  EXPECT_THAT(with("modules/config/src/x.cc", "#include <tfaot/compile/compile.h>"),
              ElementsAre("modules/config/src/x.cc:1: 'config' may not include "
                          "tfaot/compile/compile.h"));
  EXPECT_THAT(with("modules/package/include/tfaot/package/x.h",
                   "  #  include \"tfaot/install/install.h\"  // c"),
              ElementsAre("modules/package/include/tfaot/package/x.h:1: 'package' may not include "
                          "tfaot/install/install.h"));
}

TEST(IncludeRooms, OnlyRecordsGoDownstream) {
  for (const std::string room : {"compile", "generate", "engine"}) {
    EXPECT_THAT(with("modules/" + room + "/x.cc", "#include \"tfaot/records/compiled_model.h\""),
                IsEmpty());
  }
  EXPECT_THAT(with("modules/generate/src/x.cc", "#include \"tfaot/compile/compile.h\""),
              ElementsAre("modules/generate/src/x.cc:1: 'generate' may not include "
                          "tfaot/compile/compile.h"));
  EXPECT_THAT(with("modules/engine/graph/x.cc", "#include \"tfaot/compile/compile.h\""),
              ElementsAre("modules/engine/graph/x.cc:1: 'engine' may not include "
                          "tfaot/compile/compile.h"));
}

TEST(IncludeRooms, RuntimeKnowsNobodyAndFewKnowIt) {
  for (const char* const room : {"tune", "load"}) {
    EXPECT_THAT(with(std::string("modules/") + room + "/src/x.cc",
                     "#include \"tfaot/runtime/batch_plan.h\""),
                IsEmpty());
  }
  EXPECT_THAT(
      with("modules/runtime/src/x.cc", "#include \"tfaot/base/result.h\""),
      ElementsAre("modules/runtime/src/x.cc:1: 'runtime' may not include tfaot/base/result.h"));
  EXPECT_THAT(
      with("modules/cli/src/x.cc", "#include \"tfaot/runtime/detail/description.h\""),
      ElementsAre(
          "modules/cli/src/x.cc:1: 'cli' may not include tfaot/runtime/detail/description.h"));
  EXPECT_THAT(
      with("modules/runtime/include/tfaot/runtime/x.h",
           "#include <vector>\n#include <unistd.h>\n#include <fmt/format.h>"),
      ElementsAre("modules/runtime/include/tfaot/runtime/x.h:2: 'runtime' may include "
                  "standard headers only, not <unistd.h>",
                  "modules/runtime/include/tfaot/runtime/x.h:3: 'runtime' may not include "
                  "<fmt/format.h>; only arrays, base, cli, compile, config, convert, elf, engine, "
                  "generate, inspect, install, load, package, profile, python, records, release, "
                  "remote, report, runner, scram, sign, tfcompile, tune, workflow may"));
}

TEST(IncludeRooms, ALibraryHasItsRoom) {
  const std::vector<std::pair<std::string, std::string>> libraries = {
      {"yaml-cpp/yaml.h", "config"},
      {"pugixml.hpp", "scram"},
      {"kainjow/mustache.hpp", "base"},
      {"archive.h", "package"},
      {"archive_entry.h", "package"},
      {"CLI/CLI.hpp", "cli"},
      {"elf.h", "elf"},
      {"libelf.h", "elf"},
      {"gelf.h", "elf"},
      {"uv.h", "base"},
      {"regex", "base"},
      {"nlohmann/json.hpp", "cli, python, records"},
      {"openssl/evp.h", "base"},
      {"tensorflow/core/public/session.h", "cmssw, engine, runner"},
      {"xla/literal.h", "engine"},
      {"tsl/platform/env.h", "engine"},
      {"absl/status/status.h", "engine"}};
  for (const auto& [header, room] : libraries) {
    EXPECT_THAT(with("modules/install/src/x.cc", "#include \"" + header + "\""),
                ElementsAre("modules/install/src/x.cc:1: 'install' may not include <" + header +
                            ">; only " + room + " may"));
  }
}

TEST(IncludeRooms, UnknownLibrariesAndHeadersAreFound) {
  EXPECT_THAT(with("modules/base/src/x.cc",
                   "#include <curl/curl.h>\n#include MACRO\n#include \"tfaot/nowhere/x.h\"\n"
                   "#include \"tfaot/base/no.h\"\n"),
              ElementsAre("modules/base/src/x.cc:1: <curl/curl.h> is of no known library: give it "
                          "a room in include_rules.cc",
                          "modules/base/src/x.cc:2: an #include that names no file cannot be "
                          "checked",
                          "modules/base/src/x.cc:3: 'nowhere' is not a room",
                          "modules/base/src/x.cc:4: room 'base' has no public header base/no.h"));
}

TEST(IncludeRooms, PrivateHeadersStayPrivate) {
  EXPECT_THAT(with("modules/base/src/x.cc", "#include \"descriptor.h\""), IsEmpty());
  EXPECT_THAT(with("modules/config/src/x.cc",
                   "#include \"descriptor.h\"\n#include \"../../base/src/descriptor.h\""),
              ElementsAre("modules/config/src/x.cc:1: \"descriptor.h\" is not a header of room "
                          "'config'",
                          "modules/config/src/x.cc:2: \"../../base/src/descriptor.h\" is not a "
                          "header of room 'config'"));
}

TEST(IncludeRooms, FoldersOfARoomIncludeThoseBeforeThem) {
  EXPECT_THAT(with("modules/engine/front/onnx/x.cc", "#include \"front/lowering/signature.h\""),
              IsEmpty());
  EXPECT_THAT(with("modules/engine/x.cc", "#include \"compiler/code/optimize.h\""), IsEmpty());
  EXPECT_THAT(with("modules/engine/compiler/rows/x.cc", "#include \"front/lowering/signature.h\""),
              ElementsAre("modules/engine/compiler/rows/x.cc:1: folder 'compiler/rows' of 'engine' "
                          "may not include \"front/lowering/signature.h\""));
}

TEST(IncludeRooms, TextsAndCommentsAreNoIncludes) {
  EXPECT_THAT(with("modules/base/src/x.cc",
                   "/*\n#include \"a.h\"\n*/\nauto a = R\"(\n#include \"b.h\")\";\n"),
              IsEmpty());
}

TEST(IncludeRooms, AWordForTheCompilerIsNoFile) {
  EXPECT_THAT(with("modules/base/src/x.cc", "#include \"a compiler in C++17 mode\""), IsEmpty());
}

TEST(IncludeRooms, TheTableAndTheTreeHaveTheSameRooms) {
  EXPECT_THAT(with("modules/extra/src/x.cc", ""),
              ElementsAre("modules/extra/src/x.cc: room 'extra' is not in the table"));
  EXPECT_THAT(with("modules/base/include/tfaot/config/x.h", ""),
              ElementsAre("modules/base/include/tfaot/config/x.h: public headers of 'base' belong "
                          "below include/tfaot/base"));
  SourceTree tree = project();
  std::erase_if(tree, [](const SourceFile& file) {
    // The engine includes the kernels' headers, and records their table of levels.
    return (file.path.starts_with("modules/kernels/") && !file.path.ends_with(".def")) ||
           file.path.starts_with("modules/engine/");
  });
  EXPECT_THAT(check_includes(tree),
              ElementsAre("modules: room 'engine' of the table has no sources"));
}

}  // namespace
}  // namespace tfaot::toolkit::architecture
