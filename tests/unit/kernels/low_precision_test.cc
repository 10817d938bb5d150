// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/shared_calls.h"
#include "tests/unit/kernels/tensors.h"
#include "tests/unit/kernels/windows.h"
#include "tfaot/runtime/detail/machine_ways.h"

#if defined(TFAOT_TEST_TILES)
extern "C" void tfaot_low_precision_f32_emulated(void* out, const void** in);
extern "C" __attribute__((visibility("hidden"))) void tfaot_activation_f32_emulated(
    float* /*y*/, std::int64_t /*row*/, std::int64_t /*rows*/, std::int64_t /*columns*/,
    const tfaot::kernels::ResultFunction* /*function*/) {}
#endif

namespace tfaot::kernels_test {
namespace {

using kernels::ConvolutionCall;
using kernels::LowPrecisionCall;

// Each test runs by the plain way, which every machine has, by all ways of this one, and by AMX's
// tiles in plain C.
class LowPrecision : public EveryLevel {
 protected:
  void TearDown() override {
    tfaot_machine_ways = all_;
    EveryLevel::TearDown();
  }
  template <typename Test>
  void by_every_way(const Test& test) {
    for (const std::uint64_t ways : std::set<std::uint64_t>{0, all_ & ~kTiles, all_}) {
      SCOPED_TRACE(::testing::Message() << "ways " << ways);
      tfaot_machine_ways = ways;
      test(GetParam().f32.low_precision);
    }
#if defined(TFAOT_TEST_TILES)
    if (GetParam().name != "x86-64-v4") return;
    SCOPED_TRACE("emulated tiles");
    tfaot_machine_ways = kTiles;
    test(tfaot_low_precision_f32_emulated);
#endif
  }

 private:
  static constexpr std::uint64_t kTiles = detail::kByteTiles | detail::kBfloat16Tiles;
  const std::uint64_t all_ = tfaot_machine_ways;
};
INSTANTIATE_TEST_SUITE_P(Levels, LowPrecision, ::testing::ValuesIn(all_levels()), name_of_level);

float rounded_to_bfloat16(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7FFFU + (bits >> 16 & 1U)) & 0xFFFF0000U;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Adds tensors of bytes to results whose least number is `low`.
void add_bytes(LowPrecisionCall& call, Int low, Random& random) {
  call.convolution.epilogue &= ~kernels::kEpilogueRelu6;
  call.convolution.epilogue |= kernels::kEpilogueSum;
  call.addend_type = random.one_in(2) ? kernels::kElementInt8 : kernels::kElementUint8;
  call.addend_zero_point =
      random.between(0, 255) - (call.addend_type == kernels::kElementInt8 ? 128 : 0);
  call.sum_zero_point = low + random.between(0, 255);
  call.sum_least = random.one_in(2) ? low : call.sum_zero_point;
  call.sum_most =
      low + 255 - (random.one_in(4) ? random.between(0, low + 255 - call.sum_least) : 0);
}

LowPrecisionCall random_call(Int input_type, Int result_type, Random& random) {
  LowPrecisionCall call{};
  ConvolutionCall& c = call.convolution;
  c.batch = random.between(1, 3);
  c.window = random.one_in(3) ? wide_window(random) : random_window(random, BaseDilation::kNone);
  if (random.one_in(3)) {  // a plain product
    c.window = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}, {}, {1, 1, 1}, {1, 1, 1}};
    c.window.in[2] = c.window.out[2] = random.between(1, 60);
  }
  c.groups = random.one_in(4) ? random.between(2, 3) : 1;
  c.in_channels = c.groups * random.between(1, random.one_in(3) ? 70 : 7);
  c.out_channels =
      c.groups * (random.one_in(3) ? 16 * random.between(1, 7) : random.between(1, 75));
  c.epilogue = random_summing_epilogue(random);
  call.input_type = input_type;
  call.result_type = result_type;
  if (input_type == kernels::kElementUint8) call.padding = random.between(0, 255);
  if (input_type == kernels::kElementInt8) call.padding = random.between(-128, 127);
  if (result_type != kernels::kElementFloat32) {
    const Int low = result_type == kernels::kElementInt8 ? -128 : 0;
    call.zero_point = low + random.between(0, 255);
    call.least = random.one_in(2) ? low : call.zero_point;
    call.most = low + 255 - (random.one_in(4) ? random.between(0, low + 255 - call.least) : 0);
    if (random.one_in(2)) add_bytes(call, low, random);
    call.has_table = random.one_in(3) ? 1 : 0;
  }
  return call;
}

// All tensors of a call. The input and the filter as numbers: [images, pixels, in channels] and
// [taps, in channels of a group, out channels].
struct Operands {
  Operands(const LowPrecisionCall& call, Random& random)
      : c(call.convolution),
        is_whole(call.input_type != kernels::kElementFloat32),
        input(c.batch * elements(c.window.in) * c.in_channels),
        bytes(is_whole ? input.size() : 0),
        planes(c.batch * elements(c.window.in) * call.planes),
        is_one(kernels::is_of_channels(call)),
        packed((is_one ? 1 : c.groups) * kernels::panel_count(columns(), 4) *
                   kernels::low_precision_words(call) * 64,
               64),
        bias(c.out_channels),
        scale(c.out_channels),
        addends(c.batch * elements(c.window.out) * c.out_channels),
        byte_addends(addends.size()),
        table(256),
        scales(3),
        offset(c.out_channels),
        filter(static_cast<std::size_t>(elements(c.window.size) * c.in_channels / c.groups *
                                        c.out_channels)) {
    random.fill(input);
    random.fill(bias);
    random.fill(scale);
    random.fill(addends);
    for (Int i = 0; i < addends.size(); ++i) {
      byte_addends[i] = static_cast<std::uint8_t>(random.between(0, 255));
    }
    for (Int i = 0; i < 256; ++i) table[i] = static_cast<std::uint8_t>(random.between(0, 255));
    for (Int i = 0; i < 3; ++i) scales[i] = 0.01F * static_cast<float>(random.between(5, 300));
    for (Int i = 0; i < c.out_channels; ++i) {
      offset[i] = static_cast<std::int32_t>(random.between(-100000, 100000));
      if (is_whole) scale[i] *= 0.01F;
    }
    for (Int i = 0; is_whole && i < input.size(); ++i) {
      const Int low = call.input_type == kernels::kElementInt8 ? -128 : 0;
      const Int number = low + random.between(0, 255);
      input[i] = static_cast<float>(number);
      bytes[i] = static_cast<std::uint8_t>(number);
    }
    for (float& number : filter) {
      number = is_whole
                   ? static_cast<float>(random.between(-128, 127))
                   : rounded_to_bfloat16(static_cast<float>(random.between(-4000, 4000)) / 3000);
    }
    for (std::size_t i = 0; call.planes > 0 && i < filter.size(); ++i) {
      if (static_cast<Int>(i) / c.out_channels % c.in_channels >= call.planes) filter[i] = 0;
    }
    const Int pixels = elements(c.window.in);
    for (Int i = 0; i < planes.size(); ++i) {
      const Int image = i / pixels / call.planes, plane = i / pixels % call.planes;
      planes[i] = bytes[(image * pixels + i % pixels) * c.in_channels + plane];
    }
    pack_filter(call);
  }

  // Of a part of the packed filter.
  Int columns() const { return is_one ? c.out_channels : c.out_channels / c.groups; }

  // The filter's number for a step of the depth and a column of a group.
  float weight(Int step, Int column) const {
    return filter[static_cast<std::size_t>(step * c.out_channels + column)];
  }

  // The step that is number l of the words; -1: it is none.
  Int step_of(Int l) const {
    const Int lines = c.window.size[1], line_columns = c.window.size[2];
    if (!is_one) return l < kernels::low_precision_depth(c) ? l : -1;
    const Int word = l / 4, line = word / line_columns * 4 + l % 4;
    return line < lines ? line * line_columns + word % line_columns : -1;
  }

  void pack_filter(const LowPrecisionCall& call) {
    const Int width = columns();
    const Int numbers = kernels::low_precision_numbers(call);
    std::uint8_t* to = packed.data();
    for (Int group = 0; group < (is_one ? 1 : c.groups); ++group) {
      for (Int panel = 0; panel < kernels::panel_count(width, 4); ++panel) {
        for (Int word = 0; word < kernels::low_precision_words(call); ++word) {
          for (Int j = panel * 16; j < panel * 16 + 16; ++j) {
            for (Int l = word * numbers; l < (word + 1) * numbers; ++l) {
              const Int step = step_of(l);
              const float number = step >= 0 && j < width ? weight(step, group * width + j) : 0;
              if (is_whole) {
                *to++ = static_cast<std::uint8_t>(static_cast<std::int8_t>(number));
              } else {
                std::uint32_t bits = 0;
                std::memcpy(&bits, &number, sizeof bits);
                *to++ = static_cast<std::uint8_t>(bits >> 16);
                *to++ = static_cast<std::uint8_t>(bits >> 24);
              }
            }
          }
        }
      }
    }
  }

  const ConvolutionCall& c;
  bool is_whole;
  Tensor<float> input;
  Tensor<std::uint8_t> bytes, planes;  // with channels behind the pixels, and before them
  bool is_one;                         // part of the packed filter, for all channels
  Tensor<std::uint8_t> packed;
  Tensor<float> bias, scale, addends;
  Tensor<std::uint8_t> byte_addends, table;
  Tensor<float> scales;
  Tensor<std::int32_t> offset;
  std::vector<float> filter;
};

template <typename Result>
double result_of(const Tensor<Result>& results, Int i) {
  return static_cast<double>(results[i]);
}

// A whole number near to a value, less the zero point.
float steps_within(float value, Int zero, Int least, Int most) {
  return std::clamp(std::nearbyint(value), static_cast<float>(least - zero),
                    static_cast<float>(most - zero));
}

// The whole result for a value, at a place of the addends.
Int whole_result(const LowPrecisionCall& call, const Operands& operands, float value, Int at) {
  float steps = steps_within(value, call.zero_point, call.least, call.most);
  Int zero = call.zero_point;
  if (call.addend_type != kernels::kElementFloat32) {
    const std::uint8_t byte = operands.byte_addends[at];
    const Int addend =
        call.addend_type == kernels::kElementInt8 ? static_cast<std::int8_t>(byte) : Int{byte};
    const float left = steps * operands.scales[0];
    const float right = static_cast<float>(addend - call.addend_zero_point) * operands.scales[1];
    const float sum = left + right;
    steps =
        steps_within(sum / operands.scales[2], call.sum_zero_point, call.sum_least, call.sum_most);
    zero = call.sum_zero_point;
  }
  const Int whole = static_cast<Int>(steps) + zero;
  if (call.has_table == 0) return whole;
  const std::uint8_t byte = operands.table[whole & 0xFF];
  return call.result_type == kernels::kElementInt8 ? static_cast<std::int8_t>(byte) : Int{byte};
}

// Returns how often pieces were handed out.
template <typename Result>
int check(Kernel kernel, LowPrecisionCall call, Random& random, Int live = -1,
          bool is_shared = false) {
  if (live >= 0) {
    call.convolution.epilogue |= kernels::kEpilogueLive;
    call.convolution.live_images = 1;
  }
  const ConvolutionCall& c = call.convolution;
  SCOPED_TRACE(::testing::Message()
               << describe(c.window) << ", " << c.batch << " images, " << c.in_channels << " to "
               << c.out_channels << " channels, " << c.groups << " groups, types "
               << call.input_type << ", " << call.result_type << ", epilogue " << c.epilogue
               << ", addends " << call.addend_type << ", table " << call.has_table);
  const Operands operands(call, random);
  const Int points = elements(c.window.out), width = c.out_channels / c.groups;
  Tensor<Result> result(c.batch * points * c.out_channels);
  const std::size_t scratch_bytes =
      static_cast<std::size_t>(kernels::low_precision_scratch_bytes(call));
  Tensor<float> scratch(static_cast<Int>(scratch_bytes / sizeof(float)), 64);
  std::vector<void*> out = {result.data(), scratch.data()};
  std::vector<const void*> in = {&call, operands.input.data(), operands.packed.data()};
  if (operands.is_whole) {
    in[1] = call.planes > 0 ? operands.planes.data() : operands.bytes.data();
    in.push_back(operands.offset.data());
    in.push_back(operands.scale.data());
  }
  const bool adds_bytes = call.addend_type != kernels::kElementFloat32;
  if (adds_bytes) in.push_back(operands.scales.data());
  if (call.has_table != 0) in.push_back(operands.table.data());
  if ((c.epilogue & kernels::kEpilogueBias) != 0) in.push_back(operands.bias.data());
  if ((c.epilogue & kernels::kEpilogueSum) != 0) {
    in.push_back(adds_bytes ? static_cast<const void*>(operands.byte_addends.data())
                            : operands.addends.data());
  }
  if (live >= 0) in.push_back(&live);
  in.push_back(nullptr);
  kernel(out.data(), in.data());
  if (tfaot_machine_ways == 0) note_bits(result);
  LowPrecisionCall shares = call;
  shares.convolution.epilogue |= kernels::kEpilogueShared;
  const int handed_out =
      is_shared ? expect_the_same_shared(kernel, &call, &shares, in, out, result, scratch_bytes)
                : 0;

  const Int images = live < 0 ? c.batch : std::min(live, c.batch);
  const Int inputs = c.in_channels / c.groups;
  for (Int at = 0; kComparesValues && at < images * points * c.out_channels; ++at) {
    const Int column = at % c.out_channels, point = at / c.out_channels % points;
    const Int image = at / c.out_channels / points, group = column / width;
    Int whole = operands.offset[column];
    Sum<float> sum;
    std::vector<bool> met(static_cast<std::size_t>(elements(c.window.size)));
    const float* const pixels =
        operands.input.data() + image * elements(c.window.in) * c.in_channels;
    const auto add = [&](Int tap, Int pixel) {
      for (Int i = 0; i < inputs; ++i) {
        const float weight = operands.weight(tap * inputs + i, column);
        const float x = pixel < 0 ? static_cast<float>(call.padding)
                                  : pixels[pixel * c.in_channels + group * inputs + i];
        if (operands.is_whole) {
          const Int byte =
              static_cast<Int>(x) + (call.input_type == kernels::kElementInt8 ? 128 : 0);
          whole += byte * static_cast<Int>(weight);
        } else {
          sum.add(double{rounded_to_bfloat16(x)} * double{weight});
        }
      }
    };
    for_each_tap(c.window, point, [&](Int tap, Int pixel) {
      met[static_cast<std::size_t>(tap)] = true;
      add(tap, pixel);
    });
    for (std::size_t tap = 0; tap < met.size(); ++tap) {
      if (!met[tap]) add(static_cast<Int>(tap), -1);
    }
    float value = operands.is_whole ? static_cast<float>(whole) * operands.scale[column] : 0;
    const auto add_last = [&](float term) {
      value += term;
      sum.add(double{term});
    };
    if ((c.epilogue & kernels::kEpilogueBias) != 0) add_last(operands.bias[column]);
    if ((c.epilogue & kernels::kEpilogueSum) != 0 && !adds_bytes) add_last(operands.addends[at]);
    if ((c.epilogue & kernels::kEpilogueRelu) != 0) {
      sum.relu();
      value = std::fmax(value, 0.0F);
    }
    if ((c.epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6) {
      sum.at_most(6);
      value = std::fmin(value, 6.0F);
    }
    if (!operands.is_whole) {
      EXPECT_NEAR(result_of(result, at), sum.value(), 2 * sum.tolerance()) << "element " << at;
    } else if (call.result_type == kernels::kElementFloat32) {
      EXPECT_EQ(static_cast<float>(result[at]), value) << "element " << at;
    } else {
      EXPECT_EQ(result_of(result, at), whole_result(call, operands, value, at)) << "element " << at;
    }
    if (::testing::Test::HasFailure()) break;
  }
  return handed_out;
}

TEST_P(LowPrecision, MultipliesBytesExactly) {
  by_every_way([&](Kernel kernel) {
    Random random(1);
    for (int i = 0; i < 40 && !HasFailure(); ++i) {
      const Int type = random.one_in(2) ? kernels::kElementUint8 : kernels::kElementInt8;
      check<float>(kernel, random_call(type, kernels::kElementFloat32, random), random);
      check<std::uint8_t>(kernel, random_call(type, kernels::kElementUint8, random), random);
      check<std::int8_t>(kernel, random_call(type, kernels::kElementInt8, random), random);
    }
  });
}

// Also long lines, more of them than are in memory at a time, and images in pieces.
TEST_P(LowPrecision, ConvolvesChannelsByThemselves) {
  by_every_way([&](Kernel kernel) {
    Random random(6);
    const auto call_of = [&](Int type, Int result_type) {
      LowPrecisionCall call = random_call(type, result_type, random);
      ConvolutionCall& c = call.convolution;
      c.in_channels = c.groups = c.out_channels;
      return call;
    };
    for (int i = 0; i < 12 && !HasFailure(); ++i) {
      const Int type = random.one_in(2) ? kernels::kElementUint8 : kernels::kElementInt8;
      check<float>(kernel, call_of(type, kernels::kElementFloat32), random);
      check<std::uint8_t>(kernel, call_of(type, kernels::kElementUint8), random);
      check<std::int8_t>(kernel, call_of(type, kernels::kElementInt8), random);
    }
    for (const auto& [lines, columns, channels] :
         std::vector<std::array<Int, 3>>{{9, 30, 17}, {40, 21, 96}, {7, 7, 33}, {5, 5, 64}}) {
      LowPrecisionCall call = call_of(kernels::kElementInt8, kernels::kElementUint8);
      ConvolutionCall& c = call.convolution;
      c.batch = 2;
      c.in_channels = c.out_channels = c.groups = channels;
      for (const Int stride : {1, 2}) {
        const Int size = stride == 1 ? 3 : 5, half = size / 2;
        c.window = {{1, lines, columns}, {1, (lines - 1) / stride + 1, (columns - 1) / stride + 1},
                    {1, size, size},     {1, stride, stride},
                    {0, half, half},     {0, half, half},
                    {1, 1, 1},           {1, 1, 1}};
        check<std::uint8_t>(kernel, call, random, -1, true);
      }
    }
  });
}

// Of images with lines of all lengths, also those whose lines are more than their channels.
TEST_P(LowPrecision, ReadsPlanes) {
  by_every_way([&](Kernel kernel) {
    Random random(8);
    for (int i = 0; i < 40 && !HasFailure(); ++i) {
      const Int type = random.one_in(2) ? kernels::kElementUint8 : kernels::kElementInt8;
      LowPrecisionCall call = random_call(type, kernels::kElementUint8, random);
      ConvolutionCall& c = call.convolution;
      c.groups = 1;
      c.in_channels = 4;
      call.planes = random.between(1, 4);
      const Int lines = random.between(1, 20), columns = random.between(1, 70);
      const Int size = random.between(2, 5), stride = random.between(1, 2);
      const bool is_line = lines < 3;
      c.window = {{1, lines, columns},
                  {1, is_line ? lines : (lines - 1) / stride + 1, (columns - 1) / stride + 1},
                  {1, is_line ? 1 : size, size},
                  {1, is_line ? 1 : stride, stride},
                  {0, is_line ? 0 : size / 2, size / 2},
                  {0, is_line ? 0 : size - 1 - size / 2, size - 1 - size / 2},
                  {1, 1, 1},
                  {1, 1, 1}};
      check<std::uint8_t>(kernel, call, random, -1, i % 4 == 0);
    }
  });
}

TEST_P(LowPrecision, RoundsFloatsToBfloat16) {
  by_every_way([&](Kernel kernel) {
    Random random(2);
    for (int i = 0; i < 50 && !HasFailure(); ++i) {
      check<float>(kernel, random_call(kernels::kElementFloat32, kernels::kElementFloat32, random),
                   random);
    }
  });
}

TEST_P(LowPrecision, LeavesOutImagesOfPadding) {
  by_every_way([&](Kernel kernel) {
    Random random(3);
    for (Int live = 0; live <= 3; ++live) {
      for (const Int type : {kernels::kElementFloat32, kernels::kElementUint8}) {
        check<float>(kernel, random_call(type, kernels::kElementFloat32, random), random, live);
      }
    }
  });
}

LowPrecisionCall large_product(Int type, Int rows) {
  LowPrecisionCall call{};
  call.convolution = {
      1,   {{1, 1, rows}, {1, 1, rows}, {1, 1, 1}, {1, 1, 1}, {}, {}, {1, 1, 1}, {1, 1, 1}},
      300, 70,
      1,   kernels::kEpilogueBias,
      0};
  call.input_type = type;
  return call;
}

TEST_P(LowPrecision, LooksUpResultsOfTheOtherType) {
  by_every_way([&](Kernel kernel) {
    Random random(7);
    for (const Int columns : {64, 70}) {
      LowPrecisionCall call = large_product(kernels::kElementUint8, 20);
      call.convolution.out_channels = columns;
      call.has_table = 1;
      call.zero_point = 10;
      call.most = 255;
      call.result_type = kernels::kElementInt8;
      check<std::int8_t>(kernel, call, random);
      call.zero_point = call.least = -128;
      call.most = 127;
      call.result_type = kernels::kElementUint8;
      check<std::uint8_t>(kernel, call, random);
    }
  });
}

// More rows than are in memory at a time.
TEST_P(LowPrecision, SharesItsWorkWithoutAnotherResult) {
  by_every_way([&](Kernel kernel) {
    Random random(4);
    for (const Int type : {kernels::kElementFloat32, kernels::kElementUint8}) {
      EXPECT_GT(check<float>(kernel, large_product(type, 301), random, -1, true), 0);
    }
  });
}

// A row alone, at the end of a tile, and beside others.
TEST_P(LowPrecision, GivesARowTheSameBitsInAnyBatch) {
  by_every_way([&](Kernel kernel) {
    for (const Int type : {kernels::kElementFloat32, kernels::kElementUint8}) {
      Random random(5);
      const LowPrecisionCall all = large_product(type, 61);
      const Operands operands(all, random);
      const auto run = [&](Int first, Int rows) {
        const LowPrecisionCall call = large_product(type, rows);
        Tensor<float> scratch(kernels::low_precision_scratch_bytes(call) / 4, 64);
        std::vector<float> result(static_cast<std::size_t>(rows * 70));
        void* out[] = {result.data(), scratch.data()};
        const void* bytes = operands.bytes.data() + first * 300;
        std::vector<const void*> in = {&call, operands.input.data() + first * 300,
                                       operands.packed.data()};
        if (operands.is_whole) {
          in[1] = bytes;
          in.push_back(operands.offset.data());
          in.push_back(operands.scale.data());
        }
        in.push_back(operands.bias.data());
        kernel(out, in.data());
        return result;
      };
      const std::vector<float> expected = run(0, 61);
      for (const Int rows : {1, 2, 3, 4, 5, 6, 7, 13}) {
        for (const Int first : {0, 1, 17, 48}) {
          const std::vector<float> some = run(first, rows);
          EXPECT_EQ(std::memcmp(some.data(), expected.data() + first * 70, some.size() * 4), 0)
              << rows << " rows from " << first;
        }
      }
    }
  });
}

// Ties go to the even whole number, and infinities and NaN stay.
TEST_P(LowPrecision, RoundsToBfloat16AsTheTypeSays) {
  const std::vector<std::pair<float, float>> cases = {
      {1.0F + 0x1p-8F, 1.0F}, {1.0F + 0x3p-8F, 1.0F + 0x1p-6F}, {0x1.01p0F + 0x1p-20F, 0x1.02p0F},
      {kInfinity, kInfinity}, {-kInfinity, -kInfinity},         {-0x1.03p5F, -0x1.04p5F}};
  by_every_way([&](Kernel kernel) {
    LowPrecisionCall call = large_product(kernels::kElementFloat32, 1);
    call.convolution.in_channels = call.convolution.out_channels = 1;
    call.convolution.epilogue = 0;
    Tensor<std::uint16_t> packed(32, 64);
    for (Int i = 0; i < 32; ++i) packed[i] = i == 0 ? 0x3F80 : 0;
    Tensor<float> scratch(kernels::low_precision_scratch_bytes(call) / 4, 64);
    const auto run = [&](float x) {
      float result = 0;
      void* out[] = {&result, scratch.data()};
      const void* in[] = {&call, &x, packed.data()};
      kernel(out, in);
      return result;
    };
    for (const auto& [x, expected] : cases) EXPECT_EQ(run(x), expected) << x;
    EXPECT_TRUE(std::isnan(run(kNaN)));
  });
}

}  // namespace
}  // namespace tfaot::kernels_test
