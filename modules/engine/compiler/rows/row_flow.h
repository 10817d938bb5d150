// SPDX-License-Identifier: Apache-2.0
// Follows the rows of the batch through an HLO module. For each output it finds out whether row r
// is computed from row r of the inputs alone, in the same way for every r. What it reports is
// proved; it names operations that it does not understand. Used by one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/hlo/evaluate.h"
#include "compiler/hlo/hlo.h"
#include "compiler/hlo/lowering.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

// The rows of the batch in one value of a module, as far as they are known. Each dimension is a
// product of factors, the major one first; a reshape only groups them differently. Along a factor,
// the value is the same everywhere, or varies, or follows the rows: then element r is computed from
// row r alone, and in the same way for every r.
enum class Along { kSame, kVaries, kRows };

struct Factor {
  std::int64_t size = 1;
  Along along = Along::kVaries;
  bool operator==(const Factor&) const = default;
};

using Axis = std::vector<Factor>;  // none of size 1; neighbours differ but for rows

// Why nothing more is known about a value.
struct RowCause {
  const HloInstruction* at = nullptr;
  std::string why;     // "adds up the rows of the batch"
  bool mixes = false;  // the operation mixes rows; else it is only not understood
};

struct RowFact {
  std::vector<Axis> axes = {};      // by dimension
  Value known = {};                 // if it depends on no input or weight
  const RowCause* cause = nullptr;  // rows are combined in it, or may be; then `axes` have no rows
  std::vector<RowFact> elements = {};  // for a tuple

  const Axis& axis(std::int64_t dimension) const { return entry(axes, dimension); }
  bool has_rows() const;
};

bool has_rows(const Axis& axis);
std::int64_t size_of(const Axis& axis);

// The position of the rows in one dimension of a value: [outer, rows, inner].
struct RowPlace {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  bool operator==(const RowPlace&) const = default;
};
std::optional<RowPlace> row_place(const Axis& axis);

// Differences, other than the number of rows, of the HLO of one model at two batch sizes. All are
// from the first module. Both modules must outlive it.
struct RowSizes {
  std::set<const HloInstruction*> numbers;  // constants whose value follows the batch size
  std::set<const HloInstruction*> others;   // operations that differ between both
  std::map<const HloInstruction*, const HloInstruction*> twins;

  // True if this dimension is as long as the batch, or a multiple of it.
  bool follows_batch(const HloInstruction& one, std::int64_t dimension) const;
};

// `small` and `large` are the modules with `sizes.first` and `sizes.second` rows. These must be
// primes of which no other dimension of the model is a multiple.
RowSizes compare_sizes(const xla::HloModule& small, const xla::HloModule& large,
                       std::pair<std::int64_t, std::int64_t> sizes);

// The same model at a third size, which need not be a prime.
struct OtherSize {
  const xla::HloModule& module;
  std::int64_t rows;
};
// The first operation of `small` that is another one at the other size; null: there is none.
// Reshapes and broadcasts are ignored, since one row needs fewer. Numbers differ if they do not
// follow the batch size from `small` to `large`, and for one row all.
const HloInstruction* difference_at(const OtherSize& other, const xla::HloModule& small,
                                    const xla::HloModule& large,
                                    std::pair<std::int64_t, std::int64_t> sizes);

// State that all computations of a module share.
class RowStudy {
 public:
  // `sizes` must outlive the object.
  RowStudy(std::int64_t batch, const RowSizes& sizes) : batch_(batch), sizes_(sizes) {}

  std::int64_t batch() const { return batch_; }
  const RowSizes& sizes() const { return sizes_; }
  const RowCause* mixing(const HloInstruction& one, std::string why);
  const RowCause* unclear(const HloInstruction& one, std::string why);

  // The value of an operation on known values, if it is small and can be computed.
  std::optional<RowFact> evaluate(const HloInstruction& one, const std::vector<RowFact>& operands,
                                  const xla::Shape& shape);

  // The result of combining two dimensions of the same size element by element.
  std::optional<Axis> meet(const RowFact& a, std::int64_t of_a, const RowFact& b,
                           std::int64_t of_b) const;
  // The state of a loop that goes on until all rows are done, if rows could change each other's
  // results by that; else null.
  const RowFact* waiting(const HloInstruction& loop) const {
    const auto found = waiting_.find(&loop);
    return found == waiting_.end() ? nullptr : &found->second;
  }
  void set_waiting(const HloInstruction& loop, const RowFact& state) { waiting_[&loop] = state; }

  // For the results of two branches, or of two turns of a loop.
  RowFact join(const HloInstruction& one, const RowFact& a, const RowFact& b);

 private:
  std::int64_t batch_;
  const RowSizes& sizes_;
  std::deque<RowCause> causes_;
  std::map<const HloInstruction*, RowFact> waiting_;
  Evaluator evaluator_{{}};
};

// One run of one computation.
class RowFlow {
 public:
  explicit RowFlow(RowStudy& study) : study_(&study) {}
  RowFact run(const xla::HloComputation& computation, std::vector<RowFact> arguments);

  RowStudy& study() { return *study_; }
  const std::vector<RowFact>& arguments() const { return arguments_; }
  const RowFact& of(const HloInstruction* one) const { return facts_.at(one); }
  std::vector<RowFact> of_operands(const HloInstruction& one) const;
  // A part of an operand's dimension, for made().
  struct Source {
    const RowFact* fact = nullptr;
    std::int64_t dimension = 0;
  };
  // The fact for a result whose dimensions come from these dimensions of the operands: each from
  // everything in its list. A dimension with an empty list varies.
  using Sources = std::vector<std::vector<Source>>;
  RowFact made(const HloInstruction& one, const xla::Shape& shape, const Sources& sources);
  RowFact mixed(const HloInstruction& one, std::string why);
  RowFact not_clear(const HloInstruction& one, std::string why);
  // For an operation without a rule.
  RowFact not_known(const HloInstruction& one);
  // For a dimension whose elements an operation combines: nothing if that does not matter.
  const RowCause* taken_together(const HloInstruction& one, std::int64_t operand,
                                 std::int64_t dimension, const std::string& why);
  RowFact elementwise(const HloInstruction& one, const std::vector<RowFact>& operands,
                      const xla::Shape& shape);

 private:
  RowFact visit(const HloInstruction& one);

  RowStudy* study_;
  std::vector<RowFact> arguments_;
  std::map<const HloInstruction*, RowFact> facts_;
};

// The facts about the parameters: those before `inputs` have rows, the others are weights.
std::vector<RowFact> row_arguments(const xla::HloComputation& entry, std::int64_t inputs,
                                   std::int64_t rows);

// For each output: why it is not proved to treat rows alone; null if it is proved. The causes
// belong to the study. Parameters from `inputs` on are weights.
std::vector<const RowCause*> follow_rows(const xla::HloModule& module, std::int64_t inputs,
                                         RowStudy& study);

}  // namespace tfaot::toolkit::engine
