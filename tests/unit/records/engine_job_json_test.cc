// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/engine_job_json.h"

#include <gtest/gtest.h>

#include "tests/unit/records/sample_records.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

JobModel frozen_model() {
  JobModel model;
  model.format = ModelFormat::kFrozenGraph;
  model.inputs = {{"x", DType::kFloat32, true, {-1, 4}}, {"y:0", std::nullopt, false, {}}};
  model.outputs = {"z"};
  return model;
}

CompileJob compile_job() {
  CompileJob job;
  job.hlo.model = frozen_model();
  job.hlo.batch_sizes = {1, 4};
  job.hlo.levels = {{"x86-64-v3", "x86-64-v3", "-fma4", "x86_64_v3"}};
  job.hlo.compute = ComputeType::kBfloat16;
  job.hlo.row_sizes = {1, 4};
  job.code.model_name = "test";
  job.cache.remote = {"http://host:8080", "/c", CacheLayout::kBazel, true, "/token", 1, 2};
  return job;
}

TEST(EngineJobJson, ComesBackAsItWas) {
  const CompileJob compile = compile_job();
  const std::vector<EngineJob> all = {
      compile,
      CheckJob{compile},
      LowerJob{compile.hlo, {"/dump", true}},
      CountJob{compile.hlo, compile.code},
      ResultsJob{compile.hlo, compile.code},
      DumpJob{compile.hlo, compile.code, {"/dump", true}},
      PredictJob{frozen_model(), 4, {"/scratch/0", "/scratch/1"}, 30},
      DescribeJob{"/model"},
      OperationsJob{ModelFormat::kOnnx},
      Tf2xlaConfigJob{"/config"},
      HloQuestion{{{"/a.txt", "before"}}, "x86_64_v3", 1, 0},
  };
  ASSERT_EQ(all.size(), std::variant_size_v<EngineJob>);
  for (const EngineJob& one : all) {
    const std::string text = engine_job_to_json(one);
    const auto job = engine_job_from_json(text);
    ASSERT_TRUE(job) << job.error().text();
    EXPECT_EQ(job->index(), one.index());
    EXPECT_EQ(engine_job_to_json(*job), text);
  }
}

TEST(EngineJobJson, KeepsTheMembersOfAJob) {
  const std::string text = engine_job_to_json(compile_job());
  const auto job = engine_job_from_json(text);
  ASSERT_TRUE(job) << job.error().text();
  const auto& compile = std::get<CompileJob>(*job);
  EXPECT_EQ(compile.hlo.model.format, ModelFormat::kFrozenGraph);
  EXPECT_EQ(compile.hlo.model.inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(compile.hlo.model.inputs[1].dtype, std::nullopt);
  EXPECT_EQ(compile.hlo.levels[0].kernels, "x86_64_v3");
  EXPECT_EQ(compile.hlo.compute, ComputeType::kBfloat16);
  EXPECT_EQ(compile.cache.remote.layout, CacheLayout::kBazel);
  EXPECT_EQ(compile.cache.remote.operation_timeout, 2);
  EXPECT_NE(text.find("\"format\": \"frozen_graph\""), std::string::npos);
  EXPECT_NE(text.find("\"dtype\": \"\""), std::string::npos);
}

TEST(EngineJobJson, AnotherTextIsADefectOfOurs) {
  const std::string text = engine_job_to_json(OperationsJob{ModelFormat::kFrozenGraph});
  const auto job = engine_job_from_json(replace_all(text, "frozen_graph", "frozen"));
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().kind(), ErrorKind::kInternal);
  EXPECT_EQ(job.error().text(),
            "not an engine job\n  operations.format: expected 'saved_model', 'frozen_graph', "
            "'onnx' or 'stablehlo', not 'frozen'");
  EXPECT_EQ(engine_job_from_json("{\"sing\": {}}").error().text(),
            "not an engine job\n  no job has this name");
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
