// SPDX-License-Identifier: Apache-2.0
// Facts about our kernels that need their calls in HLO: how results depend on rows of the batch,
// cost, text for tfaot inspect, epilogue. Those of one kernel stand in the file of the pass that
// makes its calls; a kernel of kernels.def without them does not link. Used by one thread.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernels/kernel_call.h"
#include "compiler/kernels/machine_model.h"

namespace tfaot::toolkit::engine {

// Cycles of a call on the machine that `speed` describes.
double kernel_cycles(const HloInstruction& kernel, const ProgramSpeed& speed);

// A call's work, in a few words and in numbers.
struct KernelWork {
  std::string text = {};
  std::int64_t flops = -1;  // -1: not counted
};
KernelWork kernel_work(const HloInstruction& kernel);

// The way in which a value depends on the batch.
enum class Rows {
  kNone,     // not at all
  kInOrder,  // its memory has one equal part per row, computed from that row alone
  kMixed,    // in another way, or unknown
};
struct BatchRows {
  std::int64_t batch = 1;
  std::map<const HloInstruction*, Rows> values = {};

  Rows of(const HloInstruction& user, std::int64_t operand) const {
    return values.at(user.operand(operand));
  }
  // True if `count` are the same number for each row.
  bool divide(std::int64_t count) const { return count % batch == 0; }
};
// True if a call's results are in order, if operands that depend on the batch are.
bool keeps_rows(const HloInstruction& kernel, const BatchRows& rows);

// The struct of a call that leaves out rows of padding; empty: it cannot.
std::vector<std::int64_t> live_words(const HloInstruction& kernel, const BatchRows& rows);
// True if a call leaves them out.
bool skips_padding(const HloInstruction& kernel);

// The struct of a call that shares its work if there are tasks (abi.h); empty: it cannot.
std::vector<std::int64_t> shared_words(const HloInstruction& kernel);
bool is_shared(const HloInstruction& kernel);
// The scratch memory that each lane of the tasks needs.
std::int64_t lane_bytes(const xla::HloModule& module);

// The index of a call's kernels::Epilogue in its struct; none: it has no epilogue.
std::optional<std::size_t> word_of_epilogue(const HloInstruction& kernel);
// True if its epilogue may be a function.
bool takes_function(const HloInstruction& kernel);
// The function of a kernel's results; kFunctionNone: there is none.
kernels::ResultFunction result_function(const HloInstruction& kernel);

// ---- Facts of one kernel.

// Functions of a call whose struct is known.
struct KernelFacts {
  bool (*keeps_rows)(const HloInstruction& one, const BatchRows& rows);
  // Mostly the sum of call_cycles() and something else.
  double (*cycles)(const HloInstruction& one, const ProgramSpeed& speed);
  // Without the function of the results, and without rows of padding.
  KernelWork (*work)(const HloInstruction& one);
  // True if an epilogue in float32 may be a function; null: it never is.
  bool (*takes_function)(const HloInstruction& one) = nullptr;
};

// From a struct of such functions, which also get the call's struct, a Family::Call.
template <typename Family>
constexpr KernelFacts facts_of() {
  using Call = typename Family::Call;
  KernelFacts facts{
      [](const HloInstruction& one, const BatchRows& rows) {
        return Family::keeps_rows(call_of<Call>(one), one, rows);
      },
      [](const HloInstruction& one, const ProgramSpeed& speed) {
        return Family::cycles(call_of<Call>(one), one, speed);
      },
      [](const HloInstruction& one) { return Family::work(call_of<Call>(one), one); }};
  if constexpr (requires(const Call& call) { Family::takes_function(call); }) {
    facts.takes_function = [](const HloInstruction& one) {
      return Family::takes_function(call_of<Call>(one));
    };
  }
  return facts;
}

#define TFAOT_KERNEL_ROW(kernel, name, types, call, shared, scratch) \
  extern const KernelFacts kernel##Facts;
#include "tfaot/kernels/kernels.def"

// ---- Words for facts that several kernels share.

// The operand that is added to the results; 0: there is none.
std::int64_t addends_of(std::int64_t epilogue);
// Operands of a call in fewer bits between its weights and its bias, which others have not.
std::int64_t operands_before_bias(const HloInstruction& kernel);
bool is_first_in_order(const HloInstruction& one, const BatchRows& rows);
// True if all operands but the first are weights, and `addends`, unless it is 0, has rows as the
// results have.
bool others_are_weights(const HloInstruction& one, const BatchRows& rows, std::int64_t addends = 0);
// The same for `count` images that lie one after the other.
bool reads_images(std::int64_t count, const HloInstruction& one, const BatchRows& rows,
                  std::int64_t addends = 0);

double first_result_bytes(const HloInstruction& one);
double function_cycles(std::int64_t function, double bytes, const ProgramSpeed& speed);
// The call itself, waiting for its first operand and its results, and their function.
double call_cycles(const HloInstruction& one, const ProgramSpeed& speed);

// " tanh", " relu6", ", then a bias"; empty: there is none.
const char* function_text(std::int64_t function);
const char* relu_text(std::int64_t epilogue);
std::string epilogue_text(std::int64_t epilogue);

// True if operands that depend on the batch are in order, and as large as the first.
bool are_rows_or_weights(const HloInstruction& one, const BatchRows& rows);

// Functions of rows: calls begin with the number of rows, or of elements.
template <typename Struct>
struct RowFunctionFacts {
  using Call = Struct;

  static bool keeps_rows(const Call& /*call*/, const HloInstruction& one, const BatchRows& rows) {
    return are_rows_or_weights(one, rows) && rows.divide(call_words(one).front());
  }
  static double over_vectors(const HloInstruction& one, const ProgramSpeed& speed, double each) {
    return call_cycles(one, speed) + speed.vectors(bytes_of(one.operand(1)->shape())) * each;
  }
  static double cycles(const Call& /*call*/, const HloInstruction& one, const ProgramSpeed& speed) {
    return over_vectors(one, speed, kDearCycles);
  }
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    return {fmt::format("{} rows of {}", call.rows, call.columns)};
  }
};

}  // namespace tfaot::toolkit::engine
