// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/package_record_json.h"

#include <gtest/gtest.h>

#include "tests/unit/records/sample_records.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using testing::Records;

Manifest fileless_manifest_of(const Records& records) {
  return make_manifest(records.spec, records.compiled, "", {});
}

TEST(PackageRecordJson, KeepsWhatThePackageWasMadeFrom) {
  Records records = testing::simple_records();
  records.spec.model.format = ModelFormat::kFrozenGraph;
  records.spec.model.inputs = {{"x", DType::kFloat32, {{10}}}, {"y:0", std::nullopt, std::nullopt}};
  records.spec.model.outputs = {"z"};
  records.compiled.codes[0].from_cache = true;  // says nothing of the package
  const std::string text = package_record_to_json(records.spec, records.compiled);
  EXPECT_TRUE(text.starts_with("{\"compiled\":{")) << text;
  EXPECT_NE(text.find("\"format\":\"frozen_graph\",\"inputs\":[{\"dtype\":\"float32\","
                      "\"name\":\"x\",\"row_shape\":[10]},{\"dtype\":\"\",\"name\":\"y:0\"}],"
                      "\"outputs\":[\"z\"]}\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(is_package_record(text));
  const auto read = package_record_from_json(fileless_manifest_of(records), text, "record.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(package_record_to_json(read->spec, read->compiled), text);
  EXPECT_EQ(cpp_class_of(read->spec), cpp_class_of(records.spec));
  EXPECT_EQ(read->spec.model.inputs[0].dtype, DType::kFloat32);
  EXPECT_FALSE(read->compiled.codes[0].from_cache);
}

TEST(PackageRecordJson, KeepsWhatLoweringAnOnnxModelNeeds) {
  Records records = testing::simple_records();
  records.spec.model.format = ModelFormat::kOnnx;
  records.spec.model.dimensions = {{"n_pf", 50}};
  records.spec.model.constants = {{"axis", {}, {"1"}}, {"scale", {2}, {"0.5", "inf"}}};
  records.spec.compilation.batch = BatchMode::kNone;
  records.spec.compilation.compute = ComputeType::kBfloat16;
  const std::string text = package_record_to_json(records.spec, records.compiled);
  EXPECT_NE(text.find("\"dimensions\":[{\"name\":\"n_pf\",\"size\":50}]"), std::string::npos)
      << text;
  const auto read = package_record_from_json(fileless_manifest_of(records), text, "record.json");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->spec.model.dimensions.size(), 1U);
  EXPECT_EQ(read->spec.model.dimensions[0].size, 50);
  ASSERT_EQ(read->spec.model.constants.size(), 2U);
  EXPECT_EQ(read->spec.model.constants[0].name, "axis");
  EXPECT_EQ(value_text(read->spec.model.constants[0]), "1");
  EXPECT_EQ(value_text(read->spec.model.constants[1]), "[0.5, inf]");
  EXPECT_EQ(read->spec.compilation.batch, BatchMode::kNone);
  EXPECT_EQ(read->spec.compilation.compute, ComputeType::kBfloat16);
}

TEST(PackageRecordJson, SaysWhereARecordIsWrong) {
  const Records records = testing::simple_records();
  const std::string text = package_record_to_json(records.spec, records.compiled);
  const auto error_with = [&](const std::string& from, const std::string& to) {
    const auto read = package_record_from_json(fileless_manifest_of(records),
                                               replace_all(text, from, to), "record.json");
    return read ? "no error" : read.error().text();
  };
  EXPECT_EQ(error_with("\"format\":\"saved_model\"", "\"format\":\"keras\""),
            "record.json: not a record of this tfaot\n"
            "  format: expected 'saved_model', 'frozen_graph', 'onnx' or 'stablehlo', not 'keras'");
  EXPECT_EQ(error_with("\"from_cache\":false", "\"from_cache\":0"),
            "record.json: not a record of this tfaot\n"
            "  compiled.codes[0].from_cache: expected true or false");
  EXPECT_EQ(error_with("\"estimated_cost\":", "\"cost\":"),
            "record.json: not a record of this tfaot\n"
            "  compiled.codes[0]: the key 'estimated_cost' is missing");
  EXPECT_EQ(error_with("\"result_slot\":", "\"result_slot\":-1,\"x\":"),
            "record.json: not a record of this tfaot\n"
            "  compiled.codes[0].result_slot: -1 is negative");
  EXPECT_EQ(error_with("\"result_slot\":", "\"result_slot\":4294967296,\"x\":"),
            "record.json: not a record of this tfaot\n"
            "  compiled.codes[0].result_slot: 4294967296 is too large");
}

// The rules of check_compiled_model(). record.json may come from anywhere, so a violation is the
// package's fault.
TEST(PackageRecordJson, WhatDoesNotFitIsAnErrorOfItsFile) {
  const Records records = testing::simple_records();
  const Manifest manifest = fileless_manifest_of(records);
  const std::string text = package_record_to_json(records.spec, records.compiled);
  ASSERT_TRUE(package_record_from_json(manifest, text, "record.json"));
  const auto error_of = [](const Manifest& of, const std::string& record) {
    const auto read = package_record_from_json(of, record, "record.json");
    if (read) return std::string("no error");
    EXPECT_EQ(read.error().kind(), ErrorKind::kInput);
    return read.error().text();
  };
  CompiledModel damaged = records.compiled;
  damaged.weights[1].offset = 128;
  EXPECT_EQ(error_of(manifest, package_record_to_json(records.spec, damaged)),
            "record.json: the record is damaged, or belongs to another package\n"
            "  the compilation record is inconsistent: weight 'bias' lies outside the blob");
  Manifest other = manifest;
  other.batch_sizes = {1};
  EXPECT_EQ(error_of(other, text),
            "record.json: the record is damaged, or belongs to another package\n"
            "  the manifest has other batch sizes or CPU levels");
  for (const char* bad : {"", "{", "{}", "null", "[1]", "{\"compiled\": 7}"}) {
    EXPECT_NE(error_of(manifest, bad), "no error") << bad;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
