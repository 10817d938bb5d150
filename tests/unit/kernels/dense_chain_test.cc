// SPDX-License-Identifier: Apache-2.0
// tfaot_dense_chain compared with the same layers in double precision, and its functions of results
// with theirs, for floats of all sizes.
#include "tfaot/kernels/abi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/kernels/functions.h"
#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

class DenseChain : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, DenseChain, ::testing::ValuesIn(all_levels()), name_of_level);

using kernels::DenseLayer;

double rectified(Int epilogue, double x) {
  if ((epilogue & kernels::kEpilogueRelu) == 0) return x;
  const bool is_six = (epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6;
  return is_six ? std::clamp(x, 0.0, 6.0) : std::max(x, 0.0);
}

// The weights of a layer, in panels.
template <typename Value>
std::unique_ptr<Tensor<float>> packed(Int depth, Int columns, const Value& value) {
  auto panels = std::make_unique<Tensor<float>>(
      kernels::panel_count(columns, sizeof(float)) * depth * kernels::panel_columns(sizeof(float)),
      64);
  pack(panels->data(), depth, columns, value);
  return panels;
}

// A call with its tensors. `live_rows`: rows for each row of the batch; 0: all count.
class Chain {
 public:
  Chain(Random& random, Int rows, Int depth, std::vector<DenseLayer> layers, Int live_rows = 0)
      : layers_(std::move(layers)), x_(rows * depth) {
    random.fill(x_);
    call_ = {rows, depth, static_cast<Int>(layers_.size()), 1, live_rows};
    for (const DenseLayer& layer : layers_) {
      if (&layer != &layers_.back()) call_.widest = std::max(call_.widest, layer.columns);
      Tensor<float> matrix(depth * layer.columns);
      random.fill(matrix);
      matrices_.emplace_back(matrix.data(), matrix.data() + matrix.size());
      const std::vector<float>& values = matrices_.back();
      packed_.push_back(packed(depth, layer.columns, [&](Int l, Int j) {
        return values[static_cast<std::size_t>(l * layer.columns + j)];
      }));
      biases_.push_back(std::make_unique<Tensor<float>>(layer.columns));
      random.fill(*biases_.back());
      depth = layer.columns;
    }
  }

  Tensor<float>& x() { return x_; }

  // The result: rows that do not count stay NaN.
  std::vector<float> run(Kernel kernel, Int live = 0) {
    std::vector<Int> words((sizeof call_ + layers_.size() * sizeof(DenseLayer)) / sizeof(Int));
    std::memcpy(words.data(), &call_, sizeof call_);
    std::memcpy(words.data() + sizeof call_ / sizeof(Int), layers_.data(),
                layers_.size() * sizeof(DenseLayer));
    std::vector<const void*> in = {words.data(), x_.data()};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      in.push_back(packed_[i]->data());
      if (has_bias(layers_[i])) in.push_back(biases_[i]->data());
    }
    in.push_back(&live);
    Tensor<float> scratch(kernels::dense_chain_scratch_bytes(call_) / 4, 64);
    Tensor<float> result(call_.rows * layers_.back().columns);
    void* out[] = {result.data(), scratch.data()};
    kernel(out, in.data());
    note_bits(result);
    return {result.data(), result.data() + result.size()};
  }

  // In double precision, each layer of what the one before gives there, and how large an error of
  // rounding may be: what the errors of its x become, and one of each product.
  struct Expected {
    std::vector<double> values, errors;
  };
  Expected expected() const {
    Expected now{{x_.data(), x_.data() + x_.size()}, {}};
    now.errors.resize(now.values.size());
    auto depth = static_cast<std::size_t>(call_.depth);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      now = through(i, now, depth);
      depth = static_cast<std::size_t>(layers_[i].columns);
    }
    return now;
  }

 private:
  static bool has_bias(const DenseLayer& layer) {
    return (layer.epilogue & kernels::kEpilogueBias) != 0;
  }

  Expected through(std::size_t number, const Expected& before, std::size_t depth) const {
    const DenseLayer& layer = layers_[number];
    const auto columns = static_cast<std::size_t>(layer.columns);
    Expected made;
    for (std::size_t row = 0; row < static_cast<std::size_t>(call_.rows); ++row) {
      for (std::size_t j = 0; j < columns; ++j) {
        Sum<float> sum;
        double error = 0;
        if (has_bias(layer)) sum.add((*biases_[number])[static_cast<Int>(j)]);
        for (std::size_t l = 0; l < depth; ++l) {
          const double weight = matrices_[number][l * columns + j];
          sum.add(before.values[row * depth + l] * weight);
          error += before.errors[row * depth + l] * std::abs(weight);
        }
        const double y = rectified(layer.epilogue, sum.value());
        made.values.push_back(function_of(layer.function, y));
        made.errors.push_back(error_of(layer.function, y, error + sum.tolerance()));
      }
    }
    return made;
  }

  kernels::DenseChainCall call_{};
  std::vector<DenseLayer> layers_;
  Tensor<float> x_;
  std::vector<std::vector<float>> matrices_;
  std::vector<std::unique_ptr<Tensor<float>>> packed_, biases_;
};

DenseLayer random_layer(Random& random, Int columns) {
  DenseLayer layer{columns, random_epilogue(random), {kernels::kFunctionNone, 1, 1}};
  if ((layer.epilogue & kernels::kEpilogueRelu) != 0) return layer;
  layer.function.kind = random.between(kernels::kFunctionNone, kernels::kFunctionHardSwish);
  layer.function.above = random.one_in(2) ? 1 : 1.05;
  layer.function.below = random.one_in(2) ? 0.3 : -0.7;
  return layer;
}

void check(Chain& chain, Kernel kernel, Int columns, const std::string& what) {
  const auto result = chain.run(kernel);
  const auto expected = chain.expected();
  for (std::size_t i = 0; i < result.size(); ++i) {
    ASSERT_NEAR(result[i], expected.values[i], expected.errors[i])
        << what << ", row " << i / static_cast<std::size_t>(columns) << ", column "
        << i % static_cast<std::size_t>(columns);
  }
}

TEST_P(DenseChain, OfRandomLayers) {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    const Int rows = random.one_in(3) ? 1 : random.between(1, random.one_in(2) ? 9 : 70);
    const Int depth = random.between(1, 70);
    std::vector<DenseLayer> layers;
    for (Int count = random.between(1, 4); count > 0; --count) {
      layers.push_back(random_layer(random, random.between(1, 70)));
    }
    Chain chain(random, rows, depth, layers);
    check(
        chain, GetParam().f32.dense_chain, layers.back().columns,
        std::to_string(rows) + " rows of " + std::to_string(depth) + ", case " + std::to_string(i));
    if (HasFailure()) return;
  }
}

TEST_P(DenseChain, OfEveryWidthAndNumberOfRows) {
  Random random(2);
  constexpr Int kBias = kernels::kEpilogueBias;
  for (Int size = 1; size <= 70; ++size) {
    for (const Int rows : {Int{1}, Int{2}, Int{3}, Int{4}, 71 - size}) {
      Chain chain(random, rows, 71 - size,
                  {{size, kBias, {kernels::kFunctionTanh, 1, 1}},
                   {71 - size, kBias + kernels::kEpilogueRelu, {kernels::kFunctionNone, 1, 1}},
                   {size, kBias, {kernels::kFunctionNone, 1, 1}}});
      check(chain, GetParam().f32.dense_chain, size,
            std::to_string(rows) + " rows, " + std::to_string(size) + " columns");
      if (HasFailure()) return;
    }
  }
}

// Rows that go through panels a vector, or several, at a time.
TEST_P(DenseChain, OfFewRowsAndDeepLayers) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const Int rows = random.between(1, 3), depth = random.between(60, 300);
    const Int width = random.between(1, 150);
    Chain chain(random, rows, depth,
                {{width, kernels::kEpilogueBias, {kernels::kFunctionNone, 1, 1}},
                 {70, kernels::kEpilogueRelu, {kernels::kFunctionNone, 1, 1}},
                 {33, kernels::kEpilogueBias, {kernels::kFunctionNone, 1, 1}}});
    check(chain, GetParam().f32.dense_chain, 33,
          std::to_string(rows) + " rows of " + std::to_string(depth) + ", width " +
              std::to_string(width));
    if (HasFailure()) return;
  }
}

// More rows than go through together, and layers that are too large for the small tiles.
TEST_P(DenseChain, OfManyRowsAndLargeLayers) {
  Random random(3);
  for (const Int rows : {25, 26, 100, 301}) {
    for (const Int width : {3, 40, 200}) {
      Chain chain(random, rows, 90,
                  {{width, kernels::kEpilogueRelu, {kernels::kFunctionNone, 1, 1}},
                   {130, kernels::kEpilogueBias, {kernels::kFunctionElu, 1, 1}},
                   {5, kernels::kEpilogueBias, {kernels::kFunctionSigmoid, 1, 1}}});
      check(chain, GetParam().f32.dense_chain, 5,
            std::to_string(rows) + " rows, width " + std::to_string(width));
      if (HasFailure()) return;
    }
  }
}

TEST_P(DenseChain, LeavesOutRowsOfPadding) {
  Random random(4);
  const std::vector<DenseLayer> layers = {
      {20, kernels::kEpilogueBias, {kernels::kFunctionTanh, 1, 1}},
      {7, kernels::kEpilogueNone, {kernels::kFunctionNone, 1, 1}}};
  Chain chain(random, 12, 9, layers, 2);
  const auto expected = chain.expected();
  const auto result = chain.run(GetParam().f32.dense_chain, 3);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (i < 6 * 7) {
      EXPECT_NEAR(result[i], expected.values[i], expected.errors[i]) << i;
    } else {
      EXPECT_TRUE(std::isnan(result[i])) << i;
    }
  }
}

TEST_P(DenseChain, FewRowsOfAPaddedBatch) {
  Random random(6);
  const std::vector<DenseLayer> layers = {
      {37, kernels::kEpilogueBias, {kernels::kFunctionNone, 1, 1}},
      {7, kernels::kEpilogueNone, {kernels::kFunctionNone, 1, 1}}};
  for (const Int live : {1, 2, 3}) {
    Chain chain(random, 4, 9, layers, 1);
    const auto expected = chain.expected();
    const auto result = chain.run(GetParam().f32.dense_chain, live);
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (i < static_cast<std::size_t>(live) * 7) {
        EXPECT_NEAR(result[i], expected.values[i], expected.errors[i]) << live << ", " << i;
      } else {
        EXPECT_TRUE(std::isnan(result[i])) << live << ", " << i;
      }
    }
  }
}

// An infinity times the zeros that fill up a panel is NaN, which must not get into results.
TEST_P(DenseChain, PaddingOfPanelsDoesNotCount) {
  for (const Int width : {3, 35}) {
    struct {
      kernels::DenseChainCall call;
      DenseLayer layers[2];
    } words = {{1, 1, 2, width, 0},
               {{width, kernels::kEpilogueRelu, {kernels::kFunctionNone, 1, 1}},
                {5, kernels::kEpilogueNone, {kernels::kFunctionNone, 1, 1}}}};
    Tensor<float> x(1), result(5);
    x[0] = kInfinity;
    const auto one = [](Int /*l*/, Int /*j*/) { return 1.0F; };
    const auto first = packed(1, width, one);
    const auto second = packed(width, 5, one);
    Tensor<float> scratch(kernels::dense_chain_scratch_bytes(words.call) / 4, 64);
    const void* in[] = {&words, x.data(), first->data(), second->data()};
    void* out[] = {result.data(), scratch.data()};
    GetParam().f32.dense_chain(out, in);
    for (Int i = 0; i < 5; ++i) EXPECT_EQ(result[i], kInfinity) << width << ", " << i;
  }
}

// A NaN or an infinity of one row is one of all results of that row, and of no other row.
TEST_P(DenseChain, NumbersThatAreNoneStayInTheirRow) {
  Random random(5);
  for (Int function = kernels::kFunctionNone; function <= kernels::kFunctionHardSwish; ++function) {
    for (const Int rows : {1, 3, 8, 21}) {
      for (const Int epilogue :
           {kernels::kEpilogueBias, kernels::kEpilogueRelu, kernels::kEpilogueRelu6}) {
        const bool is_plain = epilogue == kernels::kEpilogueBias;
        const std::vector<DenseLayer> layers = {
            {33, epilogue, {is_plain ? function : kernels::kFunctionNone, 1, 0.5}},
            {18, kernels::kEpilogueBias, {function, 1, 0.5}}};
        Chain chain(random, rows, 17, layers);
        chain.x()[(rows - 1) * 17 + 4] = kNaN;
        const auto result = chain.run(GetParam().f32.dense_chain);
        for (Int i = 0; i < rows * 18; ++i) {
          ASSERT_EQ(std::isnan(result[static_cast<std::size_t>(i)]), i >= (rows - 1) * 18)
              << "function " << function << ", epilogue " << epilogue << ", " << rows
              << " rows, element " << i;
        }
      }
    }
  }
}

// One layer whose product gives x itself: a column for each number.
std::vector<float> function_of_floats(Kernel kernel, const DenseLayer& layer,
                                      const std::vector<float>& x) {
  const float one = 1;
  Tensor<float> weight(16, 64);
  pack(weight.data(), 1, 1, [&](Int /*l*/, Int /*j*/) { return one; });
  const auto rows = static_cast<Int>(x.size());
  struct {
    kernels::DenseChainCall call;
    DenseLayer layer;
  } words = {{rows, 1, 1, 1, 0}, layer};
  Tensor<float> from(rows), to(rows);
  std::copy(x.begin(), x.end(), from.data());
  Tensor<float> scratch(kernels::dense_chain_scratch_bytes(words.call) / 4, 64);
  const void* in[] = {&words, from.data(), weight.data()};
  void* out[] = {to.data(), scratch.data()};
  kernel(out, in);
  return {to.data(), to.data() + rows};
}

struct Allowed {
  const char* name;
  DenseLayer layer;
  double ulps;
  double least;  // an error that is always allowed
};

// activations_test.cc has tanh and sigmoid, rows_test.cc has gelu.
TEST_P(DenseChain, FunctionsOfAllFloats) {
  const auto layer = [](Int function, double above, double below) {
    return DenseLayer{1, 0, {function, above, below}};
  };
  const std::vector<float> x = some_of_all_floats();
  for (const Allowed& one :
       {Allowed{"tanh", layer(kernels::kFunctionTanh, 1, 1), 2, 1e-44},
        Allowed{"sigmoid", layer(kernels::kFunctionSigmoid, 1, 1), 2, 1.7e-38},
        // sigmoid(-87) is rounded to 0.
        Allowed{"swish", layer(kernels::kFunctionSwish, 1, 1), 3, 1.5e-36},
        Allowed{"softplus", layer(kernels::kFunctionSoftplus, 1, 1), 3, 1.7e-38},
        Allowed{"leaky", layer(kernels::kFunctionLeaky, 1, 0.2), 1, 1e-44},
        Allowed{"elu", layer(kernels::kFunctionElu, 1, 1), 2, 1e-44},
        Allowed{"selu", layer(kernels::kFunctionElu, 1.0507, 1.7581), 3, 1e-44},
        // Near -3 the gate is a difference of numbers near 1/2.
        Allowed{"hard sigmoid", layer(kernels::kFunctionHardSigmoid, 1.0 / 6, 0.5), 1, 6e-8},
        Allowed{"hard swish", layer(kernels::kFunctionHardSwish, 1.0 / 6, 0.5), 1, 1.8e-7}}) {
    const auto y = function_of_floats(GetParam().f32.dense_chain, one.layer, x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double should = function_of(one.layer.function, x[i]);
      if (std::abs(should) > double{std::numeric_limits<float>::max()}) continue;
      int exponent = 0;
      std::frexp(should, &exponent);
      const double ulp = std::ldexp(1.0, std::max(exponent, -125) - 24);
      const double error = std::max(0.0, std::abs(y[i] - should) - one.least) / ulp;
      worst = std::max(worst, error);
      ASSERT_LE(error, one.ulps) << one.name << "(" << x[i] << ") = " << y[i] << ", not " << should;
    }
    RecordProperty(one.name, std::to_string(worst));
  }
}

TEST_P(DenseChain, FunctionsOfInfinities) {
  struct Ends {
    Int function;
    float low, high;
  };
  for (const Ends& ends :
       {Ends{kernels::kFunctionTanh, -1, 1}, Ends{kernels::kFunctionSigmoid, 0, 1},
        Ends{kernels::kFunctionSwish, kNaN, kInfinity},
        Ends{kernels::kFunctionSoftplus, 0, kInfinity},
        Ends{kernels::kFunctionLeaky, -kInfinity, kInfinity},
        Ends{kernels::kFunctionElu, -0.5F, kInfinity}, Ends{kernels::kFunctionHardSigmoid, 0, 1},
        Ends{kernels::kFunctionHardSwish, kNaN, kInfinity}}) {
    const auto y = function_of_floats(GetParam().f32.dense_chain, {1, 0, {ends.function, 1, 0.5}},
                                      {-kInfinity, kInfinity});
    if (std::isnan(ends.low)) {
      EXPECT_TRUE(std::isnan(y[0])) << ends.function;
    } else if (std::isinf(ends.low)) {
      EXPECT_EQ(y[0], ends.low) << ends.function;
    } else {
      EXPECT_NEAR(y[0], ends.low, 1.7e-38) << ends.function;
    }
    EXPECT_EQ(y[1], ends.high) << ends.function;
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
