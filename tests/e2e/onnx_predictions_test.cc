// SPDX-License-Identifier: Apache-2.0
// Packages of ONNX models, compiled by CMake, predict what is computed here, or what the library
// predicts that trained the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tfaot-model-onnx-channels/model.h"
#include "tfaot-model-onnx-dense/model.h"
#include "tfaot-model-onnx-energy-sklearn/model.h"
#include "tfaot-model-onnx-events/model.h"
#include "tfaot-model-onnx-flavour-lightgbm/model.h"
#include "tfaot-model-onnx-halves/model.h"
#include "tfaot-model-onnx-higgs-xgboost/model.h"
#include "tfaot-model-onnx-normalised/model.h"
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

// Mean and variance of a group of channels of one row.
std::array<double, 2> moments(const float* row, std::size_t points, std::size_t channels,
                              std::size_t first, std::size_t of_group) {
  double sum = 0, squares = 0;
  for (std::size_t point = 0; point < points; ++point) {
    for (std::size_t c = first; c < first + of_group; ++c) {
      const double one = row[point * channels + c];
      sum += one;
      squares += one * one;
    }
  }
  const double mean = sum / static_cast<double>(points * of_group);
  return {mean, squares / static_cast<double>(points * of_group) - mean * mean};
}

TEST(OnnxPredictions, OfNormalisedGroupsAndGeluOfPooledNumbers) {
  constexpr std::size_t kHeight = 6, kWidth = 8, kChannels = 4, kOfGroup = 2;
  constexpr std::size_t kRow = kHeight * kWidth * kChannels;
  constexpr std::array<float, kChannels> kScale = {0.5, -1, 2, 1}, kBias = {0, 0.25, -0.5, 1};
  tfaot::native::Model<tfaot_model::onnx_normalised> model;
  for (const std::size_t rows : {1U, 5U}) {
    const std::vector<float> x = numbers(rows * kRow);
    std::vector<float> norm(x.size()), y(x.size() / 4), expected_norm, expected_y;
    model.run(rows, {.x = x}, {.norm = norm, .y = y});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t channel = i % kChannels;
      const auto [mean, variance] = moments(&x[i / kRow * kRow], kHeight * kWidth, kChannels,
                                            channel / kOfGroup * kOfGroup, kOfGroup);
      expected_norm.push_back(static_cast<float>(
          (x[i] - mean) / std::sqrt(variance + 0.01) * kScale[channel] + kBias[channel]));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t channel = i % kChannels, column = i / kChannels % (kWidth / 2);
      const std::size_t line = i / kChannels / (kWidth / 2);  // of all rows
      const float* const first = &x[(2 * line * kWidth + 2 * column) * kChannels + channel];
      const float* const below = first + kWidth * kChannels;
      const double one = std::max({first[0], first[kChannels], below[0], below[kChannels]});
      expected_y.push_back(static_cast<float>(one * (1 + std::erf(one * std::sqrt(0.5))) / 2));
    }
    expect_near(norm, expected_norm);
    expect_near(y, expected_y);
  }
}

// Operations on numbers of 16 bits do not round, casts and outputs do.
TEST(OnnxPredictions, OfNumbersOf16Bits) {
  tfaot::native::Model<tfaot_model::onnx_halves> model;
  for (const std::size_t rows : {1U, 4U}) {
    std::vector<tfaot::float16> half;
    std::vector<float> x;
    for (std::size_t row = 0; row < rows; ++row) {
      // 512 times their sum, 65800, is infinite in float16.
      for (const float one : {100.0F, 28.015625F, 0.5F}) half.emplace_back(one);
      for (const float one : {1.0F / 3, 1e5F}) x.push_back(one);
    }
    std::vector<tfaot::float16> half_y(rows * 2);
    std::vector<float> cast(rows * 2);
    model.run(rows, {.half = half, .x = x}, {.half_y = half_y, .cast = cast});
    for (const tfaot::float16 one : half_y) EXPECT_EQ(static_cast<float>(one), 4112);
    for (std::size_t i = 0; i < cast.size(); ++i) {
      EXPECT_EQ(cast[i], i % 2 == 0 ? 0.333251953125F : std::numeric_limits<float>::infinity());
    }
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

TEST(OnnxPredictions, OfOutputsThatAreTransposed) {
  constexpr std::size_t kSteps = 4;
  constexpr std::array<float, 6> kWeights = {0.5, -1, 2, 1, 0.25, -0.5};
  tfaot::native::Model<tfaot_model::onnx_channels> model;
  for (const std::size_t rows : {1U, 3U, 4U}) {
    const std::vector<float> x = numbers(rows * 2 * kSteps);
    std::vector<float> y(rows * 3 * kSteps);
    std::vector<float> z(x.size());
    model.run(rows, {.x = x}, {.y = y, .z = z});
    std::vector<float> mixed(y.size());
    std::vector<float> turned(z.size());
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t step = 0; step < kSteps; ++step) {
        const float a = x[(row * 2) * kSteps + step];
        const float b = x[(row * 2 + 1) * kSteps + step];
        turned[(row * kSteps + step) * 2] = a;
        turned[(row * kSteps + step) * 2 + 1] = b;
        for (std::size_t j = 0; j < 3; ++j) {
          mixed[(row * 3 + j) * kSteps + step] = a * kWeights[j * 2] + b * kWeights[j * 2 + 1];
        }
      }
    }
    expect_near(y, mixed);
    expect_near(z, turned);
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

// The tables of a file, all rows of one after the other: inputs, then outputs. An empty line ends a
// table.
std::vector<std::vector<float>> tables_of(const std::string& model) {
  std::ifstream file(TFAOT_ONNX_MODELS "/" + model + "/predictions.txt");
  std::vector<std::vector<float>> tables(1);
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) tables.emplace_back();
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      tables.back().push_back(std::strtof(word.c_str(), nullptr));
    }
  }
  return tables;
}

constexpr std::size_t kForestRows = 24;

// Batches of 1, 3, 4 and all rows, which are compiled sizes, padded ones and several.
template <typename Check>
void in_batches(const Check& check) {
  for (const std::size_t rows : {std::size_t{1}, std::size_t{3}, std::size_t{4}, kForestRows}) {
    for (std::size_t first = 0; first + rows <= kForestRows; first += rows) check(first, rows);
  }
}
std::vector<float> rows_of(const std::vector<float>& table, std::size_t first, std::size_t rows) {
  const std::size_t width = table.size() / kForestRows;
  const auto begin = table.begin() + static_cast<std::ptrdiff_t>(first * width);
  return {begin, begin + static_cast<std::ptrdiff_t>(rows * width)};
}

template <typename Model>
void expect_classes(const std::string& name, std::size_t classes) {
  const auto tables = tables_of(name);
  ASSERT_EQ(tables.size(), 3U);
  tfaot::native::Model<Model> model;
  in_batches([&](std::size_t first, std::size_t rows) {
    const std::vector<float> x = rows_of(tables[0], first, rows);
    std::vector<std::int64_t> labels(rows);
    std::vector<float> scores(rows * classes);
    model.run(rows, tfaot::inputs(x), tfaot::outputs(labels, scores));
    expect_near({labels.begin(), labels.end()}, rows_of(tables[1], first, rows));
    expect_near(scores, rows_of(tables[2], first, rows));
  });
}

// Missing values go the way that XGBoost learned.
TEST(OnnxPredictions, OfXgboostsTrees) {
  expect_classes<tfaot_model::onnx_higgs_xgboost>("higgs_xgboost", 2);
}

// Sets of categories are chains of branches.
TEST(OnnxPredictions, OfLightgbmsTrees) {
  expect_classes<tfaot_model::onnx_flavour_lightgbm>("flavour_lightgbm", 3);
}

TEST(OnnxPredictions, OfAPipelineOfScikitLearn) {
  const auto tables = tables_of("energy_sklearn");
  ASSERT_EQ(tables.size(), 2U);
  tfaot::native::Model<tfaot_model::onnx_energy_sklearn> model;
  in_batches([&](std::size_t first, std::size_t rows) {
    const std::vector<float> x = rows_of(tables[0], first, rows);
    std::vector<float> y(rows * 2);
    model.run(rows, tfaot::inputs(x), tfaot::outputs(y));
    expect_near(y, rows_of(tables[1], first, rows));
  });
}

// What models/onnx/events predicts for rows of these numbers of tracks and vertices.
struct Events {
  Events(const std::vector<std::size_t>& tracks_of, const std::vector<std::size_t>& vertices_of) {
    for (std::size_t row = 0; row < tracks_of.size(); ++row) {
      track_offsets.push_back(track_offsets.back() + tracks_of[row]);
      vertex_offsets.push_back(vertex_offsets.back() + vertices_of[row]);
    }
    tracks = numbers(3 * track_offsets.back());
    vertices = numbers(2 * vertex_offsets.back());
    for (std::size_t row = 0; row < tracks_of.size(); ++row) add_row(row);
  }

  void add_row(std::size_t row) {
    constexpr float kW[3][4] = {{0.5, -1, 2, 0.125}, {1, 0.25, -0.5, 0.75}, {-0.25, 0.5, 1.5, -1}};
    constexpr float kU[4][2] = {{1, -0.5}, {0.25, 2}, {-1, 0.5}, {0.75, 1}};
    constexpr float kV[2][4] = {{1, 0.5, -1, 0.25}, {-0.5, 2, 0.75, 1}};
    const std::size_t count = track_offsets[row + 1] - track_offsets[row];
    std::array<float, 4> mean = {};
    for (std::size_t t = track_offsets[row]; t < track_offsets[row + 1]; ++t) {
      std::array<float, 2> score = {};
      for (std::size_t j = 0; j < 4; ++j) {
        float sum = 0;
        for (std::size_t i = 0; i < 3; ++i) sum += tracks[3 * t + i] * kW[i][j];
        const float h = std::tanh(sum);
        mean[j] += h / static_cast<float>(count);
        for (std::size_t o = 0; o < 2; ++o) score[o] += h * kU[j][o];
      }
      each.insert(each.end(), score.begin(), score.end());
    }
    for (std::size_t j = 0; j < 4; ++j) {
      float most = -std::numeric_limits<float>::infinity();
      for (std::size_t v = vertex_offsets[row]; v < vertex_offsets[row + 1]; ++v) {
        most = std::max(most, vertices[2 * v] * kV[0][j] + vertices[2 * v + 1] * kV[1][j]);
      }
      jet.push_back(mean[j] + most);
    }
  }

  std::vector<std::size_t> track_offsets = {0}, vertex_offsets = {0};
  std::vector<float> tracks, vertices, each, jet;
};

TEST(OnnxPredictions, OfAnySize) {
  tfaot::native::Model<tfaot_model::onnx_events> model;
  for (const std::size_t rows : {1U, 3U, 4U, 9U}) {
    for (const std::size_t n : {1U, 2U, 7U, 39U, 40U}) {
      const Events events(std::vector<std::size_t>(rows, n), std::vector<std::size_t>(rows, 3));
      std::vector<float> each(events.each.size()), jet(events.jet.size());
      model.run(rows, {.n_tracks = n, .n_vertices = 3},
                {.tracks = events.tracks, .vertices = events.vertices}, {.each = each, .jet = jet});
      expect_near(each, events.each);
      expect_near(jet, events.jet);
    }
  }
}

TEST(OnnxPredictions, OfRaggedRows) {
  tfaot::native::Model<tfaot_model::onnx_events> model;
  const Events events({7, 40, 40, 40, 1, 5, 5}, {1, 6, 6, 6, 2, 2, 3});
  std::vector<float> each(events.each.size()), jet(events.jet.size());
  model.run_ragged(7, {.n_tracks = events.track_offsets, .n_vertices = events.vertex_offsets},
                   {.tracks = events.tracks, .vertices = events.vertices},
                   {.each = each, .jet = jet});
  expect_near(each, events.each);
  expect_near(jet, events.jet);
}

}  // namespace
