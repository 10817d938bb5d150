// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_record.h"

#include <gmock/gmock.h>

#include "sample_records.h"
#include "tfaot/base/hash.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

TEST(ModelRecord, AVersionOfUpToThreePartsIsANumber) {
  EXPECT_EQ(version_number("1.2.3"), 1'002'003);
  EXPECT_EQ(version_number("1.2"), 1'002'000);
  EXPECT_EQ(version_number("7"), 7'000'000);
  EXPECT_EQ(version_number("2147.483.647"), kLargestRecordVersion);
}

TEST(ModelRecord, ALaterVersionHasALargerNumber) {
  EXPECT_LT(version_number("1.9.0"), version_number("1.10.0"));
  EXPECT_LT(version_number("1.999.999"), version_number("2.0.0"));
}

// One number would stand for two versions, or an int would overflow.
TEST(ModelRecord, AnyOtherVersionIsNone) {
  for (const std::string version : {"1.2.3.4", "1.1000", "2147.483.648", "2148", "v1", "1.2-rc1",
                                    "1..2", "1.2.", "1.-2", "99999999999999999999"}) {
    EXPECT_EQ(version_number(version), 0) << version;
  }
}

TEST(ModelRecord, TheConfigsNumberCounts) {
  ModelSpec spec = simple_records().spec;
  spec.model.version = "summer";
  EXPECT_EQ(record_version(spec.model), 0);
  spec.model.record_version = 25;
  EXPECT_EQ(record_version(spec.model), 25);
}

// As `sha256sum lib/*.o | sha256sum` prints it.
TEST(ModelRecord, ItsHashIsThatOfTheObjects) {
  const std::string a(64, 'a');
  const std::string b(64, 'b');
  EXPECT_EQ(code_sha256({{"lib/b.o", b, 1}, {"model.xml", a, 1}, {"lib/a.o", a, 1}}),
            sha256_of(a + "  lib/a.o\n" + b + "  lib/b.o\n"));
}

TEST(ModelRecord, ThatOfAnotherPackageIsRefused) {
  const Records records = simple_records();
  Manifest manifest = make_manifest(records.spec, records.compiled, "", {});
  manifest.record = {manifest.name, 1'000'000, code_sha256({})};
  const auto read = manifest_from_json(manifest_to_json(manifest), "manifest.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->record->version, 1'000'000);
  manifest.record->hash = std::string(64, 'a');
  EXPECT_THAT(manifest_from_json(manifest_to_json(manifest), "manifest.json").error().text(),
              HasSubstr("the record's hash is not that of the objects"));
  manifest.record = {"other", 1'000'000, code_sha256({})};
  EXPECT_THAT(manifest_from_json(manifest_to_json(manifest), "manifest.json").error().text(),
              HasSubstr("the record is of a model 'other'"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
