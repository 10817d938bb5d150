// SPDX-License-Identifier: Apache-2.0
// tests/cli/sbom_test.py compares one with CycloneDX's schema.
#include "tfaot/records/sbom.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sample_records.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

Manifest sample(const Records& records) {
  Manifest manifest = make_manifest(records.spec, records.compiled, "", {});
  manifest.files = {{"lib/test_bs1.o", std::string(64, 'a'), 10},
                    {"runtime/lib/libtfaot_runtime.a", std::string(64, 'b'), 20}};
  return manifest;
}

TEST(Sbom, NamesPartsLicencesAndHashes) {
  Manifest manifest = sample(simple_records());
  manifest.compute = ComputeType::kBfloat16;
  const auto sbom = nlohmann::json::parse(sbom_to_json(manifest));
  EXPECT_EQ(sbom["bomFormat"], "CycloneDX");
  EXPECT_EQ(sbom["metadata"]["component"]["name"], manifest.tool_name);
  const auto& model = sbom["components"][0];
  EXPECT_EQ(model["version"], manifest.version);
  EXPECT_EQ(model["components"][0]["name"], "lib/test_bs1.o");
  EXPECT_EQ(model["components"][0]["hashes"][0]["content"], std::string(64, 'a'));
  const nlohmann::json compute = {{"name", "tfaot:compute"}, {"value", "bfloat16"}};
  EXPECT_THAT(model["properties"], ::testing::Contains(compute));
  const auto& runtime = sbom["components"][1];
  EXPECT_EQ(runtime["hashes"][0]["content"], std::string(64, 'b'));
  EXPECT_EQ(runtime["licenses"][0]["license"]["id"], "Apache-2.0");
  EXPECT_EQ(runtime["components"].size(), kRuntimeParts.size());
}

TEST(Sbom, IsJsonWhateverTheTextsAre) {
  EXPECT_FALSE(nlohmann::json::parse(sbom_to_json(sample(hostile_records()))).is_discarded());
}

// What the runtime holds is said in two places.
TEST(Sbom, ListsThePartsOfTheNotice) {
  const auto notice = RealFileSystem().read(TFAOT_SOURCE_DIR "/modules/runtime/NOTICE");
  ASSERT_TRUE(notice);
  std::size_t sections = 0;
  for (std::size_t at = 0; (at = notice->find("\n====", at)) != std::string::npos; ++at) ++sections;
  std::size_t named = 1;  // tfaot itself
  for (const RuntimePart& part : kRuntimeParts) {
    const std::size_t at = notice->find("=\n" + std::string(part.name));
    EXPECT_NE(at, std::string::npos) << part.name;
    const std::string section = notice->substr(at, notice->find("\n====", at) - at);
    EXPECT_THAT(section, HasSubstr(part.url));
    EXPECT_THAT(section, HasSubstr(part.version));
    ++named;
  }
  EXPECT_EQ(sections, named + 1) << "with the line under the title of a licence's text";
}

}  // namespace
}  // namespace tfaot::toolkit::testing
