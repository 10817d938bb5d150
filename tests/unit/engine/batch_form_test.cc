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

constexpr const char* kTreeText = R"(
node {
  domain: 'ai.onnx.ml' op_type: 'TreeEnsembleRegressor' input: 'z' output: 't'
  attribute { name: 'n_targets' type: INT i: 1 }
  attribute { name: 'nodes_treeids' type: INTS ints: 0 ints: 0 ints: 0 }
  attribute { name: 'nodes_nodeids' type: INTS ints: 0 ints: 1 ints: 2 }
  attribute { name: 'nodes_featureids' type: INTS ints: 1 ints: 0 ints: 0 }
  attribute { name: 'nodes_modes' type: STRINGS strings: 'BRANCH_LEQ' strings: 'LEAF' strings: 'LEAF' }
  attribute { name: 'nodes_values' type: FLOATS floats: 0.5 floats: 0 floats: 0 }
  attribute { name: 'nodes_truenodeids' type: INTS ints: 1 ints: 0 ints: 0 }
  attribute { name: 'nodes_falsenodeids' type: INTS ints: 2 ints: 0 ints: 0 }
  attribute { name: 'target_treeids' type: INTS ints: 0 ints: 0 }
  attribute { name: 'target_nodeids' type: INTS ints: 1 ints: 2 }
  attribute { name: 'target_ids' type: INTS ints: 0 ints: 0 }
  attribute { name: 'target_weights' type: FLOATS floats: 1 floats: 2 }
}
)";

// A model that is lowered at some batch sizes.
class BatchFormTest : public ::testing::Test {
 protected:
  void use(const std::string& graph) {
    file_ = std::make_unique<OnnxFile>(
        graph, "opset_import { version: 17 } opset_import { domain: 'ai.onnx.ml' version: 3 }");
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

  bool has_common_form() {
    const LoweredModel lowered = lowering_->lower(1).value();
    return BatchForm::find(*lowering_, lowered, {}, *store_)->at(1).has_value();
  }

  RealFileSystem files_;
  TemporaryFolder folder_;
  std::unique_ptr<OnnxFile> file_;
  std::unique_ptr<SourceModel> source_;
  std::unique_ptr<Lowering> lowering_;
  std::optional<WeightStore> store_;
};

TEST_F(BatchFormTest, OneBatchSizeTellsAModelLikeAnother) {
  use(tensor_text("input", "x", {"N", "6", "8"}) + tensor_text("output", "y", {"N", "8", "6"}) +
      transpose_text("x", "y", "021"));
  const LoweredModel lowered = lowering_->lower(1).value();
  int lowerings = 0;
  const auto lower = [&](std::int64_t rows) {
    ++lowerings;
    return lowering_->lower(rows);
  };
  const auto first = std::make_shared<BatchForm>(lower, lowered, Choices(), *store_);
  BatchForm second(lower, lowered, {}, *store_, first);
  const auto of_first = first->at(4);
  ASSERT_TRUE(of_first);
  EXPECT_EQ(lowerings, 3);
  const auto of_second = second.at(4);
  ASSERT_TRUE(of_second);
  EXPECT_EQ(lowerings, 4);
  EXPECT_EQ(*(*of_second)->entry_computation(), *(*of_first)->entry_computation());
}

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

// `y`: the sum of all steps and channels, which are contiguous for a row alone, but not in a batch.
std::string sum_of_steps_text() {
  return transpose_text("x", "steps", "102") +
         "node { op_type: 'RNN' input: 'steps' input: 'w' input: 'r' output: 's' attribute { name:"
         " 'hidden_size' type: INT i: 16 } }" +
         weight_text("w", 16) + weight_text("r", 16) +
         "node { op_type: 'ReduceSumSquare' input: 's' output: 'y' attribute { name: 'axes' type:"
         " INTS ints: 0 ints: 1 ints: 3 } attribute { name: 'keepdims' type: INT i: 0 } }";
}

TEST_F(BatchFormTest, ARowAloneWithOtherKernelsIsOneOfTwo) {
  use(tensor_text("input", "x", {"N", "8", "16"}) + tensor_text("output", "y", {"N"}) +
      sum_of_steps_text());
  const std::string own = module_at(1, "kernel_calls", false)->ToString();
  const std::string made = module_at(1, "kernel_calls", true)->ToString();
  EXPECT_THAT(own, HasSubstr("tfaot_row_sum")) << "the model tests nothing";
  EXPECT_THAT(module_at(4, "kernel_calls", true)->ToString(), Not(HasSubstr("tfaot_row_sum")));
  EXPECT_THAT(made, Not(HasSubstr("tfaot_row_sum")));
  EXPECT_THAT(made, HasSubstr("concatenate"));
}

// The scratch memory of trees follows the rows by no rule.
TEST_F(BatchFormTest, SoItIsWithoutAFormInCommon) {
  use(tensor_text("input", "x", {"N", "8", "16"}) + tensor_text("input", "z", {"N", "2"}) +
      tensor_text("output", "y", {"N"}) + tensor_text("output", "t", {"N", "1"}) +
      sum_of_steps_text() + kTreeText);
  EXPECT_FALSE(has_common_form()) << "the model tests nothing";
  const std::string made = module_at(1, "kernel_calls", true)->ToString();
  EXPECT_THAT(made, Not(HasSubstr("tfaot_row_sum")));
  EXPECT_THAT(made, HasSubstr("concatenate"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
