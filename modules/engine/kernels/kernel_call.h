// SPDX-License-Identifier: Apache-2.0
// A call of one of our kernels (tfaot/kernels/abi.h) as HLO: a custom call whose first operand is
// the call's struct, with all tensors row-major. Its target is the kernel's name without a CPU
// level; object_code adds the level. Used by one thread.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/hlo.h"
#include "tfaot/kernels/dense_chain.h"

namespace tfaot::toolkit::engine {

inline constexpr std::int64_t kLineBytes = 64;  // of the caches
// XLA's loops reduce shorter rows as fast.
inline constexpr std::int64_t kFewestColumns = 8;

struct KernelCall {
  std::string kernel;                          // "matmul"
  std::vector<std::int64_t> words;             // the struct
  std::vector<xla::HloInstruction*> operands;  // the tensors
  Dimensions result;                           // its shape; its type is that of the first operand
  std::int64_t scratch_bytes = 0;              // 0: the kernel has none
  std::vector<xla::Shape> more_results = {};   // only with scratch
};

// Calls are structs of 64-bit numbers only.
template <typename Call>
std::vector<std::int64_t> as_words(const Call& call) {
  static_assert(sizeof(Call) % sizeof(std::int64_t) == 0);
  std::vector<std::int64_t> words(sizeof(Call) / sizeof(std::int64_t));
  std::memcpy(words.data(), &call, sizeof(Call));
  return words;
}

bool is_kernel_call(const xla::HloInstruction& instruction);
// "matmul_f32". REQUIRES: is_kernel_call().
std::string_view kernel_name(const xla::HloInstruction& kernel);

enum class KernelKind {
  kMatMul,       // a MatMulCall, also as part of a NarrowMatMulCall
  kDenseChain,   // a DenseChainCall
  kConvolution,  // a ConvolutionCall, also transposed or part of a WinogradCall
  kDepthwise,    // a ConvolutionCall, each channel or group alone
  kPool,         // a PoolCall
  kResize,       // a ResizeCall
  kForest,       // a ForestCall
  kRecurrent,    // a RecurrentCall
  kTopK,         // a TopKCall
  kGather,       // a GatherCall
  kAttention,    // an AttentionCall
  kRows,         // one of rows.h: its first number counts rows, or all elements
  kOther,        // another kernel, or no kernel call
};
KernelKind kernel_kind(const xla::HloInstruction& instruction);

std::vector<std::int64_t> call_words(const xla::HloInstruction& kernel);

// The struct of a kernel call. Structs with the same first members may be read as each other.
template <typename Call>
Call call_of(const xla::HloInstruction& kernel) {
  Call call{};
  const auto words = call_words(kernel);
  std::memcpy(static_cast<void*>(&call), words.data(),
              std::min(sizeof call, words.size() * sizeof(std::int64_t)));
  return call;
}

// Whether it leaves out rows of padding (live_rows.h).
bool skips_padding(const xla::HloInstruction& kernel);

// Where a product or a convolution says what is done to its results (kernels::Epilogue); none: it
// is another kernel.
std::optional<std::size_t> word_of_epilogue(const xla::HloInstruction& kernel);
// The function of a kernel's results; kFunctionNone: there is none.
kernels::ResultFunction result_function(const xla::HloInstruction& kernel);

// The layers of a chain, in order. REQUIRES: a kDenseChain.
std::vector<kernels::DenseLayer> dense_layers(const xla::HloInstruction& kernel);

struct ForestSize {
  std::int64_t trees = 0;
  std::int64_t depth = 0;  // of the deepest
  std::int64_t steps = 0;  // of all rows through all trees
};
// REQUIRES: a kForest.
ForestSize forest_size(const xla::HloInstruction& kernel);

// How many products of the state's size a step of a recurrent cell has. REQUIRES: a kRecurrent.
std::int64_t recurrent_gates(const xla::HloInstruction& kernel);
// Panels of the state in a block of weights. REQUIRES: a kRecurrent.
std::int64_t recurrent_panels(const xla::HloInstruction& kernel);

std::int64_t element_bytes(const xla::HloInstruction& tensor);

// Adds the call and returns its result. `model` is the instruction it replaces.
xla::HloInstruction* add_kernel_call(const KernelCall& call, const xla::HloInstruction& model);
// Another result of a call, by what add_kernel_call() gave.
xla::HloInstruction* result_of_kernel(xla::HloInstruction* first, std::int64_t number);

// Puts a call with other operands in the place of `kernel`.
Status replace_operands(xla::HloInstruction& kernel,
                        const std::vector<xla::HloInstruction*>& operands);
// Puts a call with another struct, and with an operand after all others, in the place of `kernel`.
Status extend_kernel_call(xla::HloInstruction& kernel, const std::vector<std::int64_t>& words,
                          xla::HloInstruction* operand);

// The struct of a call that shares its work if there are tasks (abi.h); empty: the kernel cannot.
std::vector<std::int64_t> shared_words(const xla::HloInstruction& kernel);
bool is_shared(const xla::HloInstruction& kernel);
// Of the call's scratch memory; 0: it has none.
std::int64_t kernel_scratch_bytes(const xla::HloInstruction& kernel);

// Appends the level's suffix to the targets of all kernel calls of a module.
void set_kernel_level(xla::HloModuleProto& module, const std::string& suffix);

}  // namespace tfaot::toolkit::engine
