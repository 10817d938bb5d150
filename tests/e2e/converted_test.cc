// SPDX-License-Identifier: Apache-2.0
// Code made by TensorFlow's tfcompile, in packages that convert-area made from it: the model
// converted_graph shares its weights, whole_graph has upstream's unchanged objects.
#include <cstring>

#include "check_model.h"
#include "tfaot-model-converted-graph/model.h"
#include "tfaot-model-whole-graph/model.h"

namespace tfaot::toolkit::testing {
namespace {

TEST(Converted, PredictsAsTensorFlowDoes) {
  check_model<tfaot_model::converted_graph>(TFAOT_REFERENCE);
  check_model<tfaot_model::whole_graph>(TFAOT_REFERENCE);
}

template <class M>
std::vector<std::uint8_t> predict(std::size_t rows) {
  std::vector<float> x(rows * 4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.37F * static_cast<float>(i % 23) - 3.1F;
  std::vector<std::uint8_t> flags(rows);
  for (std::size_t i = 0; i < rows; ++i) flags[i] = i % 3 == 0 ? 1 : 0;
  std::vector<float> scores(rows * 2);
  std::vector<std::int64_t> classes(rows);
  native::Model<M> model;
  model.run(rows, inputs(x, Span<const bool>(reinterpret_cast<const bool*>(flags.data()), rows)),
            outputs(scores, classes));
  std::vector<std::uint8_t> bytes(scores.size() * sizeof(float) + rows * sizeof(std::int64_t));
  std::memcpy(bytes.data(), scores.data(), scores.size() * sizeof(float));
  std::memcpy(bytes.data() + scores.size() * sizeof(float), classes.data(),
              rows * sizeof(std::int64_t));
  return bytes;
}

TEST(Converted, SharedWeightsChangeNoBit) {
  for (std::size_t rows = 0; rows < 20; ++rows) {
    EXPECT_EQ(predict<tfaot_model::converted_graph>(rows), predict<tfaot_model::whole_graph>(rows))
        << rows << " rows";
  }
}

TEST(Converted, WeightsAreOutsideOfTheCode) {
  EXPECT_NE(tfaot_model::converted_graph::description().weights, nullptr);
  EXPECT_EQ(tfaot_model::whole_graph::description().weights, nullptr);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
