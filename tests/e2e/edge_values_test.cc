// SPDX-License-Identifier: Apache-2.0
// NaN, infinities, denormals, overflow and indices out of range, from each format: the table of
// docs/edge_values.md, line by line, at every CPU level of this machine. Expected values are those
// of the format's own library, or the docs say that they differ.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tfaot-model-edge-values/model.h"
#include "tfaot-model-onnx-edge-values/model.h"
#include "tfaot-model-stablehlo-edge-values/model.h"

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
constexpr std::size_t kRows = 6;

using Floats = std::vector<float>;
using Wholes = std::vector<std::int32_t>;

struct Inputs {
  Wholes at, m, n;
  Floats x = {kNan, 1,     -1,   2,     0.5F,   3, kInf, 1,    -kInf, 2,    0,    -2,
              3e9F, -3e9F, 2.7F, -2.7F, 1e-40F, 0, -100, -90,  -kInf, 100,  -0.F, 1e-39F,
              kNan, kNan,  kNan, kNan,  1,      0, -999, -999, -999,  -999, -999, -999};
  Inputs() {
    for (std::size_t row = 0; row < kRows; ++row) {
      at.insert(at.end(), {5, -1});
      m.insert(m.end(), {2, 2, 0, -1});
      const Wholes of_row =
          row == 1 ? Wholes{kMost, kMost, kMost, kMost} : Wholes{7, -7, kMost, kLeast};
      n.insert(n.end(), of_row.begin(), of_row.end());
    }
  }
};

struct Outputs {
  std::vector<std::int64_t> argmax;
  Floats gathered, hot, largest, log, maximum, norm, pooled, relu, resized, scaled, sigmoid,
      softmax, top;
  Wholes mean, quotient, sum, whole;
};

void make_room(Outputs& out) {
  for (Floats* six : {&out.log, &out.maximum, &out.norm, &out.relu, &out.scaled, &out.sigmoid,
                      &out.softmax, &out.hot}) {
    six->resize(6 * kRows);
  }
  for (Wholes* four : {&out.quotient, &out.sum}) four->resize(4 * kRows);
  for (Floats* two : {&out.gathered, &out.top}) two->resize(2 * kRows);
  out.largest.resize(kRows);
  out.mean.resize(kRows);
  out.pooled.resize(4 * kRows);
  out.resized.resize(12 * kRows);
  out.whole.resize(6 * kRows);
}

// Of a model whose outputs have the names of Outputs. inputs(in, at): the model's, with indices and
// places of the types that the format has for them.
template <class Model, class Index, class Place, class MakeInputs>
Outputs outputs_of(const tfaot::CpuChoice& cpu, const MakeInputs& inputs) {
  const Inputs in;
  const std::vector<Index> at(in.at.begin(), in.at.end());
  std::vector<Place> argmax(kRows);
  Outputs out;
  make_room(out);
  tfaot::native::Model<Model> model(cpu);
  model.run(kRows, inputs(in, at),
            typename Model::Outputs{.argmax = argmax,
                                    .gathered = out.gathered,
                                    .hot = out.hot,
                                    .largest = out.largest,
                                    .log = out.log,
                                    .maximum = out.maximum,
                                    .mean = out.mean,
                                    .norm = out.norm,
                                    .pooled = out.pooled,
                                    .quotient = out.quotient,
                                    .relu = out.relu,
                                    .resized = out.resized,
                                    .scaled = out.scaled,
                                    .sigmoid = out.sigmoid,
                                    .softmax = out.softmax,
                                    .sum = out.sum,
                                    .top = out.top,
                                    .whole = out.whole});
  out.argmax.assign(argmax.begin(), argmax.end());
  return out;
}

Outputs of_tensorflow(const tfaot::CpuChoice& cpu) {
  using Model = tfaot_model::edge_values;
  return outputs_of<Model, std::int32_t, std::int64_t>(cpu, [](const Inputs& in, const auto& at) {
    return Model::Inputs{.at = at, .m = in.m, .n = in.n, .x = in.x};
  });
}
Outputs of_onnx(const tfaot::CpuChoice& cpu) {
  using Model = tfaot_model::onnx_edge_values;
  return outputs_of<Model, std::int64_t, std::int64_t>(cpu, [](const Inputs& in, const auto& at) {
    return Model::Inputs{.at = at, .m = in.m, .n = in.n, .x = in.x};
  });
}
Outputs of_jax(const tfaot::CpuChoice& cpu) {
  using Model = tfaot_model::stablehlo_edge_values;
  return outputs_of<Model, std::int32_t, std::int32_t>(cpu, [](const Inputs& in, const auto& at) {
    return Model::Inputs{.input_0 = at, .input_1 = in.m, .input_2 = in.n, .input_3 = in.x};
  });
}

class EdgeValues : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const tfaot::CpuChoice cpu =
        GetParam() == "best" ? tfaot::this_cpu() : tfaot::this_cpu().at_level(GetParam());
    tensorflow_ = of_tensorflow(cpu);
    onnx_ = of_onnx(cpu);
    jax_ = of_jax(cpu);
  }

  template <class Values>
  void expect(Values Outputs::*output, const Values& from_tensorflow, const Values& from_onnx,
              const Values& from_jax, double absolute = 0) const {
    expect_near("TensorFlow", tensorflow_.*output, from_tensorflow, absolute);
    expect_near("ONNX", onnx_.*output, from_onnx, absolute);
    expect_near("JAX", jax_.*output, from_jax, absolute);
  }
  template <class Values>
  void expect_from_all(Values Outputs::*output, const Values& values, double absolute = 0) const {
    expect(output, values, values, values, absolute);
  }

 private:
  template <class Values>
  static void expect_near(const char* format, const Values& found, const Values& expected,
                          double absolute) {
    ASSERT_EQ(found.size(), expected.size()) << format;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto a = static_cast<double>(found[i]);
      const auto b = static_cast<double>(expected[i]);
      const bool is_same = a == b || (std::isnan(a) && std::isnan(b)) ||
                           (std::isfinite(a) && std::abs(a - b) <= absolute + 1e-6 * std::abs(b));
      EXPECT_TRUE(is_same) << "from " << format << ", number " << i << ": " << a << ", not " << b;
    }
  }

  Outputs tensorflow_, onnx_, jax_;
};

#if defined(__x86_64__)
INSTANTIATE_TEST_SUITE_P(Levels, EdgeValues, ::testing::Values("x86-64", "best"),
                         [](const auto& level) { return level.param == "best" ? "Best" : "Base"; });
#else
INSTANTIATE_TEST_SUITE_P(Levels, EdgeValues, ::testing::Values("best"));
#endif

TEST_P(EdgeValues, NanInReductions) {
  expect_from_all(&Outputs::largest, Floats{kNan, kInf, 3e9F, 100, kNan, -999});
  expect(&Outputs::argmax, {5, 0, 0, 3, 4, 0}, {5, 0, 0, 3, 4, 0}, {0, 0, 0, 3, 0, 0});
  expect_from_all(&Outputs::top,
                  Floats{kNan, 3, kInf, 2, 3e9F, 2.7F, 100, 1e-39F, kNan, kNan, -999, -999});
}

TEST_P(EdgeValues, NanInWindows) {
  const Floats passed_over = {1,   2,   2,   3,   kInf,    2,       2, 2, 3e9F, 2.7F, 2.7F, 0,
                              -90, 100, 100, 100, kLowest, kLowest, 1, 1, -999, -999, -999, -999};
  const Floats kept = {kNan, 2,   2,   3,   kInf, 2,    2,    2,    3e9F, 2.7F, 2.7F, 0,
                       -90,  100, 100, 100, kNan, kNan, kNan, kNan, -999, -999, -999, -999};
  expect(&Outputs::pooled, passed_over, passed_over, kept);
}

TEST_P(EdgeValues, NanInElements) {
  expect_from_all(&Outputs::maximum, Floats{kNan, 1,    1,    2,    1, 3, kInf, 1, 1, 2,   1, 1,
                                            3e9F, 1,    2.7F, 1,    1, 1, 1,    1, 1, 100, 1, 1,
                                            kNan, kNan, kNan, kNan, 1, 1, 1,    1, 1, 1,   1, 1});
  expect_from_all(&Outputs::relu, Floats{kNan, 1,    0,    2,    0.5F, 3, kInf, 1, 0, 2,   0, 0,
                                         3e9F, 0,    2.7F, 0,    0,    0, 0,    0, 0, 100, 0, 0,
                                         kNan, kNan, kNan, kNan, 1,    0, 0,    0, 0, 0,   0, 0});
}

TEST_P(EdgeValues, NanAndInfinitiesInRows) {
  Floats softmax(kRows * 6, kNan);
  const Floats finite = {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0};
  std::copy(finite.begin(), finite.end(), softmax.begin() + 12);
  std::fill(softmax.begin() + 30, softmax.end(), 1.0F / 6);
  expect_from_all(&Outputs::softmax, softmax);
  // Equal numbers are their own mean, also -999.
  Floats norm(kRows * 6, kNan);
  const Floats far = {1.7320508F, -1.7320508F, 1.5588457e-9F, -1.5588457e-9F, 0, 0};
  std::copy(far.begin(), far.end(), norm.begin() + 12);
  std::fill(norm.begin() + 30, norm.end(), 0.0F);
  expect_from_all(&Outputs::norm, norm, 1e-6);  // beside 3e9, smaller numbers are rounded
}

// JAX multiplies all elements with weights, most of which are 0: one NaN or infinity fills a line.
TEST_P(EdgeValues, NanInResizedImages) {
  const Floats same = {3e9F,   1.5e9F,  -1.5e9F, -2.25e9F, -7.5e8F, 1.35F,
                       -1.35F, -2.025F, -0.675F, 0,        0,       0};
  Floats local = {kNan, kNan, kNan, 0.5F, -0.5F, -0.25F, 1.25F, 1.625F, 0.875F, 1.125F, 2.375F, 3};
  local.insert(local.end(),
               {kInf, kInf, kInf, -kInf, -kInf, -kInf, -kInf, 1.5F, 0.5F, -0.5F, -1.5F, -2});
  local.insert(local.end(), same.begin(), same.end());
  local.insert(local.end(), {-100, -97.5F, -92.5F, -kInf, -kInf, -kInf, -kInf, 75, 25, 0, 0, 0});
  local.insert(local.end(),
               {kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, kNan, 0.75F, 0.25F, 0});
  local.insert(local.end(), 12, -999);
  expect(&Outputs::resized, local, local, local);
}

TEST_P(EdgeValues, SmallNumbersCountAsZero) {
  const float l2 = 0.6931472F;
  expect_from_all(&Outputs::log,
                  Floats{kNan,       0,    kNan,       l2,         -l2,   1.0986123F,  //
                         kInf,       0,    kNan,       l2,         -kInf, kNan,        //
                         21.821878F, kNan, 0.9932518F, kNan,       -kInf, -kInf,       //
                         kNan,       kNan, kNan,       4.6051702F, -kInf, -kInf,       //
                         kNan,       kNan, kNan,       kNan,       0,     -kInf,       //
                         kNan,       kNan, kNan,       kNan,       kNan,  kNan});
  const float big = 0x1p100F;
  expect_from_all(&Outputs::scaled,
                  Floats{kNan,       big,        -big,       2 * big,     big / 2,    3 * big,   //
                         kInf,       big,        -kInf,      2 * big,     0,          -2 * big,  //
                         kInf,       -kInf,      2.7F * big, -2.7F * big, 0,          0,         //
                         -100 * big, -90 * big,  -kInf,      100 * big,   0,          0,         //
                         kNan,       kNan,       kNan,       kNan,        big,        0,         //
                         -999 * big, -999 * big, -999 * big, -999 * big,  -999 * big, -999 * big});
  const float one = 0.7310586F;
  expect_from_all(&Outputs::sigmoid,
                  Floats{kNan, one,  0.2689414F, 0.8807971F,  0.6224594F, 0.9525741F,  //
                         1,    one,  0,          0.8807971F,  0.5F,       0.1192029F,  //
                         1,    0,    0.9370266F, 0.06297335F, 0.5F,       0.5F,        //
                         0,    0,    0,          1,           0.5F,       0.5F,        //
                         kNan, kNan, kNan,       kNan,        one,        0.5F,        //
                         0,    0,    0,          0,           0,          0});
}

TEST_P(EdgeValues, OverflowOfWholeNumbers) {
  const auto rows = [](const Wholes& usual, const Wholes& second) {
    Wholes all;
    for (std::size_t row = 0; row < kRows; ++row) {
      all.insert(all.end(), (row == 1 ? second : usual).begin(), (row == 1 ? second : usual).end());
    }
    return all;
  };
  expect_from_all(&Outputs::sum, rows({14, -14, -2, 0}, {-2, -2, -2, -2}));
  expect_from_all(&Outputs::mean, rows({0}, {kMost}));
  expect_from_all(&Outputs::quotient,
                  rows({3, -3, -1, kLeast}, {kMost / 2, kMost / 2, -1, -kMost}));
  expect_from_all(&Outputs::whole,
                  Wholes{0,     1,      -1, 2,  0, 3, kMost, 1,    kLeast, 2,    0,    -2,
                         kMost, kLeast, 2,  -2, 0, 0, -100,  -90,  kLeast, 100,  0,    0,
                         0,     0,      0,  0,  1, 0, -999,  -999, -999,   -999, -999, -999});
}

TEST_P(EdgeValues, IndicesOutOfRange) {
  const auto rows = [](const Floats& row) {
    Floats all;
    for (std::size_t i = 0; i < kRows; ++i) all.insert(all.end(), row.begin(), row.end());
    return all;
  };
  expect(&Outputs::gathered, rows({50, 10}), rows({50, 50}), rows({50, 50}));
  const Floats none = rows({0, 0, 0, 0, 0, 0});
  expect(&Outputs::hot, none, rows({0, 0, 0, 0, 0, 1}), none);
}

}  // namespace
