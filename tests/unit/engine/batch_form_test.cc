// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/batch_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "compiler/code/optimize.h"
#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using tfaot::toolkit::testing::OnnxFile;
using tfaot::toolkit::testing::tensor_text;

std::string transpose_text(const std::string& x, const std::string& y, const std::string& order) {
  std::string text = "node { op_type: 'Transpose' input: '" + x + "' output: '" + y +
                     "' attribute { name: 'perm' type: INTS";
  for (const char d : order) text += std::string(" ints: ") + d;
  return text + " } }\n";
}

std::string reshape_text(const std::string& x, const std::string& y, int first, int last) {
  return "node { op_type: 'Reshape' input: '" + x + "' input: 'sizes_of_" + y + "' output: '" + y +
         "' }\ninitializer { name: 'sizes_of_" + y +
         "' dims: 3 data_type: 7 int64_data: " + std::to_string(first) +
         " int64_data: -1 int64_data: " + std::to_string(last) + " }\n";
}

// Of a recurrent layer of so many units and inputs.
std::string weight_text(const std::string& name, int units) {
  std::string text = "initializer { name: '" + name +
                     "' data_type: 1 dims: 1 dims: " + std::to_string(units) +
                     " dims: " + std::to_string(units);
  for (int i = 0; i < units * units; ++i) text += " float_data: 0.1";
  return text + " }\n";
}

// A model that is lowered at some batch sizes.
class BatchFormTest : public ::testing::Test {
 protected:
  void use(const std::string& graph) {
    file_ = std::make_unique<OnnxFile>(graph);
    source_ = file_->load().value();
    lowering_ = source_->lowering({}).value();
    store_.emplace(WeightStore::create(files_, folder_.path(), lowering_->weights()).value());
  }

  // The module of so many rows after a stage, with or without the form of a batch.
  std::unique_ptr<xla::HloModule> module_at(std::int64_t rows, const std::string& stage,
                                            bool has_form) {
    const LoweredModel lowered = lowering_->lower(rows).value();
    auto form = BatchForm::find(*lowering_, lowered, {}, *store_);
    EXPECT_TRUE(form);
    std::unique_ptr<xla::HloModule> found;
    StepViewer viewer;
    viewer.show = [&](const std::string& step, const xla::HloModule& module) -> Status {
      if (step == stage) found = module.Clone("");
      return {};
    };
    EXPECT_TRUE(
        optimize(lowered, *store_, {}, Traces::kRemoved, viewer, has_form ? form.get() : nullptr));
    return found;
  }

 private:
  RealFileSystem files_;
  TemporaryFolder folder_;
  std::unique_ptr<OnnxFile> file_;
  std::unique_ptr<SourceModel> source_;
  std::unique_ptr<Lowering> lowering_;
  std::optional<WeightStore> store_;
};

// As PyTorch's attention has it: [steps, rows * heads, channels], where rows lie within.
TEST_F(BatchFormTest, ARowAloneHasTheLayoutsOfABatch) {
  use(tensor_text("input", "x", {"N", "6", "8"}) + tensor_text("output", "y", {"N", "6", "8"}) +
      transpose_text("x", "steps", "102") + reshape_text("steps", "heads", 6, 4) +
      transpose_text("heads", "v", "102") + transpose_text("v", "k", "021") +
      "node { op_type: 'MatMul' input: 'v' input: 'k' output: 'scores' }"
      "node { op_type: 'MatMul' input: 'scores' input: 'v' output: 'seen' }" +
      transpose_text("seen", "first", "102") + reshape_text("first", "joined", 6, 8) +
      transpose_text("joined", "y", "102"));
  const ReadModule batch(module_at(4, "simplified", true));
  std::string why_not;
  EXPECT_FALSE(have_same_form(batch, ReadModule(module_at(1, "simplified", false)), why_not))
      << "the model tests nothing";
  EXPECT_TRUE(have_same_form(batch, ReadModule(module_at(1, "simplified", true)), why_not))
      << why_not;
}

// Steps and channels of a row alone are contiguous, but not those of a batch.
TEST_F(BatchFormTest, ARowAloneWithOtherKernelsIsOneOfTwo) {
  use(tensor_text("input", "x", {"N", "8", "16"}) + tensor_text("output", "y", {"N"}) +
      transpose_text("x", "steps", "102") +
      "node { op_type: 'RNN' input: 'steps' input: 'w' input: 'r' output: 's' attribute { name:"
      " 'hidden_size' type: INT i: 16 } }" +
      weight_text("w", 16) + weight_text("r", 16) +
      "node { op_type: 'ReduceSumSquare' input: 's' output: 'y' attribute { name: 'axes' type: INTS"
      " ints: 0 ints: 1 ints: 3 } attribute { name: 'keepdims' type: INT i: 0 } }");
  const std::string own = module_at(1, "kernel_calls", false)->ToString();
  const std::string made = module_at(1, "kernel_calls", true)->ToString();
  EXPECT_THAT(own, HasSubstr("tfaot_row_sum")) << "the model tests nothing";
  EXPECT_THAT(module_at(4, "kernel_calls", true)->ToString(), Not(HasSubstr("tfaot_row_sum")));
  EXPECT_THAT(made, Not(HasSubstr("tfaot_row_sum")));
  EXPECT_THAT(made, HasSubstr("concatenate"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
