// SPDX-License-Identifier: Apache-2.0
// The JSON Schema for editors has the same rules as the parser's table: types, required keys,
// patterns, enums, defaults. TFAOT_UPDATE_GOLDEN=1 rewrites the file.
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/unit/config/schema_from_table.h"

namespace tfaot::toolkit {
namespace {

TEST(Schema, AgreesWithTheTableOfKeys) {
  EXPECT_TRUE(testing::matches_golden(testing::schema_from_table().dump(2) + "\n",
                                      "../../templates/aot_config.schema.json"));
}

}  // namespace
}  // namespace tfaot::toolkit
