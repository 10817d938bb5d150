// SPDX-License-Identifier: Apache-2.0
#include "engine_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

ModelSpec spec_of(std::vector<std::int64_t> batch_sizes) {
  ModelSpec spec;
  spec.model.name = "test";
  spec.model.source = "/models/test/saved_model";
  spec.compilation.batch_sizes = std::move(batch_sizes);
  spec.compilation.cpu_levels = {"x86-64", "x86-64-v3"};
  return spec;
}

CompileOptions options_of(unsigned jobs) {
  CompileOptions options;
  options.work_directory = "/work";
  options.jobs = jobs;
  return options;
}

TEST(EngineJobs, DealBatchSizesOutEvenly) {
  const auto jobs = make_compile_jobs(spec_of({1, 2, 4, 8, 16}), options_of(2));
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_THAT(jobs[0].hlo.batch_sizes, ElementsAre(1, 4, 16));
  EXPECT_THAT(jobs[1].hlo.batch_sizes, ElementsAre(2, 8));
}

TEST(EngineJobs, AreNoMoreThanBatchSizes) {
  EXPECT_EQ(make_compile_jobs(spec_of({1, 2}), options_of(64)).size(), 2U);
  EXPECT_EQ(make_compile_jobs(spec_of({1, 2}), options_of(0)).size(), 1U);
}

TEST(EngineJobs, WriteDifferentWeights) {
  const auto jobs = make_compile_jobs(spec_of({1, 2, 4}), options_of(2));
  EXPECT_EQ(jobs[0].hlo.weights_directory, "/work/weights");
  EXPECT_EQ(jobs[1].hlo.weights_directory, "/work/weights");
}

TEST(EngineJobs, HaveThePrefixOfTheModelsSymbols) {
  auto spec = spec_of({4});
  spec.compilation.namespace_name = "a::b";
  EXPECT_EQ(make_compile_jobs(spec, options_of(1))[0].code.symbol_prefix, "tfaot_a_b_test");
}

TEST(EngineJobs, TellRowShapesOfFrozenInputsWithTheBatch) {
  auto spec = spec_of({1});
  spec.model.format = ModelFormat::kFrozenGraph;
  spec.model.inputs = {{"x", DType::kFloat32, std::vector<std::int64_t>{3, 2}},
                       {"y", std::nullopt, std::nullopt}};
  const auto jobs = make_compile_jobs(spec, options_of(1));
  ASSERT_EQ(jobs[0].hlo.model.inputs.size(), 2U);
  EXPECT_THAT(jobs[0].hlo.model.inputs[0].shape, ElementsAre(-1, 3, 2));
  EXPECT_FALSE(jobs[0].hlo.model.inputs[1].has_shape);
}

TEST(EngineJobs, TellWholeShapesWithoutABatch) {
  auto spec = spec_of({1});
  spec.compilation.batch = BatchMode::kNone;
  spec.model.format = ModelFormat::kFrozenGraph;
  spec.model.inputs = {{"x", DType::kFloat32, std::vector<std::int64_t>{3, 2}}};
  const auto job = make_compile_jobs(spec, options_of(1)).front();
  EXPECT_TRUE(job.hlo.model.fixed_shapes);
  EXPECT_THAT(job.hlo.row_sizes, IsEmpty());  // there are no rows
  EXPECT_THAT(job.hlo.model.inputs[0].shape, ElementsAre(3, 2));
}

TEST(EngineJobs, TellWhetherRowsAreAlone) {
  ModelSpec spec = spec_of({1, 4});
  CompileOptions options = options_of(2);
  for (const CompileJob& job : make_compile_jobs(spec, options)) {
    EXPECT_EQ(job.hlo.rows, RowsRule::kAlone);
  }
  options.coupled_rows = CoupledRows::kNotChecked;
  EXPECT_EQ(make_compile_jobs(spec, options).front().hlo.rows, RowsRule::kAlone);
  EXPECT_THAT(make_compile_jobs(spec, options).front().hlo.row_sizes, IsEmpty());
  options.coupled_rows = CoupledRows::kReported;
  const auto reported = make_compile_jobs(spec, options);
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported.front().hlo.rows, RowsRule::kReported);
  EXPECT_THAT(reported.front().hlo.row_sizes, ElementsAre(1, 4));
  spec.compilation.rows = RowsMode::kCoupled;
  EXPECT_EQ(make_compile_jobs(spec, options_of(1)).front().hlo.rows, RowsRule::kAny);
}

TEST(EngineJobs, TellWhetherKernelsHaveFastMath) {
  const auto has = [](std::vector<std::string> values) {
    auto spec = spec_of({1});
    for (const auto& value : values) {
      spec.compilation.xla_flags.push_back("--xla_cpu_enable_fast_math" + value);
    }
    return make_compile_jobs(spec, options_of(1)).front().hlo.fast_math;
  };
  EXPECT_TRUE(has({}));
  for (const char* off : {"=false", "=False", "=FALSE", "=0"}) EXPECT_FALSE(has({off})) << off;
  EXPECT_TRUE(has({"=false", ""}));
  EXPECT_FALSE(has({"=true", "=false"}));
}

TEST(EngineJobs, ForSizeXlaMakesSmallerCode) {
  auto spec = spec_of({1});
  const auto flags = [&spec] { return engine_environment(spec).at("XLA_FLAGS"); };
  EXPECT_EQ(flags().find("optimize_for_size"), std::string::npos);
  spec.compilation.optimize = Optimization::kSize;
  EXPECT_NE(flags().find("=xla_cpu_optimize_for_size"), std::string::npos);
  EXPECT_EQ(make_compile_jobs(spec, options_of(1)).front().hlo.optimize, Optimization::kSize);
}

TEST(EngineJobs, TellHowProductsMultiply) {
  auto spec = spec_of({1});
  const auto compute = [&spec] {
    return make_compile_jobs(spec, options_of(1)).front().hlo.compute;
  };
  EXPECT_EQ(compute(), ComputeType::kFloat32);
  spec.compilation.compute = ComputeType::kBfloat16;
  EXPECT_EQ(compute(), ComputeType::kBfloat16);
}

TEST(EngineJobs, TellValuesOfConstants) {
  auto spec = spec_of({1});
  spec.model.constants = {{"phase", {}, {"false"}}};
  const auto job = make_compile_jobs(spec, options_of(1)).front();
  ASSERT_EQ(job.hlo.model.constants.size(), 1U);
  EXPECT_EQ(job.hlo.model.constants[0].name, "phase");
  EXPECT_EQ(value_text(job.hlo.model.constants[0]), "false");
}

TEST(EngineJobs, TellSizesOfDimensions) {
  auto spec = spec_of({1});
  spec.model.format = ModelFormat::kOnnx;
  spec.model.dimensions = {{"n_pf", 50}};
  const auto job = make_compile_jobs(spec, options_of(1)).front();
  EXPECT_FALSE(job.hlo.model.fixed_shapes);
  ASSERT_EQ(job.hlo.model.dimensions.size(), 1U);
  EXPECT_EQ(job.hlo.model.dimensions[0].name, "n_pf");
  EXPECT_EQ(job.hlo.model.dimensions[0].size, 50);
}

TEST(JobLevels, NativeIsAPsabiLevelAndNotDoubled) {
  const auto all = job_levels({native_cpu_level(), "native"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().name, native_cpu_level());
}

TEST(JobLevels, AscendFromLevelsToTheCpusThatIncludeThem) {
  const auto all = job_levels({"znver4", "haswell", "x86-64-v4", "x86-64-v3", "x86-64"});
  std::vector<std::string> names;
  for (const auto& level : all) names.push_back(level.name);
  EXPECT_THAT(names, ElementsAre("x86-64", "x86-64-v3", "haswell", "x86-64-v4", "znver4"));
  EXPECT_EQ(all[0].features, "");
  EXPECT_EQ(all[1].features, "+prefer-no-gather");
  EXPECT_NE(all[2].features.find("-avx512f,"), std::string::npos) << all[2].features;
  EXPECT_EQ(all[4].kernels, "x86_64_v4");
}

TEST(JobLevels, CallTheKernelsOfTheHighestLevelInThem) {
  for (const CpuLevel& level : cpu_level_table()) {
    if (level.name == "native") continue;
    EXPECT_EQ(job_levels({level.name}).front().kernels, level.kernels) << level.name;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
