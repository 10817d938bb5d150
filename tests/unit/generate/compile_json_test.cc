// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/compile_json.h"

#include <gtest/gtest.h>

#include "tests/unit/generate/records.h"

namespace tfaot::toolkit {
namespace {

TEST(CompileJson, RoundTrip) {
  for (const auto& records :
       {testing::simple_records(), testing::mixed_records(), testing::hostile_records()}) {
    const std::string text = compiled_model_to_json(records.compiled);
    const auto compiled = compiled_model_from_json(text, "record.json");
    ASSERT_TRUE(compiled) << compiled.error().text();
    EXPECT_EQ(compiled_model_to_json(*compiled), text);
    EXPECT_EQ(compiled->codes.size(), records.compiled.codes.size());
    EXPECT_EQ(compiled->codes[0].estimated_cost, records.compiled.codes[0].estimated_cost);
    EXPECT_EQ(compiled->codes.back().live_permille, records.compiled.codes.back().live_permille);
    EXPECT_EQ(compiled->codes[0].buffers.back().kind, BufferKind::kTemporary);
    EXPECT_EQ(compiled->signature.inputs.back().dtype,
              records.compiled.signature.inputs.back().dtype);
  }
}

TEST(CompileJson, RefusesWhatIsNoRecord) {
  const std::string whole = compiled_model_to_json(testing::simple_records().compiled);
  for (const auto& [from, to, why] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"\"float32\"", "\"float33\"", "unknown dtype 'float33'"},
           {"\"temporary\"", "\"temp\"", "unknown buffer kind 'temp'"}}) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    const auto compiled = compiled_model_from_json(text, "record.json");
    ASSERT_FALSE(compiled);
    EXPECT_EQ(compiled.error().text(),
              "record.json: not a compilation record of this tfaot\n  " + why);
  }
  EXPECT_FALSE(compiled_model_from_json("", "record.json"));
  EXPECT_FALSE(compiled_model_from_json("[]", "record.json"));
  EXPECT_FALSE(compiled_model_from_json("{}", "record.json"));
}

TEST(DTypes, TableFollowsTheEnum) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kDTypes[i].dtype), i);
    EXPECT_EQ(dtype_from_name(kDTypes[i].name), kDTypes[i].dtype);
  }
  EXPECT_EQ(dtype_size(DType::kFloat64), 8u);
  EXPECT_STREQ(cpp_type_name(DType::kInt64), "std::int64_t");
  EXPECT_EQ(dtype_from_name("float16"), std::nullopt);
}

}  // namespace
}  // namespace tfaot::toolkit
