// SPDX-License-Identifier: Apache-2.0
// A while loop as passes see it: its state by element, and the values that are the same in all
// turns. Used by one thread.
#pragma once

#include <map>
#include <optional>

#include "compiler/hlo/evaluate.h"
#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

// The number of turns of a loop, if XLA can tell. It may add computations to the module for that.
std::optional<std::int64_t> loop_turns(const HloInstruction& loop);

// True if the tuple is read by its elements alone.
bool is_taken_apart(const HloInstruction& tuple);

class Loop {
 public:
  // Nothing if the state is not a tuple that the body takes apart and rebuilds. The instruction
  // must outlive the object.
  static std::optional<Loop> of(HloInstruction& loop);

  HloInstruction& instruction() const { return *loop_; }
  const xla::HloComputation& body() const { return *loop_->while_body(); }
  std::int64_t state_size() const { return body().root_instruction()->operand_count(); }
  // An element of the state: before the first turn, and after a turn.
  HloInstruction* start(std::int64_t element) const;
  HloInstruction* next(std::int64_t element) const {
    return body().root_instruction()->mutable_operand(element);
  }
  // The element of the state that an instruction of the body is.
  std::optional<std::int64_t> element(const HloInstruction& inside) const;
  // True if turns only pass the element on.
  bool is_passed_on(std::int64_t element) const;

  // True if an instruction of the body has the same value in all turns.
  bool is_fixed(const HloInstruction& inside);
  // The value before the loop. REQUIRES: is_fixed().
  HloInstruction* outside(HloInstruction& inside);

 private:
  explicit Loop(HloInstruction& loop) : loop_(&loop) {}
  bool find_fixed(const HloInstruction& inside);

  HloInstruction* loop_;
  std::map<const HloInstruction*, bool> fixed_;
  std::map<const HloInstruction*, HloInstruction*> outside_;
};

// In turn t the number is first + t * step.
struct Progression {
  std::int64_t first = 0;
  std::int64_t step = 0;
};

class LoopNumbers {
 public:
  LoopNumbers(const Loop& loop, std::int64_t turns) : loop_(loop), turns_(turns) {}

  // The values of a scalar integer of the body; nothing for others, and if it depends on more than
  // counters.
  std::optional<Progression> progression(const HloInstruction& number) const;
  // The values of an element of the state that counts.
  std::optional<Progression> counter(std::int64_t element) const;

 private:
  std::optional<std::int64_t> at(const HloInstruction& number, std::int64_t turn) const;

  const Loop& loop_;
  std::int64_t turns_;
  mutable Evaluator evaluator_{{}};
};

}  // namespace tfaot::toolkit::engine
