// SPDX-License-Identifier: Apache-2.0
#include "tfaot/generate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <set>

#include "tests/support/golden.h"
#include "tests/unit/records/sample_records.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using testing::Records;

std::vector<std::string> paths_of(const GeneratedFiles& generated) {
  std::vector<std::string> paths;
  for (const GeneratedFile& file : generated.files) paths.push_back(file.path);
  return paths;
}

const GeneratedFile& file_named(const GeneratedFiles& generated, const std::string& path) {
  for (const GeneratedFile& file : generated.files) {
    if (file.path == path) return file;
  }
  throw std::out_of_range(path);
}

// A release of the toolkit must not change the golden files.
std::string without_toolkit_version(const std::string& text) {
  return std::regex_replace(
      text,
      std::regex("(_tfaot_runtime_version \"|\"tfaot-runtime\" version=\"|made by tfaot )[0-9.]+"),
      "$010.0.0");
}

Result<GeneratedFiles> generate(const Records& records, const GenerateOptions& options = {}) {
  const Manifest manifest = make_manifest(records.spec, records.compiled, options.tool_name, {});
  return generate_files(records.spec, records.compiled, manifest, options.tool_base);
}

std::string error_of(const Records& records, const GenerateOptions& options = {}) {
  const auto generated = generate(records, options);
  return generated ? "no error" : generated.error().text();
}

struct GoldenCase {
  const char* folder;
  std::function<Records()> records;
};

// Otherwise the tests' names would contain addresses.
void PrintTo(const GoldenCase& golden_case, std::ostream* out) { *out << golden_case.folder; }

class Golden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, EveryFileMatches) {
  const Records records = GetParam().records();
  const auto generated = generate(records);
  ASSERT_TRUE(generated) << generated.error().text();
  for (const GeneratedFile& file : generated->files) {
    EXPECT_TRUE(
        testing::matches_golden(without_toolkit_version(file.text),
                                std::string("generate/") + GetParam().folder + "/" + file.path));
  }
}

INSTANTIATE_TEST_SUITE_P(Generate, Golden,
                         ::testing::Values(GoldenCase{"simple", testing::simple_records},
                                           GoldenCase{"mixed", testing::mixed_records},
                                           GoldenCase{"typed", testing::typed_records},
                                           GoldenCase{"embedded", testing::embedded_records},
                                           GoldenCase{"whole", testing::whole_records},
                                           GoldenCase{"sized", testing::sized_records},
                                           GoldenCase{"cmssw", testing::cmssw_records},
                                           GoldenCase{"hostile", testing::hostile_records}),
                         [](const auto& test) { return std::string(test.param.folder); });

TEST(Generate, MakesThePathsOfThePackage) {
  const Records records = testing::simple_records();
  EXPECT_THAT(
      paths_of(*generate(records)),
      ElementsAre("include/tfaot-model-test/model.h", "include/tfaot-model-test/test_bs1.h",
                  "include/tfaot-model-test/test_bs2.h", "include/tfaot-model-test/test_bs4.h",
                  "include/tfaot-model-test/test_costs.h",
                  "lib/cmake/tfaot-model-test/tfaot-model-test-config-version.cmake",
                  "lib/cmake/tfaot-model-test/tfaot-model-test-config.cmake",
                  "lib/pkgconfig/tfaot-model-test.pc", "tfaot-model-test.xml",
                  "tfaot-runtime.xml"));
}

TEST(Generate, HeadersForCmsswHaveTheirTablesApart) {
  const Records records = testing::cmssw_records();
  std::vector<std::string> headers;
  const std::string folder = "include/tfaot-model-TagNet/";
  for (const std::string& path : paths_of(*generate(records))) {
    if (path.starts_with(folder)) headers.push_back(path.substr(folder.size()));
  }
  EXPECT_THAT(headers,
              ElementsAre("TagNet_bs1.h", "TagNet_bs1_tables.h", "TagNet_bs8.h",
                          "TagNet_bs8_tables.h", "TagNet_costs.h", "TagNet_tables.h", "model.h"));
}

TEST(Generate, TheHeaderSaysThatThereAreNoInputs) {
  Records records = testing::whole_records();
  records.compiled.signature.inputs.clear();
  for (CompiledCode& code : records.compiled.codes) {
    for (BufferSlot& slot : code.buffers) {
      if (slot.kind == BufferKind::kInput) slot = {};
    }
  }
  const auto generated = generate(records);
  ASSERT_TRUE(generated) << generated.error().text();
  EXPECT_THAT(file_named(*generated, "include/tfaot-model-whole/model.h").text,
              ::testing::HasSubstr(
                  "\n//\n// Inputs: none. There is no batch: one run computes whole tensors.\n"
                  "// Outputs:\n"));
}

TEST(Generate, MeasuresByWhatThePackageHolds) {
  Manifest manifest;
  manifest.name = "net";
  manifest.cpp_class = "a::net";
  manifest.tool_name = "tool";
  const auto includes = [&](const char* header, const char* description) {
    const std::string program = measuring_program(manifest);
    return program.find(std::string("#include \"tool/") + header + "\"") != std::string::npos &&
           program.find(std::string("= a::") + description + "::description()") !=
               std::string::npos;
  };
  EXPECT_TRUE(includes("model.h", "net"));
  manifest.headers = HeadersMode::kCmssw;
  EXPECT_TRUE(includes("net_tables.h", "net_tables"));
}

TEST(Generate, WritesMeasuredCosts) {
  Manifest manifest;
  manifest.name = "net";
  manifest.version = "2";
  manifest.cpp_class = "a::b::net";
  manifest.tool_name = "tool";
  manifest.batch_sizes = {1, 16};
  manifest.cpu_levels = {"x86-64", "x86-64-v3"};
  manifest.tuning = {
      "A CPU\\\n#error",
      {{1, "x86-64", 812.3456, 800, 820, 9}, {16, "x86-64-v3", 0.0001, 0.0001, 1, 9}}};
  const GeneratedFile costs = cost_header(manifest);
  EXPECT_EQ(costs.path, "include/tool/net_costs.h");
  EXPECT_TRUE(testing::matches_golden(costs.text, "generate/tuned_costs.h"));
}

TEST(Generate, LowersTheNameOfTheCmakeFilesOnly) {
  const Records records = testing::mixed_records();
  EXPECT_THAT(
      paths_of(*generate(records)),
      ElementsAre("include/tfaot-model-MixedNet/MixedNet_bs8.h",
                  "include/tfaot-model-MixedNet/MixedNet_costs.h",
                  "include/tfaot-model-MixedNet/model.h",
                  "lib/cmake/tfaot-model-MixedNet/tfaot-model-mixednet-config-version.cmake",
                  "lib/cmake/tfaot-model-MixedNet/tfaot-model-mixednet-config.cmake",
                  "lib/pkgconfig/tfaot-model-MixedNet.pc", "tfaot-model-MixedNet.xml",
                  "tfaot-runtime.xml"));
}

TEST(Generate, SameInputSameBytes) {
  const Records records = testing::simple_records();
  const auto first = generate(records);
  Records elsewhere = records;
  elsewhere.spec.config_file = "/elsewhere/c.yaml";
  elsewhere.spec.model.source = "/elsewhere/m";
  const auto second = generate(elsewhere);
  ASSERT_EQ(first->files.size(), second->files.size());
  for (std::size_t i = 0; i < first->files.size(); ++i) {
    EXPECT_EQ(first->files[i].text, second->files[i].text);
    EXPECT_EQ(first->files[i].text.find("/elsewhere"), std::string::npos);
  }
}

TEST(Generate, TakesToolNameAndBase) {
  const Records records = testing::embedded_records();
  const auto generated =
      generate(records, {.tool_name = "My.tool", .tool_base = "$CMSSW_BASE/a&b"});
  const std::string& xml = file_named(*generated, "My.tool.xml").text;
  EXPECT_NE(xml.find("<environment name=\"MY_TOOL_BASE\" default=\"$CMSSW_BASE/a&amp;b\" />"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<flags LDFLAGS=\"$MY_TOOL_BASE/lib/embedded_net_bs1_x86-64.o\" />"),
            std::string::npos)
      << xml;
}

TEST(Generate, RefusesBadToolNamesAndBases) {
  const Records records = testing::simple_records();
  EXPECT_EQ(error_of(records, {.tool_name = "../up"}),
            "bad tool name '../up'\n"
            "  allowed: letters, digits and _ . + -, starting with a letter or digit");
  EXPECT_EQ(
      error_of(records, {.tool_base = "/with\nline end"}),
      "the tool base '/with\\u000aline end' is empty or contains control characters\n"
      "  it is the folder given with --tool-base, or the one that the package is installed into: "
      "choose another one");
}

// The functions called in the class: the first word before a bracket in each line of its body.
TEST(Generate, RefusesNamesOfAllMembersOfItsClasses) {
  const std::regex member(R"(^  (?!//)[^ (].*?\b(\w+)\(.*)");
  std::set<std::string> members;
  for (const Records& records : {testing::simple_records(), testing::cmssw_records()}) {
    const auto generated = generate(records);
    const std::string tool = "tfaot-model-" + records.spec.model.name;
    const std::string& header = file_named(*generated, "include/" + tool + "/model.h").text;
    for (const std::string& line : split_lines(header)) {
      std::smatch found;
      if (std::regex_match(line, found, member) && found[1] != records.spec.model.name) {
        members.insert(found[1]);
      }
    }
  }
  EXPECT_GT(members.size(), 15U);
  for (const std::string& name : members) {
    Records records = testing::cmssw_records();
    records.spec.model.name = name;
    EXPECT_THAT(error_of(records), ::testing::HasSubstr("its class has a member of this name"))
        << name;
  }
}

TEST(Generate, RefusesNamesOfMembers) {
  Records records = testing::simple_records();
  records.spec.model.name = "run";
  EXPECT_EQ(error_of(records),
            "/data/aot_config.yaml: the model cannot be named 'run': its class has a member of "
            "this name\n"
            "  Choose another model.name.");
}

// The code would write outside its buffers.
TEST(Generate, MakesNoHeaderOfARecordThatIsWrong) {
  Records records = testing::simple_records();
  records.compiled.codes[0].buffers[0].index = 1;
  const std::string error = error_of(records);
  EXPECT_NE(error.find("buffer 0 of test_bs1_x86-64.o does not fit"), std::string::npos) << error;
}

}  // namespace
}  // namespace tfaot::toolkit
