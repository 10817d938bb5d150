// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/compiled_model_json.h"

#include <gtest/gtest.h>

#include "tests/unit/records/sample_records.h"

namespace tfaot::toolkit {
namespace {

std::string text_of(const CompiledModel& model) { return json_document(json_of(model)); }

Result<CompiledModel> model_of(const std::string& text) {
  return read_document<CompiledModel>(text, {"record.json", "not a compiled model"});
}

TEST(CompiledModelJson, RoundTrip) {
  for (const auto& records :
       {testing::simple_records(), testing::mixed_records(), testing::hostile_records()}) {
    const std::string text = text_of(records.compiled);
    const auto compiled = model_of(text);
    ASSERT_TRUE(compiled) << compiled.error().text();
    EXPECT_EQ(text_of(*compiled), text);
    EXPECT_EQ(compiled->codes.size(), records.compiled.codes.size());
    EXPECT_EQ(compiled->codes[0].estimated_cost, records.compiled.codes[0].estimated_cost);
    EXPECT_EQ(compiled->codes.back().live_permille, records.compiled.codes.back().live_permille);
    EXPECT_EQ(compiled->codes.back().shared_permille,
              records.compiled.codes.back().shared_permille);
    EXPECT_EQ(compiled->codes.back().lane_bytes, records.compiled.codes.back().lane_bytes);
    EXPECT_EQ(compiled->codes[0].buffers.back().kind, BufferKind::kTemporary);
    EXPECT_EQ(compiled->signature.inputs.back().dtype,
              records.compiled.signature.inputs.back().dtype);
  }
}

// Kernels shared nothing then.
TEST(CompiledModelJson, TakesRecordsOfOlderVersions) {
  const auto records = testing::simple_records();
  auto json = json_of(records.compiled);
  for (auto& code : json["codes"]) {
    code.erase("shared_permille");
    code.erase("lane_bytes");
  }
  const auto compiled = model_of(json_document(json));
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(compiled->codes.back().shared_permille, 0U);
  EXPECT_EQ(compiled->codes.back().lane_bytes, 0U);
  json["codes"][0].erase("live_permille");
  EXPECT_FALSE(model_of(json_document(json)));
}

TEST(CompiledModelJson, RefusesWhatIsNoRecord) {
  const std::string whole = text_of(testing::simple_records().compiled);
  for (const auto& [from, to, why] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"\"float32\"", "\"float33\"",
            "signature.inputs[0].dtype: expected 'bool', 'int8', 'int16', 'int32', 'int64', "
            "'uint8', 'uint16', 'uint32', 'uint64', "
            "'float16', 'bfloat16', 'float32' or 'float64', "
            "not "
            "'float33'"},
           {"\"temporary\"", "\"temp\"",
            "codes[0].buffers[5].kind: expected 'unused', 'input', 'output', 'weight', "
            "'temporary', "
            "'live_rows', 'tasks' or 'sizes', not 'temp'"}}) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    const auto compiled = model_of(text);
    ASSERT_FALSE(compiled);
    EXPECT_EQ(compiled.error().text(), "record.json: not a compiled model\n  " + why);
  }
  EXPECT_FALSE(model_of(""));
  EXPECT_FALSE(model_of("[]"));
  EXPECT_FALSE(model_of("{}"));
}

}  // namespace
}  // namespace tfaot::toolkit
