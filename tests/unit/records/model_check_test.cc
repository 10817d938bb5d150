// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/model_check.h"

#include <gmock/gmock.h>

#include "tfaot/records/model_check_json.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModelProblem batch_problem(const std::string& place, std::vector<std::int64_t> sizes) {
  return {ProblemKind::kBatch, "the shape at some size", {}, {place}, std::move(sizes)};
}

TEST(ModelCheck, TheSameProblemAtTheSamePlaceIsOne) {
  std::vector<ModelProblem> problems;
  add_problem(problems, batch_problem("y", {1}));
  add_problem(problems, batch_problem("y", {4}));
  add_problem(problems, batch_problem("y", {4}));
  add_problem(problems, batch_problem("z", {1}));
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0].batch_sizes, ElementsAre(1, 4));
  add_problem(problems, batch_problem("y", {}));
  EXPECT_THAT(problems[0].batch_sizes, IsEmpty()) << "of all sizes";
  add_problem(problems, batch_problem("y", {8}));
  EXPECT_THAT(problems[0].batch_sizes, IsEmpty());
}

TEST(ModelCheck, WithoutAPlaceTheMessageDecides) {
  std::vector<ModelProblem> problems;
  add_problem(problems, {ProblemKind::kCompiler, "a", {}, {}, {}});
  add_problem(problems, {ProblemKind::kCompiler, "b", {}, {}, {}});
  add_problem(problems, {ProblemKind::kCompiler, "a", {}, {}, {}});
  EXPECT_EQ(problems.size(), 2U);
}

TEST(ModelCheck, EachErrorIsAProblem) {
  const Status failed =
      all_or_first({Error("first").note("why").about("rows_mix", {"mean"}), Error("second")});
  const auto problems = problems_of(failed.error(), 4);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].kind, ProblemKind::kRowsMix);
  EXPECT_EQ(problems[0].message, "first");
  EXPECT_THAT(problems[0].notes, ElementsAre("why"));
  EXPECT_THAT(problems[0].places, ElementsAre("mean"));
  EXPECT_THAT(problems[0].batch_sizes, ElementsAre(4));
  EXPECT_EQ(problems[1].kind, ProblemKind::kModel);
  EXPECT_THAT(problems_of(failed.error(), 0)[0].batch_sizes, IsEmpty());
}

TEST(ModelCheck, LinesAddUp) {
  EngineCheck all;
  const EngineCheck operations = {{{"MatMul",
                                    OperationSupport::kTypes,
                                    {{"T", {"float32"}, {"string"}}},
                                    {"axis"},
                                    {OperationTrait::kDataDependentSize},
                                    "cast",
                                    {{"dense", "f"}}}},
                                  {},
                                  {}};
  const EngineCheck more = {{}, {{4, "x86-64", "a.o"}}, {batch_problem("y", {4})}};
  for (const EngineCheck& line : {operations, more}) {
    const auto read = engine_check_from_json(engine_check_to_json(line));
    ASSERT_TRUE(read);
    add_check(all, *read);
  }
  ASSERT_EQ(all.operations.size(), 1U);
  EXPECT_EQ(all.operations[0].support, OperationSupport::kTypes);
  EXPECT_THAT(all.operations[0].types[0].used, ElementsAre("string"));
  EXPECT_EQ(all.operations[0].nodes[0].function, "f");
  EXPECT_EQ(all.codes[0].object, "a.o");
  EXPECT_EQ(all.problems[0].kind, ProblemKind::kBatch);
  EXPECT_FALSE(engine_check_from_json("{\"note\": \"other\"}"));
}

}  // namespace
}  // namespace tfaot::toolkit
