// SPDX-License-Identifier: Apache-2.0
#include "validated_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const Manifest& manifest, std::int64_t file_rows) {
  std::vector<std::string> all;
  for (const ValidationBatch& batch : validation_batches(manifest, file_rows)) {
    all.push_back(fmt::format("{} {} {}", batch.rows, word_of(batch.composition), batch.rule));
  }
  return all;
}

TEST(ValidationBatches, EachSizeAloneWithPaddingAndWithAnother) {
  Manifest manifest;
  manifest.batch_sizes = {1, 4};
  EXPECT_THAT(texts(manifest, 0),
              ElementsAre("1 compiled 1:1", "4 compiled 4:4", "3 padded 3:4", "2 stitched 2:1,1",
                          "5 stitched 5:4,1", "9 planned "));
  manifest.batch_sizes = {8};
  EXPECT_THAT(texts(manifest, 100),
              ElementsAre("8 compiled 8:8", "7 padded 7:8", "16 stitched 16:8,8", "17 planned ",
                          "100 planned "));
}

TEST(ValidationBatches, CoupledRowsAreNotComposed) {
  Manifest manifest;
  manifest.rows = RowsMode::kCoupled;
  manifest.batch_sizes = {2, 4};
  EXPECT_THAT(texts(manifest, 100), ElementsAre("2 compiled ", "4 compiled "));
}

TEST(ValidationBatches, WithoutABatchThereIsOneRun) {
  Manifest manifest;
  manifest.batch = BatchMode::kNone;
  manifest.batch_sizes = {1};
  EXPECT_THAT(texts(manifest, 100), ElementsAre("1 compiled "));
}

}  // namespace
}  // namespace tfaot::toolkit
