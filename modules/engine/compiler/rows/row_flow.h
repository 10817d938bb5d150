// SPDX-License-Identifier: Apache-2.0
// Follows the rows of the batch through an HLO module. For each output it finds out whether row r
// is made from row r of the inputs alone, in the same way for every r. What it reports is proved;
// it names operations that it does not understand. Used by one thread.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "compiler/rows/row_facts.h"
#include "compiler/rows/row_sizes.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"

namespace tfaot::toolkit::engine {

// State that all computations of a module share.
class RowStudy {
 public:
  // `sizes` must outlive the object.
  RowStudy(std::int64_t batch, const RowSizes& sizes) : batch_(batch), sizes_(sizes) {}

  std::int64_t batch() const { return batch_; }
  const RowSizes& sizes() const { return sizes_; }
  const RowCause* mixing(const xla::HloInstruction& one, std::string why);
  const RowCause* unclear(const xla::HloInstruction& one, std::string why);

  // The value of an operation on known values, if it is small and can be computed.
  std::optional<RowFact> evaluate(const xla::HloInstruction& one,
                                  const std::vector<RowFact>& operands, const xla::Shape& shape);

  // The result of combining two dimensions of the same size element by element.
  std::optional<Axis> meet(const RowFact& a, std::int64_t of_a, const RowFact& b,
                           std::int64_t of_b) const;
  // The state of a loop that goes on until all rows are done, if rows could change each other's
  // results by that; else null.
  const RowFact* waiting(const xla::HloInstruction& loop) const {
    const auto found = waiting_.find(&loop);
    return found == waiting_.end() ? nullptr : &found->second;
  }
  void set_waiting(const xla::HloInstruction& loop, const RowFact& state) {
    waiting_[&loop] = state;
  }

  // For the results of two branches, or of two turns of a loop.
  RowFact join(const xla::HloInstruction& one, const RowFact& a, const RowFact& b);

 private:
  std::int64_t batch_;
  const RowSizes& sizes_;
  std::deque<RowCause> causes_;
  std::map<const xla::HloInstruction*, RowFact> waiting_;
  xla::HloEvaluator evaluator_;
};

// One run of one computation.
class RowFlow {
 public:
  explicit RowFlow(RowStudy& study) : study_(&study) {}

  RowFact run(const xla::HloComputation& computation, const std::vector<RowFact>& arguments);

  RowStudy& study() { return *study_; }
  const RowFact& of(const xla::HloInstruction* one) const { return facts_.at(one); }

  // A part of an operand's dimension, for made().
  struct Source {
    const RowFact* fact = nullptr;
    std::int64_t dimension = 0;
  };
  // The fact for a result whose dimensions come from these dimensions of the operands: each from
  // everything in its list. A dimension with an empty list varies.
  using Sources = std::vector<std::vector<Source>>;
  RowFact made(const xla::HloInstruction& one, const xla::Shape& shape, const Sources& sources);
  RowFact mixed(const xla::HloInstruction& one, std::string why);
  RowFact not_clear(const xla::HloInstruction& one, std::string why);
  // For a dimension whose elements an operation combines: nothing if that does not matter.
  const RowCause* taken_together(const xla::HloInstruction& one, std::int64_t operand,
                                 std::int64_t dimension, const std::string& why);
  RowFact elementwise(const xla::HloInstruction& one, const std::vector<RowFact>& operands,
                      const xla::Shape& shape);

 private:
  RowFact visit(const xla::HloInstruction& one, const std::vector<RowFact>& arguments);
  std::optional<RowFact> visit_control(const xla::HloInstruction& one,
                                       const std::vector<RowFact>& arguments);
  RowFact visit_operation(const xla::HloInstruction& one);
  RowFact loop(const xla::HloInstruction& one);
  RowFact branches(const xla::HloInstruction& one);

  RowStudy* study_;
  std::map<const xla::HloInstruction*, RowFact> facts_;
};

template <class Numbers>
bool contains(const Numbers& all, std::int64_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// A window that treats every element by itself.
bool stays_put(const xla::WindowDimension& window);

// Families of operations (row_moves.cc, row_sums.cc, row_gather.cc, row_scatter.cc). Nothing for
// any other operation.
std::optional<RowFact> visit_move(const xla::HloInstruction& one, RowFlow& flow);
std::optional<RowFact> visit_sum(const xla::HloInstruction& one, RowFlow& flow);
std::optional<RowFact> visit_product(const xla::HloInstruction& one, RowFlow& flow);
RowFact visit_gather(const xla::HloInstruction& one, RowFlow& flow);
RowFact visit_scatter(const xla::HloInstruction& one, RowFlow& flow);

// The facts about the parameters: those before `inputs` have rows, the others are weights.
std::vector<RowFact> row_arguments(const xla::HloComputation& entry, std::int64_t inputs,
                                   std::int64_t rows);

// For each output: why it is not proved to treat rows alone; null if it is proved. The causes
// belong to the study. Parameters from `inputs` on are weights.
std::vector<const RowCause*> follow_rows(const xla::HloModule& module, std::int64_t inputs,
                                         RowStudy& study);

}  // namespace tfaot::toolkit::engine
