// SPDX-License-Identifier: Apache-2.0
// The call of tfaot_resize; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/panels.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// tfaot_resize: each result is a sum of `taps` neighbours along the first dimension and along the
// second, times weights: result[b, i, j, c] = sum over k < taps[0], l < taps[1] of rows[i, k] *
// columns[j, l] * input[b, start[i] + k, start[out[0] + j] + l, c]. in[1]: input[batch, in...,
// channels]; in[2]: rows[out[0], taps[0]], then columns[out[1], taps[1]]. The starts follow the
// struct. Scratch: resize_scratch_bytes().
struct ResizeCall {
  std::int64_t batch, in[2], out[2], taps[2], channels;
};

// One line of the input.
constexpr std::int64_t resize_scratch_bytes(const ResizeCall& call, std::int64_t element_bytes) {
  return call.in[1] * call.channels * element_bytes + kPanelBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
