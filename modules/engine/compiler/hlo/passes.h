// SPDX-License-Identifier: Apache-2.0
// The functions of the rows of hlo/passes.def, and the context that they share. A pass of one
// instruction changes nothing where that does not end, or begin, a pattern. A replaced instruction
// stays, without users, until dead code and duplicates are removed after the pass. Used by one
// thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "compiler/hlo/evaluate.h"
#include "compiler/hlo/weight_store.h"
#include "compiler/hlo/weight_values.h"
#include "tfaot/records/model_spec.h"
#include "xla/hlo/ir/hlo_module.h"

namespace tfaot::toolkit::engine {

class BatchForm;

// The config's choices about how a model may be computed.
struct Choices {
  WeightsType weights_type = WeightsType::kFloat32;  // of products
  // Results may round with numbers that are not their own: those of other windows, or of a shift
  // that cancels. The config's XLA flag of this name.
  bool fast_math = true;
  Optimization optimize = Optimization::kSpeed;
  // Not 0: the model is one of several sizes (sizes/sized_model.h), which all get the same calls.
  // No size that is free is smaller.
  std::int64_t smallest_free_size = 0;
  ComputeType compute = ComputeType::kFloat32;  // of products and convolutions with weights
  // Results of one element that depend on a weight are computed ahead. They may follow a free size.
  bool folds_single = true;

  bool wants_bfloat16() const { return compute == ComputeType::kBfloat16; }
  // True if products may have weights that are sums or products of the model's. Not where those
  // would lose too much: a column of int8 has one scale for all rows, and float16 has few
  // exponents.
  bool may_join_weights() const {
    return fast_math &&
           (weights_type == WeightsType::kFloat32 || weights_type == WeightsType::kBfloat16);
  }
};

// Facts about a module that passes rely on.
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

// Why an instruction did not get a kernel that it nearly got.
struct Remark {
  std::string instruction;  // its name in the HLO
  std::string layer;        // the model's name of it; empty: it has none
  std::string text;         // "no layer_norm: the mean is over other dimensions than the variance"
};

// The input of passes, and the results that they hand on to later ones and to the caller.
struct PassContext {
  xla::HloModule& module;
  std::int64_t inputs;  // parameters from there on are weights
  const Choices& choices;
  WeightStore* weights = nullptr;       // null: the module is no model's, so it cannot be folded
  BatchForm* batch_form = nullptr;      // null: other batch sizes are not known
  std::vector<std::size_t> known = {};  // by fold_weights: the weights of all parameters after the
                                        // inputs, as indices into the store
  bool has_live_rows = false;           // by leave_out_padding
  bool has_tasks = false;               // by share_kernels
  std::vector<Remark> remarks = {};
  std::vector<std::string> rewritten =
      {};  // names of instructions where passes of one changed something

  // Values of the module as it was before this pass.
  const WeightValues& values() {
    if (!values_) values_.emplace(module, inputs);
    return *values_;
  }
  void begin_pass() {
    values_.reset();
    fixed = {};
  }

  FixedValues fixed = {};  // of this pass

  std::optional<WeightValues> values_ = {};
};

inline void add_remark(PassContext& context, const HloInstruction& instruction, std::string text) {
  context.remarks.push_back(
      {std::string(instruction.name()), instruction.metadata().op_name(), std::move(text)});
}

#define TFAOT_PASS(file, over, function, needs, gives, ends, stage, why) \
  Status function(xla::over&, PassContext&);
#include "compiler/hlo/passes.def"
#undef TFAOT_PASS

}  // namespace tfaot::toolkit::engine
