// SPDX-License-Identifier: Apache-2.0
// The errors of tanh, sigmoid and exp, as the kernels compute them, of floats from everywhere.
//
// By default every 61st float is taken where a function is more than x or a constant, and all
// floats where the errors are largest. All 2^32 floats, which takes some minutes:
//   tfaot_unit_kernels_abi --gtest_also_run_disabled_tests --gtest_filter='*OfAllFloats*'
// Under a sanitizer, which looks at addresses and not at values, and on aarch64, where qemu
// emulates the same formula, every 17th of these: 8,000 of the floats between 1 and 2, say.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/kernels/functions.h"
#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::kernels_test {
namespace {

class Activations : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Activations, ::testing::ValuesIn(all_levels()), name_of_level);

using Floats = std::vector<float>;
constexpr std::size_t kAtOnce = 1024;

// One step of a layer whose state takes no part: the function of the first gate, of each number.
class GateFunction {
 public:
  // `sums`: of the cell.
  GateFunction(Kernel kernel, std::size_t sums)
      : kernel_(kernel), zeros_(kHidden * kHidden * sums), columns_(2 * kAtOnce) {
    call_.rows = kAtOnce / kHidden;
    call_.steps = 1;
    call_.hidden = call_.x_row = call_.out_row = kHidden;
    call_.x_gate[1] = call_.x_gate[2] = kAtOnce;  // the other gates: zeros
    call_.memory_out = -1;
    scratch_.resize(static_cast<std::size_t>(kernels::recurrent_scratch_bytes(call_)) / 4);
  }

  void operator()(const Floats& x, Floats* y) {
    std::copy(x.begin(), x.end(), columns_.begin());
    void* out[] = {y->data(), scratch_.data()};
    const void* in[] = {&call_, columns_.data(), zeros_.data(), zeros_.data(), ones_.data()};
    kernel_(out, in);
  }

 private:
  static constexpr std::size_t kHidden = 32;
  Kernel kernel_;
  kernels::RecurrentCall call_{};
  Floats zeros_, columns_, scratch_;
  Floats ones_ = Floats(kAtOnce, 1);
};

// A step of an lstm without weights, whose gates are a number or a constant. The state's new memory
// is sigmoid(f) * memory + sigmoid(i) * tanh(g), its h sigmoid(o) * tanh(that).
class LstmFunction {
 public:
  enum Gate { kInput, kForget, kCandidate, kOutput };

  // `others`: of all gates but `of`.
  LstmFunction(Kernel kernel, Gate of, std::array<float, 4> others, float memory)
      : kernel_(kernel), of_(of), zeros_(kHidden * kHidden * 4), memory_(kAtOnce, memory) {
    call_.rows = kAtOnce / kHidden;
    call_.steps = 1;
    call_.hidden = call_.x_row = call_.out_row = kHidden;
    call_.memory_out = kAtOnce;
    for (std::size_t gate = 0; gate < 4; ++gate) {
      call_.x_gate[gate] = static_cast<Int>(gate * kAtOnce);
      columns_.insert(columns_.end(), kAtOnce, others[gate]);
    }
    scratch_.resize(static_cast<std::size_t>(kernels::recurrent_scratch_bytes(call_)) / 4);
  }

  // The new memory; for the output gate the new h.
  void operator()(const Floats& x, Floats* y) {
    std::copy(x.begin(), x.end(), columns_.begin() + of_ * static_cast<Int>(kAtOnce));
    void* out[] = {results_.data(), scratch_.data()};
    const void* in[] = {&call_,        columns_.data(), zeros_.data(),
                        zeros_.data(), zeros_.data(),   memory_.data()};
    kernel_(out, in);
    const auto first = results_.begin() + (of_ == kOutput ? 0 : static_cast<Int>(kAtOnce));
    y->assign(first, first + static_cast<Int>(kAtOnce));
  }

 private:
  static constexpr std::size_t kHidden = 32;
  Kernel kernel_;
  Gate of_;
  kernels::RecurrentCall call_{};
  Floats zeros_, columns_, memory_, scratch_;
  Floats results_ = Floats(2 * kAtOnce);
};

// Softmax of a number that is not positive and 0.
class SoftmaxOfTwo {
 public:
  explicit SoftmaxOfTwo(Kernel kernel) : kernel_(kernel) {}

  void operator()(const Floats& x, Floats* y) {
    for (std::size_t i = 0; i < x.size(); ++i) pairs_[2 * i] = x[i];
    const kernels::SoftmaxCall call{static_cast<Int>(kAtOnce), 2, 1};
    const void* in[] = {&call, pairs_.data()};
    kernel_(results_.data(), in);
    for (std::size_t i = 0; i < x.size(); ++i) (*y)[i] = results_[2 * i];
  }

 private:
  Kernel kernel_;
  Floats pairs_ = Floats(2 * kAtOnce), results_ = Floats(2 * kAtOnce);
};

float float_of(std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  float x = 0;
  std::memcpy(&x, &word, sizeof x);
  return x;
}
std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// The bits of `first` to `last`, every `step`th; of both signs, as the functions' tests need it.
struct Stretch {
  float first, last;
  std::uint32_t step;
};
#if !defined(TFAOT_TEST_SLOWED)
constexpr std::uint32_t kSparser = 1;
#else
constexpr std::uint32_t kSparser = 17;
#endif
const float kLargest = std::numeric_limits<float>::max();
const std::vector<Stretch> kEveryFloat = {{0, kLargest, 1}};
std::vector<Stretch> samples_and(std::vector<Stretch> critical) {
  const std::vector<Stretch> samples = {
      {0, 0x1p-13F, 4099}, {0x1p-13F, 128, 61}, {128, kLargest, 4099}};
  critical.insert(critical.end(), samples.begin(), samples.end());
  for (Stretch& stretch : critical) stretch.step *= kSparser;
  return critical;
}

// Calls check(x, function(x)) for all floats of the stretches. A false result ends it.
template <typename Function, typename Check>
void for_floats(const std::vector<Stretch>& stretches, Function&& function, const Check& check) {
  Floats x, y(kAtOnce);
  const auto run = [&] {
    const std::size_t count = x.size();
    x.resize(kAtOnce);
    function(x, &y);
    for (std::size_t i = 0; i < count; ++i) {
      if (!check(x[i], y[i])) return false;
    }
    x.clear();
    return true;
  };
  for (const Stretch& stretch : stretches) {
    for (const std::uint64_t sign : {std::uint64_t{0}, std::uint64_t{1} << 31}) {
      const std::uint64_t last = bits_of(stretch.last);
      for (std::uint64_t bits = bits_of(stretch.first); bits <= last; bits += stretch.step) {
        x.push_back(float_of(sign | bits));
        if (x.size() == kAtOnce && !run()) return;
      }
    }
  }
  run();
}

// How far a result is from the true value, in distances of the floats about that.
double ulps(float is, double should) {
  int exponent = 0;
  std::frexp(should, &exponent);
  constexpr int kDigits = std::numeric_limits<float>::digits;
  constexpr int kLeast = std::numeric_limits<float>::min_exponent;
  return std::abs(double{is} - should) / std::ldexp(1.0, std::max(exponent, kLeast) - kDigits);
}

class WorstUlps {
 public:
  explicit WorstUlps(double most) : most_(most) {}
  ~WorstUlps() { ::testing::Test::RecordProperty("ulps", std::to_string(worst_)); }
  WorstUlps(const WorstUlps&) = delete;
  WorstUlps& operator=(const WorstUlps&) = delete;

  bool add(float x, float is, double should) {
    const double now = ulps(is, should);
    if (now <= worst_) return true;
    worst_ = now;
    if (now <= most_) return true;
    ADD_FAILURE() << now << " ulp: of " << x << " it is " << is << ", not " << should;
    return false;
  }

 private:
  double most_, worst_ = 0;
};

// A number whose sigmoid and tanh are 1.
constexpr float kOne = 100;

void check_tanh(const Level& level, const std::vector<Stretch>& stretches) {
  WorstUlps worst(2);
  const auto check = [&](float x, float y) { return worst.add(x, y, std::tanh(double{x})); };
  for_floats(stretches, GateFunction(level.f32.rnn, 1), check);
  for_floats(stretches, LstmFunction(level.f32.lstm, LstmFunction::kCandidate, {kOne, 0, 0, 0}, 0),
             check);
}

// An update gate of a gru, with 1 as the state and 0 as the candidate, and the gates of an lstm.
void check_sigmoid(const Level& level, const std::vector<Stretch>& stretches) {
  WorstUlps worst(2);
  const auto check = [&](float x, float y) {
    if (x >= -87) return worst.add(x, y, sigmoid(double{x}));
    EXPECT_LE(y, 1.7e-38F) << "sigmoid(" << x << ")";  // nearly the smallest normal number
    return y <= 1.7e-38F;
  };
  for_floats(stretches, GateFunction(level.f32.gru, 4), check);
  for_floats(stretches, LstmFunction(level.f32.lstm, LstmFunction::kForget, {0, 0, 0, 0}, 1),
             check);
  for_floats(stretches, LstmFunction(level.f32.lstm, LstmFunction::kInput, {0, 0, kOne, 0}, 0),
             check);
  for_floats(stretches, LstmFunction(level.f32.lstm, LstmFunction::kOutput, {0, kOne, 0, 0}, kOne),
             check);
}

// An lstm divides once for both, so neither is rounded alone.
void check_product(const Level& level, const std::vector<Stretch>& stretches) {
  WorstUlps worst(4.1);
  for (const float other : {-3.0F, -0.7F, 0.0F, 0.4F, 2.2F}) {
    for_floats(stretches,
               LstmFunction(level.f32.lstm, LstmFunction::kCandidate, {other, 0, 0, 0}, 0),
               [&](float x, float y) {
                 return worst.add(x, y, sigmoid(double{other}) * std::tanh(double{x}));
               });
  }
}

// Where exp(x) does not change a sum of 1, softmax is exp(x). Elsewhere errors of the sum and of
// the product with its inverse come to it.
void check_exp(const Level& level, const std::vector<Stretch>& stretches) {
  WorstUlps worst(1.1);
  WorstUlps worst_with_sum(3);
  for_floats(stretches, SoftmaxOfTwo(level.f32.softmax), [&](float x, float y) {
    if (x > 0) return true;
    if (x > -17.4F) return worst_with_sum.add(x, y, sigmoid(double{x}));
    if (x >= -87.3F) return worst.add(x, y, std::exp(double{x}));
    const float most = x < -87.7F ? 0 : 1.3e-38F;  // nearly the smallest normal number
    EXPECT_LE(y, most) << "exp(" << x << ")";
    return y <= most;
  });
}

TEST_P(Activations, TanhIsRightToTwoUlps) {
  check_tanh(GetParam(), samples_and({{0.5F, 0.6F, 1}}));
}
TEST_P(Activations, SigmoidIsRightToTwoUlps) {
  check_sigmoid(GetParam(), samples_and({{1, 1.2F, 1}, {16, 18, 1}}));
}
TEST_P(Activations, SigmoidTimesTanhIsRightToFourUlps) {
  check_product(GetParam(), samples_and({}));
}
TEST_P(Activations, ExpIsRightToAnUlp) { check_exp(GetParam(), samples_and({{17, 88, 17}})); }

TEST_P(Activations, DISABLED_TanhOfAllFloats) { check_tanh(GetParam(), kEveryFloat); }
TEST_P(Activations, DISABLED_SigmoidOfAllFloats) { check_sigmoid(GetParam(), kEveryFloat); }
TEST_P(Activations, DISABLED_SigmoidTimesTanhOfAllFloats) {
  check_product(GetParam(), kEveryFloat);
}
TEST_P(Activations, DISABLED_ExpOfAllFloats) { check_exp(GetParam(), kEveryFloat); }

TEST_P(Activations, NumbersThatAreNoneGoThrough) {
  GateFunction tanh(GetParam().f32.rnn, 1);
  GateFunction gate(GetParam().f32.gru, 4);
  LstmFunction candidate(GetParam().f32.lstm, LstmFunction::kCandidate, {0, 0, 0, 0}, 0);
  LstmFunction output(GetParam().f32.lstm, LstmFunction::kOutput, {0, 0, 0, 0}, 1);
  Floats x(kAtOnce), y(kAtOnce);
  for (std::size_t i = 0; i < kAtOnce; ++i) {  // quiet and signalling ones
    const std::uint64_t number = 1 + i * 0x1FFF;
    x[i] = float_of(0x7F800000U | (i % 2 << 31) | number);
  }
  const auto all_are_none = [&] {
    return std::all_of(y.begin(), y.end(), [](float v) { return std::isnan(v); });
  };
  tanh(x, &y);
  EXPECT_TRUE(all_are_none());
  gate(x, &y);
  EXPECT_TRUE(all_are_none());
  candidate(x, &y);
  EXPECT_TRUE(all_are_none());
  output(x, &y);
  EXPECT_TRUE(all_are_none());
}

TEST_P(Activations, ZerosAndInfinities) {
  Floats x = {kInfinity, -kInfinity, 0.0F, -0.0F};
  x.resize(kAtOnce);
  Floats y(kAtOnce);
  const auto expect_tanh = [&] {
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[1], -1);
    EXPECT_EQ(bits_of(y[2]), 0U);
    EXPECT_EQ(y[3], 0);
  };
  GateFunction(GetParam().f32.rnn, 1)(x, &y);
  expect_tanh();
  LstmFunction(GetParam().f32.lstm, LstmFunction::kCandidate, {kOne, 0, 0, 0}, 0)(x, &y);
  expect_tanh();
  const auto expect_sigmoid = [&] {
    EXPECT_EQ(y[0], 1);
    EXPECT_GT(y[1], 0);
    EXPECT_LE(y[1], 1.7e-38F);
    EXPECT_EQ(y[2], 0.5F);
    EXPECT_EQ(y[3], 0.5F);
  };
  GateFunction(GetParam().f32.gru, 4)(x, &y);
  expect_sigmoid();
  LstmFunction(GetParam().f32.lstm, LstmFunction::kForget, {0, 0, 0, 0}, 1)(x, &y);
  expect_sigmoid();
}

}  // namespace
}  // namespace tfaot::kernels_test
