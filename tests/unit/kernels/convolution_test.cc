// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tests/unit/kernels/convolution_filters.h"
#include "tests/unit/kernels/functions.h"
#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/shared_calls.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

class Convolution : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Convolution, ::testing::ValuesIn(all_levels()), name_of_level);

std::string describe_convolution(const ConvolutionCall& c) {
  return "batch " + std::to_string(c.batch) + " channels " + std::to_string(c.in_channels) + " " +
         std::to_string(c.out_channels) + " groups " + std::to_string(c.groups) + " epilogue " +
         std::to_string(c.epilogue) + kernels_test::describe(c.window);
}

// Runs the call on random tensors and compares with a plain loop; then the same call shared. `live`
// images count: the others are NaN, and their results stay as they were.
template <typename T>
void check_live(Kernel kernel, Filter kind, const ConvolutionCall& c, Int live, Random& random) {
  SCOPED_TRACE(describe_convolution(c));
  const Window& w = c.window;
  const Int group_in = c.in_channels / c.groups, group_out = c.out_channels / c.groups;
  const Int depth = elements(w.size) * group_in;
  Tensor<T> input(c.batch * elements(w.in) * c.in_channels), filter(depth * c.out_channels);
  random.fill(input);
  random.fill(filter);
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  const Int image_elements = elements(w.in) * c.in_channels;
  for (Int i = live * image_elements; i < input.size(); ++i) input[i] = kNan;
  const std::vector<T> made = filter_of(kind, filter, c);
  Tensor<T> packed(static_cast<Int>(made.size()), 64);
  std::copy(made.begin(), made.end(), packed.data());
  Tensor<T> bias(c.out_channels), result(c.batch * elements(w.out) * c.out_channels);
  Tensor<T> addends(result.size());
  random.fill(addends);
  const Int scratch_bytes = scratch_bytes_of(kind, c, sizeof(T));
  Tensor<T> scratch(scratch_bytes / static_cast<Int>(sizeof(T)), 64);
  random.fill(bias);
  void* out[] = {result.data(), scratch.data()};
  const kernels::WinogradCall call = winograd_call(kind, c);
  std::vector<const void*> in = {&call, input.data(), packed.data()};
  if ((c.epilogue & kernels::kEpilogueBias) != 0) in.push_back(bias.data());
  if ((c.epilogue & kernels::kEpilogueSum) != 0) in.push_back(addends.data());
  const ResultFunction function = random_function(random);
  const bool has_function = (c.epilogue & kernels::kEpilogueFunction) != 0;
  if (has_function) in.push_back(&function);
  const Int live_rows = c.live_images == 0 ? 0 : live / c.live_images;
  if ((c.epilogue & kernels::kEpilogueLive) != 0) in.push_back(&live_rows);
  constexpr T kUntouched = 77;
  for (Int i = 0; i < result.size(); ++i) result[i] = kUntouched;
  kernel(out, in.data());
  note_bits(result);

  if (kComparesValues) {
    // Channel by channel in the innermost loop, so that sums do not wait for each other.
    std::vector<Sum<T>> sums(static_cast<std::size_t>(result.size() / c.batch * live));
    for (Int row = 0; row < live * elements(w.out); ++row) {
      Sum<T>* const row_sums = sums.data() + row * c.out_channels;
      for_each_tap(w, row % elements(w.out), [&](Int tap, Int pixel) {
        const T* const x = &input[(row / elements(w.out) * elements(w.in) + pixel) * c.in_channels];
        for (Int l = 0; l < c.in_channels; ++l) {
          const T* const weights = &filter[(tap * group_in + l % group_in) * c.out_channels];
          const Int first = l / group_in * group_out;
          for (Int channel = first; channel < first + group_out; ++channel) {
            row_sums[channel].add(double{x[l]} * double{weights[channel]});
          }
        }
      });
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto at = static_cast<Int>(i);
      if ((c.epilogue & kernels::kEpilogueBias) != 0)
        sums[i].add(double{bias[at % c.out_channels]});
      if ((c.epilogue & kernels::kEpilogueSum) != 0) sums[i].add(double{addends[at]});
      if ((c.epilogue & kernels::kEpilogueRelu) != 0) sums[i].relu();
      if ((c.epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6) sums[i].at_most(6);
    }
    // By Winograd's way, a result has parts of all that its tile covers, be its own window empty.
    double largest = static_cast<double>(depth) * double{std::numeric_limits<T>::epsilon()};
    for (const Sum<T>& sum : sums) largest = std::max(largest, 4 * sum.tolerance());
    for (Int i = 0; i < result.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (at >= sums.size()) {
        ASSERT_EQ(result[i], kUntouched) << "element " << i;
        continue;
      }
      const double tolerance = is_for_winograd(kind) ? largest : sums[at].tolerance();
      const double x = sums[at].value();
      const double y = has_function ? function_of(function, x) : x;
      ASSERT_NEAR(double{result[i]}, y, has_function ? error_of(function, x, tolerance) : tolerance)
          << "element " << i << ", function " << function.kind;
    }
  }
  if (kind == Filter::kPackedByPhase || kind == Filter::kAsItIs) return;
  kernels::WinogradCall shares = call;
  shares.convolution.epilogue |= kernels::kEpilogueShared;
  in.push_back(nullptr);
  expect_the_same_shared(kernel, &call, &shares, in, {result.data(), scratch.data()}, result,
                         static_cast<std::size_t>(scratch_bytes));
}

template <typename T>
void check(Kernel kernel, Filter kind, const ConvolutionCall& c, Random& random) {
  check_live<T>(kernel, kind, c, c.batch, random);
}

ConvolutionCall random_convolution(Random& random, BaseDilation dilation = BaseDilation::kAny) {
  ConvolutionCall c = {};
  c.window = random_window(random, dilation);
  c.batch = random.between(1, 3);
  c.groups = random.one_in(3) ? random.between(2, 4) : 1;
  c.in_channels = c.groups * random.between(1, random.one_in(3) ? 20 : 4);
  c.out_channels = c.groups * random.between(1, random.one_in(3) ? 40 : 8);
  c.epilogue = random_epilogue(random);
  return c;
}

bool has_base_dilation(const Window& w) {
  return w.base_dilation[0] * w.base_dilation[1] * w.base_dilation[2] != 1;
}

template <typename T>
void check_random(Kernel kernel, Filter kind, Int count, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const bool is_plain = kind == Filter::kPacked;
    ConvolutionCall c =
        random_convolution(random, is_plain ? BaseDilation::kNone : BaseDilation::kAny);
    if (is_plain && random.one_in(2)) c.epilogue |= kernels::kEpilogueSum;
    if (random.one_in(3)) c.epilogue = with_function<T>(c.epilogue);
    check<T>(kernel, kind, c, random);
  }
}

template <typename T>
void check_random_depthwise(Kernel kernel, Int count, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    ConvolutionCall c = random_convolution(random);
    const bool is_wide = random.one_in(2);
    if (is_wide) c.window = wide_window(random);
    const Int most = random.one_in(is_wide ? 2 : 5) ? 150 : 20;
    c.groups = c.in_channels = c.out_channels = random.between(1, most);
    if (random.one_in(2) && !has_base_dilation(c.window)) c.epilogue = with_function<T>(c.epilogue);
    check<T>(kernel, Filter::kAsItIs, c, random);
  }
}

template <typename T>
void check_random_groups(Kernel kernel, Int count, std::uint32_t seed) {
  constexpr Int kSizes[][2] = {{1, 2}, {1, 4}, {2, 2}, {4, 4}};
  Random random(seed);
  for (Int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    ConvolutionCall c = random_convolution(random);
    if (random.one_in(3)) c.window = wide_window(random);
    const auto& [inputs, outputs] = kSizes[random.between(0, 3)];
    c.groups = random.between(2, random.one_in(3) ? 40 : 5);
    c.in_channels = c.groups * inputs;
    c.out_channels = c.groups * outputs;
    ASSERT_TRUE(is_grouped(c));
    check<T>(kernel, Filter::kAsItIs, c, random);
  }
}

TEST_P(Convolution, IsThatOfAPlainLoop) {
  check_random<float>(kernels<float>().convolution, Filter::kPacked, 250, 1);
  check_random<double>(kernels<double>().convolution, Filter::kPacked, 150, 2);
}

TEST_P(Convolution, ByPhasesIsThatOfAPlainLoop) {
  const auto by_phase = Filter::kPackedByPhase;
  check_random<float>(kernels<float>().transposed_convolution, by_phase, 400, 7);
  check_random<double>(kernels<double>().transposed_convolution, by_phase, 200, 8);
}

TEST_P(Convolution, OfEachChannelIsThatOfAPlainLoop) {
  check_random_depthwise<float>(kernels<float>().depthwise, 160, 3);
  check_random_depthwise<double>(kernels<double>().depthwise, 120, 4);
}

// Rows of every length up to more than two tiles, with windows that reach beyond either end of
// them.
TEST_P(Convolution, OfEachChannelAtTheEdgesOfAnImage) {
  Random random(13);
  ConvolutionCall c = {};
  c.batch = 1;
  Window& w = c.window;
  for (Int i = 0; i < 1500 && !HasFailure(); ++i) {
    for (int d = 0; d < kSpatial; ++d) {
      w.base_dilation[d] = 1;
      w.in[d] = d == 0 ? 1 : random.between(1, d == 1 ? 4 : 18);
      w.size[d] = d == 0 ? 1 : d == 1 ? random.between(1, 3) : 3 + 2 * random.between(0, 2);
      w.window_dilation[d] = d == 2 && random.one_in(3) ? random.between(1, 9) : 1;
      w.stride[d] = d == 0 ? 1 : random.between(1, 2);
      const Int span = (w.size[d] - 1) * w.window_dilation[d];
      const bool is_usual = random.one_in(2);  // as much on both sides
      w.pad_low[d] = is_usual ? span / 2 : random.between(0, span);
      w.pad_high[d] = is_usual ? span / 2 : std::max<Int>(span + 1 - w.in[d], 0);
      w.out[d] = (w.in[d] + w.pad_low[d] + w.pad_high[d] - span - 1) / w.stride[d] + 1;
    }
    c.groups = c.in_channels = c.out_channels = random.between(1, 40);
    c.epilogue = random_epilogue(random);
    check<float>(kernels<float>().depthwise, Filter::kAsItIs, c, random);
    if (i % 4 == 0) check<double>(kernels<double>().depthwise, Filter::kAsItIs, c, random);
    ASSERT_FALSE(HasFailure()) << describe_convolution(c);
  }
}

TEST_P(Convolution, OfSmallGroupsIsThatOfAPlainLoop) {
  check_random_groups<float>(kernels<float>().grouped_convolution, 200, 5);
  check_random_groups<double>(kernels<double>().grouped_convolution, 120, 6);
}

ConvolutionCall of_image(Int size, Int window, Int in_channels, Int out_channels) {
  ConvolutionCall c = {};
  c.batch = 2;
  c.in_channels = in_channels;
  c.out_channels = out_channels;
  c.groups = 1;
  for (int d = 0; d < kSpatial; ++d) {
    Window& w = c.window;
    w.stride[d] = w.base_dilation[d] = w.window_dilation[d] = 1;
    w.in[d] = w.out[d] = d == 0 ? 1 : size;
    w.size[d] = d == 0 ? 1 : window;
    w.pad_low[d] = w.pad_high[d] = d == 0 ? 0 : window / 2;
  }
  c.epilogue = kernels::kEpilogueBias | kernels::kEpilogueRelu;
  return c;
}

// A transposed convolution: as of images, each of its elements spread over `size` results.
ConvolutionCall transposed(Int in, Int size, Int stride, Int in_channels, Int out_channels) {
  ConvolutionCall c = of_image(in, size, in_channels, out_channels);
  for (int d = 1; d < kSpatial; ++d) {
    c.window.base_dilation[d] = stride;
    c.window.out[d] = in * stride;
    c.window.pad_low[d] = size - 1 - (size - stride) / 2;
    c.window.pad_high[d] = in * stride - (in - 1) * stride - 1 + size - 1 - c.window.pad_low[d];
  }
  return c;
}

// Sizes as in networks, lines of more results than a block has rows, and cut results.
TEST_P(Convolution, ByPhasesIsRightForImages) {
  Random random(9);
  for (ConvolutionCall c :
       {transposed(8, 2, 2, 32, 16), transposed(16, 2, 2, 7, 40), transposed(14, 3, 2, 16, 24),
        transposed(7, 4, 2, 5, 33), transposed(1, 2, 2, 3, 8), transposed(12, 2, 3, 4, 7),
        transposed(6, 5, 3, 20, 20), transposed(490, 2, 2, 1, 2)}) {
    const auto by_phase = Filter::kPackedByPhase;
    check<float>(kernels<float>().transposed_convolution, by_phase, c, random);
    check<double>(kernels<double>().transposed_convolution, by_phase, c, random);
    --c.window.out[1];
    --c.window.out[2];
    check<float>(kernels<float>().transposed_convolution, by_phase, c, random);
  }
}

// All images are one product, whose blocks begin anywhere in a line of the image.
TEST_P(Convolution, IsRightWithoutPadding) {
  Random random(6);
  for (const Int line : {12, 14, 16, 24, 30, 42, 48}) {
    ConvolutionCall c = of_image(line + 2, 3, 2, 7);
    for (int d = 1; d < kSpatial; ++d) {
      c.window.out[d] = line;
      c.window.pad_low[d] = c.window.pad_high[d] = 0;
    }
    check<float>(kernels<float>().convolution, Filter::kPacked, c, random);
    check<double>(kernels<double>().convolution, Filter::kPacked, c, random);
  }
}

// Sizes as in networks; more positions and taps than fit into one block of the product.
TEST_P(Convolution, IsRightWhenItIsCutIntoBlocks) {
  Random random(5);
  for (const ConvolutionCall& c :
       {of_image(28, 3, 3, 16), of_image(14, 3, 16, 24), of_image(6, 3, 200, 17),
        of_image(5, 1, 700, 20), of_image(18, 1, 5, 33), of_image(19, 19, 1, 2),
        of_image(12, 3, 3, 8), of_image(32, 3, 2, 5), of_image(24, 3, 2, 9), of_image(14, 3, 3, 12),
        of_image(28, 5, 2, 20), of_image(7, 3, 64, 7)}) {
    check<float>(kernels<float>().convolution, Filter::kPacked, c, random);
    check<double>(kernels<double>().convolution, Filter::kPacked, c, random);
    ConvolutionCall sum = c;
    sum.epilogue |= kernels::kEpilogueSum;
    check<float>(kernels<float>().convolution, Filter::kPacked, sum, random);
    ConvolutionCall taps = c;  // no runs of rows: as many taps as window elements
    for (Int& dilation : taps.window.window_dilation) dilation = 2;
    for (int d = 1; d < kSpatial; ++d) {
      taps.window.pad_low[d] = taps.window.pad_high[d] = taps.window.size[d] - 1;
    }
    check<float>(kernels<float>().convolution, Filter::kPacked, taps, random);
    ConvolutionCall function = taps;
    function.epilogue = with_function<float>(taps.epilogue);
    check<float>(kernels<float>().convolution, Filter::kPacked, function, random);
    taps.epilogue |= kernels::kEpilogueSum;
    check<float>(kernels<float>().convolution, Filter::kPacked, taps, random);
  }
}

// Of 3x3, 3x1 and 1x3; images of any size, also in planes; any padding.
ConvolutionCall random_winograd_call(Random& random) {
  const Int in = random.between(1, 40), out = random.between(1, 40);
  ConvolutionCall c = of_image(1, 3, in, out);
  const Int form = random.between(0, 2);
  c.batch = random.between(1, 3);
  c.window.in[0] = c.window.out[0] = random.one_in(4) ? 2 : 1;
  for (int d = 1; d < kSpatial; ++d) {
    Window& w = c.window;
    w.size[d] = form == d ? 1 : 3;
    w.pad_low[d] = w.size[d] == 1 ? 0 : random.between(-1, 3);
    w.pad_high[d] = w.size[d] == 1 ? 0 : random.between(-1, 3);
    w.out[d] = random.between(1, random.one_in(4) ? 70 : 9);
    w.in[d] = w.out[d] + w.size[d] - 1 - w.pad_low[d] - w.pad_high[d];
    if (w.in[d] < 1) {
      w.out[d] += 1 - w.in[d];
      w.in[d] = 1;
    }
  }
  c.epilogue = random_epilogue(random);
  if (random.one_in(2)) c.epilogue |= kernels::kEpilogueSum;
  if (random.one_in(3)) c.epilogue = with_function<float>(c.epilogue);
  return c;
}

TEST_P(Convolution, ByWinogradIsThatOfAPlainLoop) {
  Random random(10);
  const Kernel kernel = GetParam().f32.winograd_convolution;
  for (const Filter kind : {Filter::kForTwo, Filter::kForFour}) {
    for (int i = 0; i < 100 && !HasFailure(); ++i) {
      check<float>(kernel, kind, random_winograd_call(random), random);
    }
    // More tiles than are processed at a time.
    for (const ConvolutionCall& c :
         {of_image(14, 3, 96, 64), of_image(40, 3, 16, 16), of_image(7, 3, 160, 40)}) {
      check<float>(kernel, kind, c, random);
    }
  }
}

// A batch of three rows with one or two images each, from no row that counts to all.
template <typename T>
void check_padded(Kernel kernel, Filter kind, ConvolutionCall c, Random& random) {
  c.live_images = random.between(1, 2);
  c.batch = 3 * c.live_images;
  c.epilogue |= kernels::kEpilogueLive;
  for (Int rows = 0; rows <= 3; ++rows)
    check_live<T>(kernel, kind, c, rows * c.live_images, random);
}

TEST_P(Convolution, LeavesOutImagesOfPadding) {
  Random random(11);
  for (int i = 0; i < 12 && !HasFailure(); ++i) {
    ConvolutionCall c = random_convolution(random);
    check_padded<float>(kernels<float>().transposed_convolution, Filter::kPackedByPhase, c, random);
    c = random_convolution(random, BaseDilation::kNone);
    if (random.one_in(2)) c.epilogue |= kernels::kEpilogueSum;
    check_padded<float>(kernels<float>().convolution, Filter::kPacked, c, random);
    check_padded<double>(kernels<double>().convolution, Filter::kPacked, c, random);
    for (const Filter kind : {Filter::kForTwo, Filter::kForFour}) {
      check_padded<float>(GetParam().f32.winograd_convolution, kind, random_winograd_call(random),
                          random);
    }
    c.epilogue &= ~std::int64_t{kernels::kEpilogueSum};
    c.groups = c.in_channels = c.out_channels = random.between(1, 40);
    check_padded<float>(kernels<float>().depthwise, Filter::kAsItIs, c, random);
  }
}

// As in networks: images of one and several, whose parts are handed out in every way that there is.
TEST_P(Convolution, SharesItsWork) {
  Random random(12);
  for (const Int batch : {1, 2, 5}) {
    for (ConvolutionCall c : {of_image(14, 3, 16, 40), of_image(20, 1, 30, 70),
                              of_image(9, 5, 8, 33), of_image(7, 1, 130, 200)}) {
      c.batch = batch;
      check<float>(kernels<float>().convolution, Filter::kPacked, c, random);
      ConvolutionCall function = c;
      function.epilogue = with_function<float>(c.epilogue);
      check<float>(kernels<float>().convolution, Filter::kPacked, function, random);
      if (batch == 2) check<double>(kernels<double>().convolution, Filter::kPacked, c, random);
    }
    for (ConvolutionCall c : {of_image(7, 3, 70, 90), of_image(14, 3, 40, 24),
                              of_image(28, 3, 20, 24), of_image(30, 3, 16, 16)}) {
      c.batch = batch;
      for (const Filter kind : {Filter::kForTwo, Filter::kForFour}) {
        check<float>(GetParam().f32.winograd_convolution, kind, c, random);
      }
    }
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
