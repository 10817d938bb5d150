// SPDX-License-Identifier: Apache-2.0
// No model has longer names, or more dimensions, than base/limits.h allows.
#include "front/lowering/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "front/load_model.h"
#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::EndsWith;
using testing::OnnxFile;
using testing::tensor_text;

std::string load_error(const std::string& graph) {
  const OnnxFile file(graph);
  JobModel job;
  job.format = ModelFormat::kOnnx;
  job.source = file.path();
  const auto model = load_model(job);
  return model ? "" : model.error().text();
}

std::string identity(const std::string& input, const std::string& output) {
  return tensor_text("input", input, {"b"}) + tensor_text("output", output, {"b"}) +
         "node { op_type: 'Identity' input: '" + input + "' output: '" + output + "' }";
}

TEST(LimitsTest, ANameHasAtMostAThousandBytes) {
  const std::string longest(1000, 'n');
  EXPECT_EQ(load_error(identity(longest, "y")), "");
  EXPECT_EQ(load_error(identity("x", longest)), "");
  EXPECT_THAT(load_error(identity(longest + "n", "y")),
              EndsWith("' has 1001 bytes, but at most 1000 are allowed"));
  EXPECT_THAT(load_error(identity("x", std::string(70'000, 'n'))),
              EndsWith("' has 70000 bytes, but at most 1000 are allowed"));
  EXPECT_THAT(load_error(tensor_text("input", "x", {"b", longest + "n"}) +
                         tensor_text("output", "y", {"b"})),
              EndsWith("' has 1001 bytes, but at most 1000 are allowed"));
  const Status weight = check_weight_limits({{longest + "n", "float32", {1}}});
  ASSERT_FALSE(weight);
  EXPECT_THAT(weight.error().text(), EndsWith("' has 1001 bytes, but at most 1000 are allowed"));
}

TEST(LimitsTest, CountsAreLimited) {
  std::string inputs;
  for (int i = 0; i <= 10'000; ++i) {
    inputs += "input { name: '" + std::to_string(i) + "' type { tensor_type { elem_type: 1 } } }";
  }
  EXPECT_EQ(load_error(inputs + tensor_text("output", "y", {"b"})),
            "the model has 10001 inputs, but at most 10000 are allowed");
  const Status weights = check_weight_limits(std::vector<Variable>(100'001));
  ASSERT_FALSE(weights);
  EXPECT_EQ(weights.error().text(), "the model has 100001 weights, but at most 100000 are allowed");
}

TEST(LimitsTest, ATensorHasAtMostAHundredDimensions) {
  std::vector<std::string> sizes(101, "1");
  sizes.front() = "b";
  EXPECT_EQ(load_error(tensor_text("input", "x", sizes) + tensor_text("output", "y", {"b"})),
            "input 'x' has 101 dimensions, but at most 100 are allowed");
  // In the middle of the model.
  const auto lower_error = [](int rank) {
    std::string ones;
    for (int i = 1; i < rank; ++i) ones += ", 1";
    const OnnxFile file(tensor_text("input", "x", {"b"}) + tensor_text("output", "y", {"b"}) +
                        "initializer { name: 'wide' data_type: 7 dims: " + std::to_string(rank) +
                        " int64_data: [-1" + ones +
                        "] } initializer { name: 'one' data_type: 7 dims: 1 int64_data: [-1] } "
                        "node { op_type: 'Reshape' input: ['x', 'wide'] output: 'w' } "
                        "node { op_type: 'Neg' input: 'w' output: 'n' } "
                        "node { op_type: 'Reshape' input: ['n', 'one'] output: 'y' }");
    const auto model = file.load();
    if (!model) return model.error().text();
    const auto lowering = (*model)->lowering({});
    if (!lowering) return lowering.error().text();
    const auto lowered = (*lowering)->lower(1);
    return lowered ? "" : lowered.error().text();
  };
  EXPECT_EQ(lower_error(100), "");
  EXPECT_THAT(lower_error(101), EndsWith(" has 101 dimensions, but at most 100 are allowed"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
