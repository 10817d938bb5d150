// SPDX-License-Identifier: Apache-2.0
// Integers that a loop counts: their values in each of its turns. Used by one thread.
#pragma once

#include <optional>

#include "hlo/loop.h"

namespace tfaot::toolkit::engine {

// In turn t the number is first + t * step.
struct Progression {
  std::int64_t first = 0;
  std::int64_t step = 0;
};

class LoopNumbers {
 public:
  LoopNumbers(const Loop& loop, std::int64_t turns) : loop_(loop), turns_(turns) {}

  // Of a scalar integer of the body; nothing if it is none, or depends on more than counters.
  std::optional<Progression> progression(const xla::HloInstruction& number) const;
  // Of an element of the state that counts.
  std::optional<Progression> counter(std::int64_t element) const;

 private:
  std::optional<std::int64_t> at(const xla::HloInstruction& number, std::int64_t turn) const;

  const Loop& loop_;
  std::int64_t turns_;
};

}  // namespace tfaot::toolkit::engine
