// SPDX-License-Identifier: Apache-2.0
// Packed weights. A panel is kPanelBytes wide: 16 float32 or 8 float64 columns. A [depth, columns]
// matrix is packed as [panels, depth, panel columns], the last panel padded with zeros. Every CPU
// level reads the same bytes, one cache line per step.
#pragma once

#include <cstdint>

namespace tfaot {
inline namespace v1 {
namespace kernels {

inline constexpr std::int64_t kPanelBytes = 64;

constexpr std::int64_t panel_columns(std::int64_t element_bytes) {
  return kPanelBytes / element_bytes;
}
constexpr std::int64_t panel_count(std::int64_t columns, std::int64_t element_bytes) {
  return (columns + panel_columns(element_bytes) - 1) / panel_columns(element_bytes);
}

// What is done to each result before it is stored: bias first, then a sum, then the activation,
// which is a relu or another function.
enum Epilogue : std::int64_t {
  kEpilogueNone = 0,
  kEpilogueBias = 1,
  kEpilogueRelu = 2,
  kEpilogueRelu6 = 6,    // at most 6, too
  kEpilogueSum = 8,      // an addend for each result, which lie as the results do
  kEpiloguePlaced = 16,  // of a MatMulCall: it says where results go
  kEpilogueShared = 32,  // after all other in[], one to an s64: the address of tasks (abi.h), or 0
  kEpilogueLive = 64,    // of a ConvolutionCall: only some images count
  kEpilogueRowBias = 128,   // of a MatMulCall: a bias for each row, in place of one for each column
  kEpilogueFunction = 256,  // after bias and addends, an in[] to a ResultFunction
};

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
