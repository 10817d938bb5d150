// SPDX-License-Identifier: Apache-2.0
// Loops over tensors whose sizes are known only when the code runs. A tensor is a vector of the
// elements of its largest size, and the elements of the actual size lie at its start, row-major.
// XLA compiles the operations for a block of elements of fixed size; a while loop walks over the
// blocks. Used by one thread.
#pragma once

#include <map>
#include <vector>

#include "compiler/hlo/build.h"
#include "compiler/sizes/polynomial.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit::engine {

// A block may reach so far beyond the elements of a tensor.
inline constexpr std::int64_t kBlockElements = 256;
static_assert(2 * kBlockElements <= toolkit::kElementsBeyond);

// Numbers that follow the sizes, as scalars of the entry computation.
class SizeNumbers {
 public:
  // `sizes`: a vector of s64.
  explicit SizeNumbers(HloInstruction* sizes) : sizes_(sizes) {}

  HloInstruction* scalar(const SizePolynomial& number);
  // A vector of words.
  HloInstruction* words(const std::vector<SizePolynomial>& numbers);
  HloInstruction* product(const SizePolynomial::Powers& powers);

 private:
  HloInstruction* sizes_;
  std::map<SizePolynomial, HloInstruction*> scalars_;
  std::map<SizePolynomial::Powers, HloInstruction*> products_;
};

// The place of an element in a vector, or a number, in the turn i of each loop: offset + sum of
// strides * i.
struct Place {
  SizePolynomial offset;
  std::vector<SizePolynomial> strides;
};

// A part of a place that a value of the turn says: value * stride. The value is from 0 to `most`.
struct ValuePlace {
  std::size_t value;  // its place among the values
  SizePolynomial stride;
  SizePolynomial most;
};

// A value of each turn.
struct LoopValue {
  const HloInstruction* operation = nullptr;  // on scalars or elements of `operands`; a constant
  std::vector<std::size_t> operands = {};     // places among the values
  HloInstruction* tensor = nullptr;           // else: an element of this vector
  xla::PrimitiveType counted = xla::PRIMITIVE_TYPE_INVALID;  // else: the number of the place
  Place place = {};                                          // of the last two
  std::vector<ValuePlace> value_places = {};  // of an element; values beyond are the nearest
  bool is_whole = false;  // the vector ends with its last element: no block may reach beyond
};

struct StridedLoop {
  std::vector<SizePolynomial> sizes;  // turns of the loops, the outermost first
  std::vector<LoopValue> values;      // operands come before what is computed from them
  Place place;                        // of the last value in the result
  // With these in its place. The result keeps its element where a value is beyond.
  std::vector<ValuePlace> value_places;
  // Combines the result's element with the value. Null: the value replaces it.
  const HloInstruction* combine = nullptr;
  // Computes the elements of several results from those that they have and the last values, as
  // many; then all have this place. Null: there is one result.
  xla::HloComputation* combine_all = nullptr;
  // Elements next to those of this loop keep what they have. Otherwise loops that come later write
  // all of those after them.
  bool keeps_others = false;
};

// A constant, in the computation of `other`.
HloInstruction* number_next_to(HloInstruction* other, std::int64_t number);

// A vector that nobody has written to, in the computation of `other`: a kernel of no rows. Each has
// another number there, or XLA would take equal ones for one, which it copies before it is written
// to. `model`: the instruction whose result it becomes.
HloInstruction* unwritten_next_to(HloInstruction* other, const xla::Shape& shape,
                                  std::int64_t number, const HloInstruction& model);

// Adds the loop to the computation of `result` and returns the vector with the values in it.
HloInstruction* add_loop(const StridedLoop& loop, HloInstruction* result, SizeNumbers& numbers);
// The same for several results.
Instructions add_loop(const StridedLoop& loop, const Instructions& results, SizeNumbers& numbers);

}  // namespace tfaot::toolkit::engine
