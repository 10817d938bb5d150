// SPDX-License-Identifier: Apache-2.0
// Facts about our kernels that need their calls in HLO: how results depend on rows of the batch,
// cost, text for tfaot inspect, epilogue. kernel_facts.cc has them, a struct for each family of
// kernels; a row of kernels.def without facts does not compile. Used by one thread.
#pragma once

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

// Where a product or a convolution has its kernels::Epilogue; none: it is another kernel.
std::optional<std::size_t> word_of_epilogue(const HloInstruction& kernel);
// True if its epilogue may be a function.
bool takes_function(const HloInstruction& kernel);
// The function of a kernel's results; kFunctionNone: there is none.
kernels::ResultFunction result_function(const HloInstruction& kernel);

// Products of the state's size in a step of a recurrent cell; 0: it is another kernel.
std::int64_t recurrent_gates(const HloInstruction& kernel);
// Panels of the state in a block of weights. REQUIRES: a recurrent cell.
std::int64_t recurrent_panels(const HloInstruction& kernel);

}  // namespace tfaot::toolkit::engine
