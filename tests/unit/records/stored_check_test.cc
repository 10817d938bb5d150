// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/stored_check.h"

#include <gmock/gmock.h>

#include "sample_records.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StoredCheckTest : public ::testing::Test {
 protected:
  StoredCheckTest() {
    const Records records = simple_records();
    manifest_ = make_manifest(records.spec, records.compiled, "", {});
    check_.inputs_sha256 = std::string(64, 'a');
    check_.machine = "a CPU";
    check_.cpu_level = manifest_.cpu_levels.back();
    check_.calls = {{manifest_.batch_sizes.front(),
                     {{.scale = 0.5, .numbers = "0000003f"}},
                     {{manifest_.cpu_levels.front(), std::string(64, 'b')}}}};
  }
  std::string why_not() const {
    const auto read = stored_check_from_json(manifest_, stored_check_to_json(check_), "check.json");
    return read ? "" : read.error().text();
  }

  Manifest manifest_;
  StoredCheck check_;
};

TEST_F(StoredCheckTest, IsReadAsItWasWritten) {
  const std::string text = stored_check_to_json(check_);
  const auto read = stored_check_from_json(manifest_, text, "check.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(stored_check_to_json(*read), text);
  EXPECT_EQ(read->calls.front().outputs.front().scale, 0.5);
}

TEST_F(StoredCheckTest, MustFitItsPackage) {
  check_.calls.front().rows = 12345;
  EXPECT_EQ(why_not(),
            "check.json: not a check of this package\n  its calls do not fit the manifest");
}

TEST_F(StoredCheckTest, HoldsWholeNumbersOfTheOutputAlone) {
  check_.calls.front().outputs.front().numbers = "0000003f00";
  EXPECT_THAT(why_not(), HasSubstr("do not fit"));
  check_.calls.front().outputs.front().numbers = "";  // nothing would be compared
  EXPECT_THAT(why_not(), HasSubstr("do not fit"));
  check_.calls.front().outputs.front().numbers = std::string(8 * 100'000, '0');
  EXPECT_THAT(why_not(), HasSubstr("do not fit"));
  check_.calls.front().outputs.front().numbers = "0000003G";
  EXPECT_THAT(why_not(), HasSubstr("hexadecimal"));
}

TEST_F(StoredCheckTest, KnowsTheLevelsOfThePackageAlone) {
  check_.calls.front().bits.front().cpu_level = "z80";
  EXPECT_THAT(why_not(), HasSubstr("do not fit"));
}

TEST_F(StoredCheckTest, KeepsNumbersThatAreEvenlySpread) {
  EXPECT_THAT(stored_places(10, 5), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(stored_places(3, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(stored_places(0, 0), ElementsAre());
}

}  // namespace
}  // namespace tfaot::toolkit::testing
