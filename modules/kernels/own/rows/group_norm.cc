// SPDX-License-Identifier: Apache-2.0
// tfaot_group_norm of abi.h: three passes over the points for the channels of a few groups at a
// time: for the mean, for the variance and the rest of the mean, and to normalise. The first two
// passes add up the same differences from an estimate of the mean, at first a number of the group.
// For equal numbers these are 0, and far from 0 no digits are lost.
#include "simd/kernel.h"
#include "simd/row_groups.h"

namespace {

constexpr int kVectorsTogether = 4;
constexpr Int kPointsTogether = 64;  // whose sums are of float32

// Indexed by channel of a block of whole groups, with room for whole vectors.
struct ChannelNumbers {
  static constexpr Int kMost = kMostGroupChannels + kVectorsTogether * kLanes<float>;
  double sum[kMost], squares[kMost];  // of x - mean
  float mean[kMost], rest[kMost];     // an estimate of the group's mean, and its error
  float variance[kMost];
};

struct ChannelBlock {
  const float* x;
  float* y;
  const float* scale;
  const float* bias;
  Int points, stride;  // all channels
  Int width;           // channels of this block
  float epsilon;
};

// Calls run(vectors, column, last) for a few vectors of channels at a time.
template <typename Run>
TFAOT_INLINE void along_channels(Int width, const Run& run) {
  constexpr Int kWidth = kLanes<float>;
  for (Int column = 0; column < width; column += kVectorsTogether * kWidth) {
    const Int vectors = smaller(ceil_div(width - column, kWidth), kVectorsTogether);
    const Int last = smaller(width - column - (vectors - 1) * kWidth, kWidth);
    for_each<kVectorsTogether>([&](auto i) {
      if (vectors == i + 1) run(Number<i + 1>(), column, last);
    });
  }
}

template <int kVectors>
TFAOT_ONE_COPY void add_up(const ChannelBlock& block, ChannelNumbers& numbers, Int column,
                           Int last) {
  using Row = RowGroup<1, kVectors>;
  constexpr Int kChannels = kVectors * kLanes<float>;
  const auto mean = Row::from(numbers.mean + column, 0, last);
  double sum[kChannels], square[kChannels];
  const float* x = block.x + column;
  for (Int first = 0; first < block.points; first += kPointsTogether) {
    Row sums = {}, squares = {};
    for (Int p = smaller(kPointsTogether, block.points - first); p > 0; --p, x += block.stride) {
      const auto row = Row::from(x, 0, last);
      TFAOT_EACH (i, kVectors) {
        const Floats from_mean = row.v[0][i] - mean.v[0][i];
        sums.v[0][i] += from_mean;
        squares.v[0][i] = multiply_add(from_mean, from_mean, squares.v[0][i]);
      }
    }
    float a[kChannels], b[kChannels];
    sums.to(a, 0, kLanes<float>);
    squares.to(b, 0, kLanes<float>);
    for (Int c = 0; c < kChannels; ++c) {
      sum[c] = (first == 0 ? 0 : sum[c]) + static_cast<double>(a[c]);
      square[c] = (first == 0 ? 0 : square[c]) + static_cast<double>(b[c]);
    }
  }
  for (Int c = 0; c < kChannels; ++c) {
    numbers.sum[column + c] = sum[c];
    numbers.squares[column + c] = square[c];
  }
}

// Adds up x - mean for the rest of the mean and the variance of each group.
void measure_groups(const ChannelBlock& block, ChannelNumbers& numbers, Int channels) {
  along_channels(block.width, [&](auto vectors, Int column, Int last) {
    add_up<vectors>(block, numbers, column, last);
  });
  for (Int first = 0; channels > 1 && first < block.width; first += channels) {
    double sum = 0, squares = 0;
    for (Int c = first; c < first + channels; ++c) {
      sum += numbers.sum[c];
      squares += numbers.squares[c];
    }
    for (Int c = first; c < first + channels; ++c) {
      numbers.sum[c] = sum;
      numbers.squares[c] = squares;
    }
  }
  const double part = 1 / static_cast<double>(block.points * channels);
  for (Int c = 0; c < block.width; ++c) {
    const double rest = part * numbers.sum[c];
    numbers.rest[c] = static_cast<float>(rest);
    numbers.variance[c] = static_cast<float>(part * numbers.squares[c] - rest * rest);
  }
}

template <int kVectors>
TFAOT_ONE_COPY void scale_and_shift(const ChannelBlock& block, const ChannelNumbers& numbers,
                                    Int column, Int last) {
  using Row = RowGroup<1, kVectors>;
  const auto mean = Row::from(numbers.mean + column, 0, last);
  const auto rest = Row::from(numbers.rest + column, 0, last);
  const auto scale = Row::from(block.scale + column, 0, last);
  auto factor = Row::from(numbers.variance + column, 0, last);
  auto shift = Row::from(block.bias + column, 0, last);
  factor.each([&](Floats v, int, int i) { return scale.v[0][i] / roots_of(v + block.epsilon); });
  shift.each(
      [&](Floats v, int, int i) { return multiply_add<-1>(rest.v[0][i], factor.v[0][i], v); });
  const float* x = block.x + column;
  float* y = block.y + column;
  for (Int p = 0; p < block.points; ++p, x += block.stride, y += block.stride) {
    auto row = Row::from(x, 0, last);
    row.each([&](Floats v, int, int i) {
      return multiply_add(v - mean.v[0][i], factor.v[0][i], shift.v[0][i]);
    });
    row.to(y, 0, last);
  }
}

void normalise_block(const ChannelBlock& block, Int channels) {
  ChannelNumbers numbers;
  for (Int first = 0; first < block.width; first += channels) {
    for (Int c = first; c < first + channels; ++c) numbers.mean[c] = block.x[first];
  }
  measure_groups(block, numbers, channels);
  for (Int c = 0; c < block.width; ++c) numbers.mean[c] += numbers.rest[c];
  measure_groups(block, numbers, channels);
  along_channels(block.width, [&](auto vectors, Int column, Int last) {
    scale_and_shift<vectors>(block, numbers, column, last);
  });
}

}  // namespace

extern "C" void TFAOT_KERNEL(group_norm)(void* out, const void** in) {
  const auto& call = call_of<GroupNormCall>(in);
  const auto* const x = operand(in, 1);
  const auto* const scale = operand(in, 2);
  const auto* const bias = operand(in, 3);
  auto* const y = static_cast<float*>(out);
  const Int all = call.groups * call.channels;
  const Int together = kVectorsTogether * kLanes<float> / call.channels;  // groups
  const Int width = (together > 1 ? together : 1) * call.channels;
  const Int blocks = ceil_div(all, width);
  share_rows(call.batch * blocks, 1, call.shared, in + 4, [&](Int first, Int end) {
    for (Int i = first; i < end; ++i) {
      const Int column = i % blocks * width;
      const Int at = i / blocks * call.points * all + column;
      normalise_block({x + at, y + at, scale + column, bias + column, call.points, all,
                       smaller(width, all - column), static_cast<float>(call.epsilon)},
                      call.channels);
    }
  });
}
