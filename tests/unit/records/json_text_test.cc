// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tfaot::toolkit {
namespace {

TEST(JsonText, KeepsTheOrderOfKeys) {
  const nlohmann::ordered_json json = {{"b", 1}, {"a", "x\xFF"}};
  EXPECT_EQ(json_to_text(json), "{\"b\":1,\"a\":\"x\uFFFD\"}");
  EXPECT_EQ(json_to_text(json, 1), "{\n \"b\": 1,\n \"a\": \"x\uFFFD\"\n}");
  EXPECT_EQ(json_to_text(json_from_text("{\"b\": 1, \"a\": null}")), "{\"b\":1,\"a\":null}");
}

TEST(JsonText, SaysWhatIsNotJson) { EXPECT_TRUE(json_from_text("inf").is_discarded()); }

TEST(JsonText, QuotesAndMendsTexts) {
  EXPECT_EQ(json_string("a \"b\"\n"), "\"a \\\"b\\\"\\n\"");
  EXPECT_EQ(valid_utf8("a \"\xC3\xA4\" \xFF"), "a \"\xC3\xA4\" \uFFFD");
}

}  // namespace
}  // namespace tfaot::toolkit
