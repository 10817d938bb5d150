// SPDX-License-Identifier: Apache-2.0
// The passes of the optimizer, in order, from a model's lowered HLO to the HLO that code is made
// from. Their one table is in passes.cc: to add a pass, write its function and its row. Dead code
// and duplicates are removed after each pass, so none has to. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "hlo/choices.h"
#include "hlo/weight_store.h"
#include "xla/hlo/ir/hlo_module.h"

namespace tfaot::toolkit::engine {

// What holds of a module, and passes rely on.
enum class Fact : std::uint8_t {
  kAsLowered,            // calls are not inlined, and XLA's simplifier has not run
  kSimplified,           // XLA's simplifier has run
  kPlainGathers,         // no gather is a kernel call
  kPlainSums,            // no sum is a kernel call
  kPlainConcatenations,  // no concatenation is a kernel call
  kLayoutsSettled,       // no transpose can move any further
  kCellCalls,            // steps of recurrent layers are kernel calls
  kGatherCalls,
  kProductCalls,   // so are products and convolutions
  kRowCalls,       // and functions of rows
  kChainCalls,     // dense layers that follow each other are one call
  kFolded,         // what depends on weights alone is a weight
  kLiveRows,       // calls have the number of live rows
  kAllOperands,    // calls have all their operands
  kOperandShapes,  // operands of calls have the shapes that their calls were made for
};

// A set of facts.
class Facts {
 public:
  constexpr Facts() = default;
  constexpr Facts(std::initializer_list<Fact> facts) {
    for (const Fact fact : facts) bits_ |= 1U << static_cast<unsigned>(fact);
  }
  constexpr bool contain(Facts others) const { return (bits_ & others.bits_) == others.bits_; }
  constexpr Facts with(Facts others) const { return Facts(bits_ | others.bits_); }
  constexpr Facts without(Facts others) const { return Facts(bits_ & ~others.bits_); }

 private:
  constexpr explicit Facts(std::uint32_t bits) : bits_(bits) {}

  std::uint32_t bits_ = 0;
};

// The module that passes work on, and what they hand on beside it.
struct PassState {
  xla::HloModule& module;
  std::int64_t inputs;  // parameters from there on are weights
  const Choices& choices;
  WeightStore* weights = nullptr;       // null: the module is no model's, so it cannot be folded
  std::vector<std::size_t> known = {};  // by fold_weights: the weights of all parameters after the
                                        // inputs, as indices into the store
  bool has_live_rows = false;           // by leave_out_padding
  bool has_tasks = false;               // by share_kernels
};

struct Pass {
  std::string_view name;
  Status (*run)(PassState& state);
  std::string_view why;         // one sentence: why it is there, and at this place
  Facts needs;                  // must hold before
  Facts gives = {};             // hold after it
  Facts ends = {};              // no longer hold after it
  std::string_view stage = {};  // of `tfaot inspect`: what the module is called after it
};

// In the order in which they run. That each one's needs are met is checked while compiling.
std::span<const Pass> passes();
// Null if there is none of this name.
const Pass* find_pass(std::string_view name);

// Called after each pass that ran.
using PassViewer = std::function<Status(const Pass& pass)>;
// Runs all passes, up to and with `last` if it is not empty. REQUIRES: `last` is a pass.
Status run_passes(PassState& state, std::string_view last = {}, const PassViewer& viewer = {});

}  // namespace tfaot::toolkit::engine
