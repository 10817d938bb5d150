// SPDX-License-Identifier: Apache-2.0
// Packages of ONNX models, compiled by CMake, predict what is computed here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tfaot-model-onnx-dense/model.h"
#include "tfaot-model-onnx-tracks/model.h"
#include "tfaot-model-onnx-whole/model.h"

namespace {

// Numbers between -1 and 1 that differ.
std::vector<float> numbers(std::size_t count) {
  std::vector<float> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = std::sin(1.7F * static_cast<float>(i) + 0.3F);
  return made;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5F) << i;
}

TEST(OnnxPredictions, OfAnyNumberOfRows) {
  constexpr std::array<float, 6> kWeights = {1, -1, 2, 0.5, -3, 0.25};
  constexpr std::array<float, 2> kBias = {0.5, -0.5};
  tfaot::native::Model<tfaot_model::onnx_dense> model;
  for (const std::size_t rows : {1U, 3U, 4U, 9U}) {
    const std::vector<float> x = numbers(rows * 3);
    std::vector<float> y(rows * 2);
    model.run(rows, {.x = x}, {.y = y});
    std::vector<float> expected(rows * 2);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t j = 0; j < 2; ++j) {
        float sum = kBias[j];
        for (std::size_t i = 0; i < 3; ++i) sum += x[row * 3 + i] * kWeights[i * 2 + j];
        expected[row * 2 + j] = std::max(sum, 0.0F);
      }
    }
    expect_near(y, expected);
  }
}

TEST(OnnxPredictions, OfADimensionWithAGivenSize) {
  constexpr std::size_t kTracks = 4;  // model.dimensions of its config
  constexpr std::array<float, 6> kWeights = {0.5, -1, 2, 1, 0.25, -0.5};
  tfaot::native::Model<tfaot_model::onnx_tracks> model;
  for (const std::size_t rows : {1U, 5U}) {
    const std::vector<float> tracks = numbers(rows * kTracks * 2);
    const std::vector<float> scale = numbers(rows);
    std::vector<float> far(rows * kTracks * 3);
    model.run(rows, {.tracks = tracks, .scale = scale}, {.far = far});
    std::vector<float> expected(far.size());
    for (std::size_t track = 0; track < rows * kTracks; ++track) {
      for (std::size_t j = 0; j < 3; ++j) {
        const float sum = tracks[track * 2] * kWeights[j] + tracks[track * 2 + 1] * kWeights[3 + j];
        expected[track * 3 + j] = std::tanh(sum) * scale[track / kTracks];
      }
    }
    expect_near(far, expected);
  }
}

TEST(OnnxPredictions, OfAModelWithoutABatch) {
  static_assert(!tfaot_model::onnx_whole::kHasBatch);
  tfaot::native::Model<tfaot_model::onnx_whole> model;
  const std::vector<float> a = numbers(6);
  const std::vector<float> b = {1, 2, 3, 4, 5, 6};
  const std::vector<float> s = {0.5};
  std::vector<float> expected(4);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t k = 0; k < 3; ++k) expected[i * 2 + j] += a[i * 3 + k] * b[k * 2 + j] * s[0];
    }
  }
  std::vector<float> c(4);
  model.run({.a = a, .b = b, .s = s}, {.c = c});
  expect_near(c, expected);
  std::vector<float> by_order(4);
  model.run(tfaot::inputs(a, b, s), tfaot::outputs(by_order));
  EXPECT_EQ(by_order, c);
}

}  // namespace
