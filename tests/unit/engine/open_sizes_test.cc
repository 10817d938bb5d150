// SPDX-License-Identifier: Apache-2.0
#include "front/lowering/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using testing::OnnxFile;
using testing::tensor_text;

std::string size_error_of(const OnnxFile& file, const JobModel& job) {
  const auto source = file.load(job);
  if (!source) return source.error().text();
  const auto lowering = (*source)->lowering({});
  return lowering ? "" : lowering.error().text();
}

// All at once; a dimension without a name is called by its input and axis.
TEST(OpenSizesTest, AreSaidTogether) {
  const OnnxFile file(tensor_text("input", "x", {"batch", "n_pf", ""}) +
                      tensor_text("input", "y", {"batch", "n_pf", "n*2"}) +
                      tensor_text("output", "z", {"batch"}) +
                      "node { op_type: 'ReduceSum' input: 'x' output: 'a' attribute { name: "
                      "'keepdims' type: INT } }"
                      "node { op_type: 'ReduceSum' input: 'y' output: 'b' attribute { name: "
                      "'keepdims' type: INT } }"
                      "node { op_type: 'Add' input: ['a', 'b'] output: 'z' }");
  EXPECT_EQ(size_error_of(file, {}),
            "3 dimensions have no size: 'n_pf' of inputs 'x', 'y', 'x:2' of input 'x', 'n*2' of "
            "input 'y'\n"
            "  give each a size, such as 10, in the config: model.dimensions: {n_pf: 10, 'x:2': "
            "10, 'n*2': 10}\n"
            "  or on the command line: --dimension n_pf=10 --dimension x:2=10 --dimension "
            "\"n*2=10\"\n"
            "  or a range, of which each call chooses a size: --dimension n_pf=1..128 --dimension "
            "x:2=1..128 --dimension \"n*2=1..128\"");
  JobModel job;
  job.dimensions = {{"n_pf", 5}, {"x:2", 6}, {"n*2", 4}};
  const auto source = file.load(job);
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_THAT((*source)->inputs().at(0).shape, ElementsAre(-1, 5, 6));
  EXPECT_THAT((*source)->inputs().at(1).shape, ElementsAre(-1, 5, 4));
  job.dimensions.push_back({"x:1", 5});
  EXPECT_EQ(size_error_of(file, job),
            "no input has an open dimension 'x:1'\n"
            "  did you mean 'x:2'?\n"
            "  open dimensions: batch, n*2, n_pf, x:2");
}

TEST(OpenSizesTest, TheBatchNeedsNoRange) {
  const OnnxFile file(tensor_text("input", "x", {"N", "n_pf"}) +
                      tensor_text("output", "y", {"N", "n_pf"}) +
                      "node { op_type: 'Relu' input: 'x' output: 'y' }");
  JobModel job;
  job.free_dimensions = {{"N", 1, 10}};
  job.dimensions = {{"N", 10}, {"n_pf", 5}};
  EXPECT_EQ(size_error_of(file, job),
            "'N' is the batch of input 'x', which needs no range: a package runs any number of "
            "rows\n"
            "  leave it out; sizes of the batch are in compilation.batch_sizes, or "
            "'--batch-sizes'\n"
            "  if that dimension is not the batch: compilation.batch: none, or '--batch none'");
  job.free_dimensions = {};
  EXPECT_EQ(size_error_of(file, job), "");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
