// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/rpm_record.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

const RpmRecord kRecord = {"tfaot-model-a",
                           "1.0.0",
                           2,
                           "tfaot-model-a-1.0.0-2.x86_64.rpm",
                           "aa",
                           {"bb", "cc", "dd", "0.1.0"}};

TEST(RpmRecordJson, ComesBackAsItWas) {
  const std::string text = rpm_record_to_json(kRecord);
  EXPECT_TRUE(matches_golden(text, "release/record.json"));
  const auto record = rpm_record_from_json(text);
  ASSERT_TRUE(record);
  EXPECT_EQ(rpm_record_to_json(*record), text);
  EXPECT_EQ(record->release, 2U);
  EXPECT_EQ(record->inputs.toolkit_sha256, "dd");
}

TEST(RpmRecordJson, AnythingElseIsNone) {
  const std::string text = rpm_record_to_json(kRecord);
  EXPECT_FALSE(rpm_record_from_json(""));
  EXPECT_FALSE(rpm_record_from_json("[]"));
  EXPECT_FALSE(rpm_record_from_json(text.substr(0, text.size() / 2)));
  EXPECT_FALSE(
      rpm_record_from_json(replace_all(text, "\"schema_version\": 1", "\"schema_version\": 2")));
  EXPECT_FALSE(rpm_record_from_json(replace_all(text, "\"release\": 2", "\"release\": \"2\"")));
  EXPECT_FALSE(rpm_record_from_json(replace_all(text, "\"rpm\":", "\"rmp\":")));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
