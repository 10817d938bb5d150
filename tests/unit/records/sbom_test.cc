// SPDX-License-Identifier: Apache-2.0
// tests/cli/sbom_test.py compares one with CycloneDX's schema.
#include "tfaot/records/sbom.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sample_records.h"

namespace tfaot::toolkit::testing {
namespace {

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
}

TEST(Sbom, IsJsonWhateverTheTextsAre) {
  EXPECT_FALSE(nlohmann::json::parse(sbom_to_json(sample(hostile_records()))).is_discarded());
}

}  // namespace
}  // namespace tfaot::toolkit::testing
