// SPDX-License-Identifier: Apache-2.0
// Packed weights, and epilogues. A panel is kPanelBytes wide: 16 float32 or 8 float64 columns. A
// [depth, columns] matrix is packed as [panels, depth, panel columns], the last panel padded with
// zeros. Every CPU level reads the same bytes, one cache line per step.
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

// Applied to each result before it is stored: bias first, then a sum, then the activation, which is
// a relu or another function.
enum Epilogue : std::int64_t {
  kEpilogueNone = 0,
  kEpilogueBias = 1,
  kEpilogueRelu = 2,
  kEpilogueRelu6 = 6,    // at most 6, too
  kEpilogueSum = 8,      // an addend for each result, laid out like the results
  kEpiloguePlaced = 16,  // of a MatMulCall: it says where results go
  kEpilogueShared = 32,  // after all other in[], one to an s64: the address of tasks (abi.h), or 0
  kEpilogueLive = 64,    // of a ConvolutionCall: only some images count
  kEpilogueRowBias = 128,   // of a MatMulCall: a bias for each row, in place of one for each column
  kEpilogueFunction = 256,  // after bias and addends, an in[] to a ResultFunction
};

// Functions of each result of a kernel, after all that Epilogue names.
enum Function : std::int64_t {
  kFunctionNone = 0,
  kFunctionTanh = 1,
  kFunctionSigmoid = 2,
  kFunctionSwish = 3,        // x * sigmoid(x)
  kFunctionGelu = 4,         // as GeluCall, by erf
  kFunctionGeluTanh = 5,     // and by tanh
  kFunctionSoftplus = 6,     // log(1 + exp(x))
  kFunctionLeaky = 7,        // above * x for x > 0, else below * x
  kFunctionElu = 8,          // above * x for x > 0, else below * (exp(x) - 1)
  kFunctionHardSigmoid = 9,  // above * x + below, but at least 0 and at most 1
  kFunctionHardSwish = 10,   // x times that
};

struct ResultFunction {
  std::int64_t kind;  // of Function
  double above, below;
};

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
