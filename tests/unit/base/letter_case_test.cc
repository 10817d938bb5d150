// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/text.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

TEST(LetterCase, ChangesAsciiLettersAlone) {
  EXPECT_EQ(lower_case("AZaz09_@[`{\xC3\x84"), "azaz09_@[`{\xC3\x84");
  EXPECT_EQ(upper_case("AZaz09_@[`{\xC3\xA4"), "AZAZ09_@[`{\xC3\xA4");
  EXPECT_EQ(lower_case(""), "");
}

}  // namespace
}  // namespace tfaot::toolkit
