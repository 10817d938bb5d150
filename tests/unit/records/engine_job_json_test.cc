// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/engine_job_json.h"

#include <gtest/gtest.h>

#include "tests/unit/records/sample_records.h"
#include "tfaot/base/text.h"
#include "tfaot/records/tf2xla_config_json.h"

namespace tfaot::toolkit {
namespace {

EngineJob frozen_job() {
  EngineJob job;
  job.model_name = "test";
  job.format = ModelFormat::kFrozenGraph;
  job.inputs = {{"x", DType::kFloat32, true, {-1, 4}}, {"y:0", std::nullopt, false, {}}};
  job.outputs = {"z"};
  job.batch_sizes = {1, 4};
  job.levels = {{"x86-64-v3", "x86-64-v3", "-fma4", "x86_64_v3"}};
  job.row_sizes = {1, 4};
  job.remote_cache = {"http://host:8080", "/c", CacheLayout::kBazel, true, "/token", 1, 2};
  job.predictions = {"/scratch/0", "/scratch/1"};
  job.prediction_seconds = 30;
  return job;
}

TEST(EngineJobJson, ComesBackAsItWas) {
  const std::string text = engine_job_to_json(frozen_job());
  const auto job = engine_job_from_json(text);
  ASSERT_TRUE(job) << job.error().text();
  EXPECT_EQ(engine_job_to_json(*job), text);
  EXPECT_EQ(job->format, ModelFormat::kFrozenGraph);
  EXPECT_EQ(job->inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(job->inputs[1].dtype, std::nullopt);
  EXPECT_EQ(job->levels[0].kernels, "x86_64_v3");
  EXPECT_EQ(job->remote_cache.layout, CacheLayout::kBazel);
  EXPECT_EQ(job->remote_cache.operation_timeout, 2);
  EXPECT_EQ(job->predictions, frozen_job().predictions);
  EXPECT_NE(text.find("\"format\": \"frozen_graph\""), std::string::npos);
  EXPECT_NE(text.find("\"dtype\": \"\""), std::string::npos);
}

TEST(EngineJobJson, AnotherTextIsADefectOfOurs) {
  const std::string text = engine_job_to_json(frozen_job());
  const auto job = engine_job_from_json(replace_all(text, "frozen_graph", "frozen"));
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().kind(), ErrorKind::kInternal);
  EXPECT_EQ(job.error().text(),
            "not an engine job\n  format: expected 'saved_model', 'frozen_graph', 'onnx' or "
            "'stablehlo', not "
            "'frozen'");
  EXPECT_FALSE(engine_job_from_json(""));
}

TEST(EngineResultJson, ComesBackAsItWas) {
  const EngineResult result{
      testing::mixed_records().compiled, {"raw_0", "raw_1"}, true, 5, {"", "TensorFlow: no"}};
  const std::string text = engine_result_to_json(result);
  const auto read = engine_result_from_json(text, "result.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(engine_result_to_json(*read), text);
  EXPECT_TRUE(read->coupled_rows);
  EXPECT_EQ(read->cached_bytes, 5U);
  EXPECT_EQ(engine_result_from_json("{}", "result.json").error().text(),
            "result.json: not an engine's result\n  the key 'model' is missing");
}

TEST(Tf2xlaConfigJson, ComesBackAsItWas) {
  const Tf2xlaConfig config{{{"x:0", "in", "float32", {1, 2}}}, {{"y:0", "out"}}, 3};
  const std::string line = tf2xla_config_to_json(config);
  EXPECT_EQ(line,
            "{\"config\":{\"feeds\":[{\"dtype\":\"float32\",\"name\":\"in\",\"shape\":[1,2],"
            "\"tensor\":\"x:0\"}],\"fetches\":[{\"name\":\"out\",\"tensor\":\"y:0\"}],"
            "\"variables\":3}}\n");
  const auto read = tf2xla_config_from_json(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(tf2xla_config_to_json(*read), line);
  EXPECT_FALSE(tf2xla_config_from_json("{\"config\": 1}"));
  EXPECT_FALSE(tf2xla_config_from_json("a log line"));
}

}  // namespace
}  // namespace tfaot::toolkit
