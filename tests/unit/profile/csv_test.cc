// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/csv.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

TEST(ProfileCsv, IsThatOfMlProf) {
  ProfiledCurve curve;
  curve.sizes.resize(2);
  curve.sizes[0].rows = 1;
  curve.sizes[0].rounds = {1234.5, 1e6};
  curve.sizes[1].rows = 64;
  curve.sizes[1].rounds = {2'500'000};
  EXPECT_EQ(curve_to_csv(curve), "1,0.0012345\n1,1\n64,2.5\n");
}

TEST(ProfileCsv, NamesFilesByTheCurve) {
  ProfiledCurve curve;
  curve.model = "tagger";
  curve.version = "1.0/2";
  curve.cpu_level = "x86-64-v3";
  curve.strategy = ComposeStrategy::kPadding;
  EXPECT_EQ(csv_file_name(curve), "tagger_1.0_2_tfaot_x86-64-v3_padding.csv");
  curve.engine = ProfiledEngine::kLiteRt;
  EXPECT_EQ(csv_file_name(curve), "tagger_1.0_2_litert.csv");
}

}  // namespace
}  // namespace tfaot::toolkit
