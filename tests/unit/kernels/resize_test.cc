// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

using kernels::ResizeCall;

class Resize : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Resize, ::testing::ValuesIn(all_levels()), name_of_level);

enum class Weights { kAny, kOnes };

// The call, and its starts for both dimensions.
struct Resizing {
  ResizeCall call = {};
  std::vector<Int> start[2];
  Weights weights[2] = {Weights::kAny, Weights::kAny};

  std::vector<Int> words() const {
    std::vector<Int> words(sizeof call / sizeof(Int));
    std::memcpy(words.data(), &call, sizeof call);
    for (const auto& one : start) words.insert(words.end(), one.begin(), one.end());
    return words;
  }
};

std::string describe_resize(const ResizeCall& c) {
  std::string text = "batch " + std::to_string(c.batch) + " channels " + std::to_string(c.channels);
  for (int d = 0; d < 2; ++d) {
    text += ", " + std::to_string(c.in[d]) + " to " + std::to_string(c.out[d]) + " by " +
            std::to_string(c.taps[d]);
  }
  return text;
}

// Runs the call on random tensors and compares with a plain loop.
template <typename T>
void check(Kernel kernel, const Resizing& resizing, Random& random) {
  const ResizeCall& c = resizing.call;
  SCOPED_TRACE(describe_resize(c));
  Tensor<T> input(c.batch * c.in[0] * c.in[1] * c.channels);
  Tensor<T> result(c.batch * c.out[0] * c.out[1] * c.channels);
  Tensor<T> weights(c.out[0] * c.taps[0] + c.out[1] * c.taps[1]);
  Tensor<T> scratch(kernels::resize_scratch_bytes(c, sizeof(T)) / static_cast<Int>(sizeof(T)), 64);
  random.fill(input);
  random.fill(weights);
  const Int columns = c.out[0] * c.taps[0];
  for (Int i = 0; i < weights.size(); ++i) {
    if (resizing.weights[i < columns ? 0 : 1] == Weights::kOnes) weights[i] = 1;
  }
  const std::vector<Int> words = resizing.words();
  void* out[] = {result.data(), scratch.data()};
  const void* in[] = {words.data(), input.data(), weights.data()};
  kernel(out, in);
  note_bits(result);
  if (!kComparesValues) return;

  for (Int at = 0; at < result.size(); ++at) {
    const Int channel = at % c.channels, j = at / c.channels % c.out[1];
    const Int i = at / c.channels / c.out[1] % c.out[0];
    const Int image = at / c.channels / c.out[1] / c.out[0];
    Sum<T> sum;
    for (Int k = 0; k < c.taps[0]; ++k) {
      for (Int l = 0; l < c.taps[1]; ++l) {
        const Int row = resizing.start[0][static_cast<std::size_t>(i)] + k;
        const Int column = resizing.start[1][static_cast<std::size_t>(j)] + l;
        sum.add(double{weights[i * c.taps[0] + k]} * double{weights[columns + j * c.taps[1] + l]} *
                double{input[((image * c.in[0] + row) * c.in[1] + column) * c.channels + channel]});
      }
    }
    ASSERT_NEAR(double{result[at]}, sum.value(), 2 * sum.tolerance()) << "element " << at;
  }
}

Resizing random_resizing(Random& random) {
  Resizing r;
  r.call.batch = random.between(1, 3);
  r.call.channels = random.between(1, random.one_in(3) ? 70 : 9);
  for (int d = 0; d < 2; ++d) {
    const bool is_kept = random.one_in(4);
    r.call.in[d] = random.between(1, 9);
    r.call.out[d] = is_kept ? r.call.in[d] : random.between(1, 20);
    r.call.taps[d] = is_kept ? 1 : random.between(1, r.call.in[d] < 5 ? r.call.in[d] : 5);
    if (is_kept || random.one_in(3)) r.weights[d] = Weights::kOnes;
    for (Int i = 0; i < r.call.out[d]; ++i) {
      // Repeats are common, and lines that are the same as the one before.
      const bool repeats = i > 0 && random.one_in(2);
      r.start[d].push_back(is_kept   ? i
                           : repeats ? r.start[d].back()
                                     : random.between(0, r.call.in[d] - r.call.taps[d]));
    }
  }
  return r;
}

template <typename T>
void check_random(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < 300 && !::testing::Test::HasFailure(); ++i) {
    check<T>(kernel, random_resizing(random), random);
  }
}

TEST_P(Resize, AddsUpNeighbours) {
  check_random<float>(kernels<float>().resize, 1);
  check_random<double>(kernels<double>().resize, 2);
}

}  // namespace
}  // namespace tfaot::kernels_test
