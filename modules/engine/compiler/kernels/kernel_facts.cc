// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/kernel_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tfaot::toolkit::engine {
namespace {

using kernels::ConvolutionCall;
using kernels::MatMulCall;

// The operand after the bias, where there is one.
std::int64_t after_bias(std::int64_t epilogue) {
  constexpr auto kAnyBias = kernels::kEpilogueBias | kernels::kEpilogueRowBias;
  return (epilogue & kAnyBias) != 0 ? 4 : 3;
}

// ---- Rows of kernels.def, with what their structs say.

// Indices of words in a kernel's struct; none: it has no such word.
struct CallWords {
  std::optional<std::size_t> shared;    // has kEpilogueShared
  std::optional<std::size_t> epilogue;  // a kernels::Epilogue
  // Rows or images that count for each row of the batch, and all of the call.
  std::optional<std::size_t> live, all;
  bool has_live_bit = false;  // with live ones, the epilogue has kEpilogueLive
};

// The part of a struct that has the epilogue and the live rows.
template <typename Call>
const Call& core(const Call& call) {
  return call;
}
const MatMulCall& core(const kernels::NarrowMatMulCall& call) { return call.product; }
const ConvolutionCall& core(const kernels::LowPrecisionCall& call) { return call.convolution; }
const ConvolutionCall& core(const kernels::WinogradCall& call) { return call.convolution; }

template <typename Call>
CallWords words_in(const Call& call, const std::int64_t* shared) {
  const auto index_of = [&](const std::int64_t* member) {
    return static_cast<std::size_t>(member - reinterpret_cast<const std::int64_t*>(&call));
  };
  CallWords words;
  if (shared != nullptr) words.shared = index_of(shared);
  const auto& part = core(call);
  if constexpr (requires { part.epilogue; }) words.epilogue = index_of(&part.epilogue);
  if constexpr (requires { part.live_rows; }) {
    words.live = index_of(&part.live_rows);
    words.all = index_of(&part.rows);
  } else if constexpr (requires { part.live_images; }) {
    words.live = index_of(&part.live_images);
    words.all = index_of(&part.batch);
    words.has_live_bit = true;
  }
  return words;
}

struct KernelRow {
  const KernelFacts& facts;
  CallWords words;
};

// A word of a call's struct; 0: it has none.
std::int64_t call_word(const HloInstruction& kernel, std::optional<std::size_t> at) {
  const auto words = at ? call_words(kernel) : std::vector<std::int64_t>();
  return at && *at < words.size() ? words[*at] : 0;
}

// Null if it is not a call of a kernel, or if its struct is not known.
const KernelRow* row_of(const HloInstruction& one) {
  static const KernelRow kRows[] = {
#define TFAOT_KERNEL_ROW(kernel, name, types, call_type, shared_member, scratch) \
  {kernel##Facts, [] {                                                           \
     [[maybe_unused]] const kernels::call_type call{};                           \
     return words_in(call, shared_member);                                       \
   }()},
#include "tfaot/kernels/kernels.def"
  };
  const auto called = called_kernel(one);
  if (!called || !one.operand(0)->IsConstant()) return nullptr;
  return &kRows[static_cast<std::size_t>(*called)];
}

}  // namespace

std::int64_t addends_of(std::int64_t epilogue) {
  return (epilogue & kernels::kEpilogueSum) != 0 ? after_bias(epilogue) : 0;
}

std::int64_t operands_before_bias(const HloInstruction& kernel) {
  if (!is_call_of(kernel, Kernel::kLowPrecision)) return 0;
  return kernels::low_precision_more_operands(call_of<kernels::LowPrecisionCall>(kernel));
}

bool is_first_in_order(const HloInstruction& one, const BatchRows& rows) {
  return rows.of(one, 1) == Rows::kInOrder;
}

bool others_are_weights(const HloInstruction& one, const BatchRows& rows, std::int64_t addends) {
  for (std::int64_t i = 2; i < one.operand_count(); ++i) {
    const Rows of = rows.of(one, i);
    if (of != Rows::kNone && !(i == addends && of == Rows::kInOrder)) return false;
  }
  return true;
}

bool reads_images(std::int64_t count, const HloInstruction& one, const BatchRows& rows,
                  std::int64_t addends) {
  return is_first_in_order(one, rows) && others_are_weights(one, rows, addends) &&
         rows.divide(count);
}

bool are_rows_or_weights(const HloInstruction& one, const BatchRows& rows) {
  const auto size = elements_of(*one.operand(1));
  for (std::int64_t i = 1; i < one.operand_count(); ++i) {
    const Rows of = rows.of(one, i);
    const bool is_like_first = elements_of(*one.operand(i)) == size;
    if (of != Rows::kNone && !(is_like_first && of == Rows::kInOrder)) return false;
  }
  return true;
}

double first_result_bytes(const HloInstruction& one) { return bytes_of(first_shape(one)); }

double function_cycles(std::int64_t function, double bytes, const ProgramSpeed& speed) {
  switch (function) {
    case kernels::kFunctionNone:
      return 0;
    case kernels::kFunctionLeaky:
    case kernels::kFunctionHardSigmoid:
    case kernels::kFunctionHardSwish:
      return speed.vectors(bytes) * kPlainCycles;
    default:
      return speed.vectors(bytes) * kDearCycles;
  }
}

double call_cycles(const HloInstruction& one, const ProgramSpeed& speed) {
  const double result = first_result_bytes(one);
  return kCallCycles + speed.waiting(bytes_of(one.operand(1)->shape()) + result) +
         function_cycles(result_function(one).kind, result, speed);
}

const char* function_text(std::int64_t function) {
  static constexpr std::pair<std::int64_t, const char*> kTexts[] = {
      {kernels::kFunctionTanh, " tanh"},
      {kernels::kFunctionSigmoid, " sigmoid"},
      {kernels::kFunctionSwish, " swish"},
      {kernels::kFunctionGelu, " gelu"},
      {kernels::kFunctionGeluTanh, " gelu"},
      {kernels::kFunctionSoftplus, " softplus"},
      {kernels::kFunctionLeaky, " leaky relu"},
      {kernels::kFunctionElu, " elu"},
      {kernels::kFunctionHardSigmoid, " hard sigmoid"},
      {kernels::kFunctionHardSwish, " hard swish"},
  };
  for (const auto& [known, text] : kTexts) {
    if (known == function) return text;
  }
  return "";
}

const char* relu_text(std::int64_t epilogue) {
  return (epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6 ? " relu6"
         : (epilogue & kernels::kEpilogueRelu) != 0                      ? " relu"
                                                                         : "";
}

std::string epilogue_text(std::int64_t epilogue) {
  std::string text;
  if ((epilogue & kernels::kEpilogueBias) != 0) text += ", then a bias";
  if ((epilogue & kernels::kEpilogueRowBias) != 0) text += ", then a bias of each row";
  if ((epilogue & kernels::kEpilogueSum) != 0) text += ", then a sum";
  if ((epilogue & kernels::kEpilogueRelu) != 0) text += ", then" + std::string(relu_text(epilogue));
  return text;
}

double kernel_cycles(const HloInstruction& kernel, const ProgramSpeed& speed) {
  const auto* const row = row_of(kernel);
  return row != nullptr ? row->facts.cycles(kernel, speed) : call_cycles(kernel, speed);
}

KernelWork kernel_work(const HloInstruction& kernel) {
  const auto* const row = row_of(kernel);
  if (row == nullptr) return {};
  KernelWork work = row->facts.work(kernel);
  const std::int64_t function = result_function(kernel).kind;
  if (function != kernels::kFunctionNone) {
    work.text += fmt::format(", then{}", function_text(function));
  }
  if (skips_padding(kernel)) work.text += ", skips rows of padding";
  return work;
}

bool keeps_rows(const HloInstruction& kernel, const BatchRows& rows) {
  const auto* const row = row_of(kernel);
  return row != nullptr && row->facts.keeps_rows(kernel, rows);
}

std::vector<std::int64_t> live_words(const HloInstruction& kernel, const BatchRows& rows) {
  const auto* const row = row_of(kernel);
  if (row == nullptr || !row->words.live || !row->facts.keeps_rows(kernel, rows)) return {};
  std::vector<std::int64_t> words = call_words(kernel);
  words.at(*row->words.live) = words.at(*row->words.all) / rows.batch;
  if (row->words.has_live_bit) words.at(*row->words.epilogue) |= kernels::kEpilogueLive;
  return words;
}

bool skips_padding(const HloInstruction& kernel) {
  const auto* const row = row_of(kernel);
  if (row == nullptr) return false;
  return row->words.has_live_bit
             ? (call_word(kernel, row->words.epilogue) & kernels::kEpilogueLive) != 0
             : call_word(kernel, row->words.live) != 0;
}

std::vector<std::int64_t> shared_words(const HloInstruction& kernel) {
  const auto* const row = row_of(kernel);
  if (row == nullptr || !row->words.shared) return {};
  std::vector<std::int64_t> words = call_words(kernel);
  if (*row->words.shared >= words.size()) return {};
  words.at(*row->words.shared) |= kernels::kEpilogueShared;
  return words;
}

bool is_shared(const HloInstruction& kernel) {
  const auto* const row = row_of(kernel);
  return row != nullptr && (call_word(kernel, row->words.shared) & kernels::kEpilogueShared) != 0;
}

std::int64_t lane_bytes(const xla::HloModule& module) {
  std::int64_t most = 0;
  for (const auto* one : module.entry_computation()->instructions()) {
    if (is_shared(*one)) most = std::max(most, kernel_scratch_bytes(*one));
  }
  return most;
}

std::optional<std::size_t> word_of_epilogue(const HloInstruction& kernel) {
  const auto* const row = row_of(kernel);
  return row == nullptr ? std::nullopt : row->words.epilogue;
}

bool takes_function(const HloInstruction& kernel) {
  const auto* const row = row_of(kernel);
  return row != nullptr && row->facts.takes_function != nullptr &&
         first_shape(kernel).element_type() == xla::F32 && row->facts.takes_function(kernel);
}

kernels::ResultFunction result_function(const HloInstruction& kernel) {
  kernels::ResultFunction function{kernels::kFunctionNone, 1, 1};
  if (is_call_of(kernel, Kernel::kFunctionPool)) {
    return call_of<kernels::FunctionPoolCall>(kernel).function;
  }
  const std::int64_t epilogue = call_word(kernel, word_of_epilogue(kernel));
  if ((epilogue & kernels::kEpilogueFunction) == 0) return function;
  const std::int64_t after_sum = (epilogue & kernels::kEpilogueSum) != 0 ? 1 : 0;
  const HloInstruction* const operand =
      kernel.operand(after_bias(epilogue) + operands_before_bias(kernel) + after_sum);
  if (!operand->IsConstant()) return function;
  const auto words = operand->literal().data<std::int64_t>();
  std::memcpy(&function, words.data(), sizeof function);
  return function;
}

}  // namespace tfaot::toolkit::engine
