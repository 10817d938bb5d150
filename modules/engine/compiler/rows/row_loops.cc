// SPDX-License-Identifier: Apache-2.0
// Rows through loops.
#include <algorithm>
#include <optional>

#include "compiler/rows/row_flow.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// True if nothing new is known.
bool is_equal(const RowFact& a, const RowFact& b) {
  return a.axes == b.axes && (a.cause == nullptr) == (b.cause == nullptr) &&
         (a.known == nullptr) == (b.known == nullptr) &&
         std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                    is_equal);
}

bool is_element(const HloInstruction& one, std::int64_t i) {
  return one.opcode() == HloOpcode::kGetTupleElement &&
         one.operand(0)->opcode() == HloOpcode::kParameter && one.tuple_index() == i;
}

// The element of a loop's state that says for each row whether it goes on: the loop ends when no
// row does, and a row that is done stays so.
std::optional<std::int64_t> rows_that_go_on(const HloInstruction& loop) {
  const HloInstruction& ends = *loop.while_condition()->root_instruction();
  const HloInstruction& root = *loop.while_body()->root_instruction();
  if (ends.opcode() != HloOpcode::kReduce || root.opcode() != HloOpcode::kTuple ||
      ends.to_apply()->root_instruction()->opcode() != HloOpcode::kOr ||
      ends.operand(0)->opcode() != HloOpcode::kGetTupleElement) {
    return std::nullopt;
  }
  const std::int64_t flag = ends.operand(0)->tuple_index();
  const HloInstruction& next = *root.operand(flag);
  if (next.opcode() != HloOpcode::kAnd ||
      (!is_element(*next.operand(0), flag) && !is_element(*next.operand(1), flag))) {
    return std::nullopt;
  }
  return flag;
}

// True if an element of a loop's state never changes, or not in rows that are done.
bool is_kept_when_done(const HloInstruction& loop, std::int64_t i) {
  const HloInstruction& root = *loop.while_body()->root_instruction();
  if (root.opcode() != HloOpcode::kTuple) return false;
  const HloInstruction& next = *root.operand(i);
  if (is_element(next, i)) return true;
  const auto flag = rows_that_go_on(loop);
  if (!flag || i == *flag) return flag.has_value();
  if (next.opcode() != HloOpcode::kSelect || !is_element(*next.operand(2), i)) return false;
  const HloInstruction* choice = next.operand(0);
  while (choice->opcode() == HloOpcode::kBroadcast || choice->opcode() == HloOpcode::kReshape) {
    choice = choice->operand(0);
  }
  return is_element(*choice, *flag);
}

}  // namespace

// The loop's state is met with its first value until nothing new is found.
RowFact RowFlow::loop(const HloInstruction& one) {
  RowFact state = of(one.operand(0));
  const auto& body = *one.while_body();
  while (true) {
    const RowFact again = RowFlow(*study_).run(*one.while_condition(), {state});
    const RowFact next = RowFlow(*study_).run(body, {state});
    const RowFact joined = study_->join(one, state, next);
    if (!is_equal(joined, state)) {
      state = joined;
      continue;
    }
    if (again.cause == nullptr) return state;
    // The rows together decide the number of turns: everything that changes in a turn may depend on
    // it, but for rows that stay as they are once they are done.
    const RowFact before = state;
    for (std::size_t i = 0; i < state.elements.size(); ++i) {
      RowFact& element = state.elements[i];
      if (is_kept_when_done(one, static_cast<std::int64_t>(i))) continue;
      if (element.has_rows()) study_->set_waiting(one, before);
      element = unknown(one.shape().tuple_shapes(static_cast<int>(i)), again.cause);
    }
    return state;
  }
}

}  // namespace tfaot::toolkit::engine
