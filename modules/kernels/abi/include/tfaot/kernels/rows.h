// SPDX-License-Identifier: Apache-2.0
// The calls of kernels that go over rows of numbers: tfaot_softmax, tfaot_layer_norm,
// tfaot_group_norm, tfaot_row_sum, tfaot_gelu and tfaot_quick_gelu. abi.h says what calls are. All
// have float32 alone and no scratch: `out` is the result. `shared` is kEpilogueShared, or 0.
#pragma once

#include <cstdint>

namespace tfaot {
inline namespace v1 {
namespace kernels {

// tfaot_softmax: result[rows, columns] = exp(y - the row's largest y), over their sum in the row, y
// = scale * x. in[1]: x[rows, columns]. Results below 1e-38 may be 0, as may those of an x whose
// distance from the largest exceeds the largest float.
struct SoftmaxCall {
  std::int64_t rows, columns;
  double scale;
  std::int64_t shared = 0;
};

// tfaot_layer_norm: result[rows, columns] = (x - mean) / sqrt(variance + epsilon) * scale + bias,
// mean and variance of the row. in[1]: x[rows, columns], in[2]: scale[columns], in[3]:
// bias[columns].
struct LayerNormCall {
  std::int64_t rows, columns;
  double epsilon;
  std::int64_t shared = 0;
};

// Most channels of a group.
inline constexpr std::int64_t kMostGroupChannels = 1024;

// tfaot_group_norm: result[batch, points, groups, channels] = (x - mean) / sqrt(variance + epsilon)
// * scale + bias, mean and variance of all points and channels of an element of the batch and a
// group. in[1]: x, in[2]: scale[groups, channels], in[3]: bias[groups, channels].
struct GroupNormCall {
  std::int64_t batch, points, groups;
  std::int64_t channels;  // of a group, at most kMostGroupChannels
  double epsilon;
  std::int64_t shared = 0;
};

enum RowSum : std::int64_t {
  kRowSumOfNumbers = 0,
  kRowSumOfSquares = 1,
  kRowSumOfSquaredDifferences = 2,  // of x and y; in[2]: y[rows, columns]
};

// tfaot_row_sum: result[rows], the sum over each row. in[1]: x[rows, columns].
struct RowSumCall {
  std::int64_t rows, columns;
  std::int64_t form;  // of RowSum
  std::int64_t shared = 0;
};

enum GeluForm : std::int64_t {
  kGeluErf = 0,   // x * (1 + erf(x / sqrt(2))) / 2
  kGeluTanh = 1,  // x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
};

// tfaot_gelu: result[size] = gelu of each of x[size], right to 4e-7 times x, and to 4e-7 times the
// smaller of -x and 5.55 for negative ones. in[1]: x.
struct GeluCall {
  std::int64_t size;
  std::int64_t form;  // of GeluForm
  std::int64_t shared = 0;
};

// tfaot_quick_gelu: result[size] = x * sigmoid(slope * x) of each of x[size], right to (|slope * x|
// + 4) * 1.2e-7 times the result, and 0 where slope * x < -87. in[1]: x.
struct QuickGeluCall {
  std::int64_t size;
  double slope;
  std::int64_t shared = 0;
};

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
