// SPDX-License-Identifier: Apache-2.0
// A package that convert-area made of tfcompile's code, with headers for CMSSW's own interface.
#include "PhysicsTools/TensorFlowAOT/interface/Model.h"

#include "reference_rows.h"

#include "tfaot-model-inside-graph/model.h"

namespace {

TEST(Converted, PredictsWhatTensorFlowDoes) {
  tfaot::Model<tfaot_model::inside_graph> model;
  for (const auto& one : reference_of("frozen_graph")) {
    const tfaot::FloatArrays x = input_rows<float>(one, "x_placeholder");
    const tfaot::BoolArrays flag = input_rows<bool>(one, "flag_placeholder");
    const auto [scores, classes] =
        model.run<tfaot::FloatArrays, tfaot::Int64Arrays>(one.batch_size, x, flag);
    EXPECT_TRUE(matches(scores, one, "Sigmoid")) << one.batch_size;
    EXPECT_TRUE(matches(classes, one, "ArgMax")) << one.batch_size;
  }
}

// The class of a batch size is as upstream's: inputs and results are its own, constants are not.
TEST(Converted, HasUpstreamsClasses) {
  tfaot_model::inside_graph_bs2 function;
  EXPECT_EQ(tfaot_model::inside_graph_bs2::kNumArgs, 2U);
  EXPECT_EQ(tfaot_model::inside_graph_bs2::kNumResults, 2U);
  EXPECT_EQ(function.arg0_size(), 2 * 4 * static_cast<int>(sizeof(float)));
  EXPECT_TRUE(function.Run());
}

}  // namespace
