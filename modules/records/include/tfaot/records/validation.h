// SPDX-License-Identifier: Apache-2.0
// How far the predictions of a package are from those of the model that it was made from: what
// `tfaot validate` measures. A summary of it can be in the manifest (validation_json.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/records/dtype.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// What the inputs are.
enum class InputKind {
  kFile,       // the user's
  kRandom,     // from -1 to 1; whole numbers and truth values: 0 or 1
  kZeros,      //
  kOnes,       //
  kMinusOnes,  // real numbers: all -1
  kPadding,    // real numbers: all -999
  kMillion,    // real numbers: all 1e6
  kWide,       // whole numbers of every size
  kLarge,      // random, times 10000
  kHuge,       // random, one number of each row near the largest of its type
  kDenormal,   // random, below the smallest normal number
  kNan,        // random, one number of each row is none
  kInfinity,   // random, one number of each row is infinite
  kLargest,    // whole numbers: the largest of the type
  kSmallest,   // whole numbers: the smallest of the type
};
template <>
inline constexpr auto kWords<InputKind> = std::to_array<Word<InputKind>>({
    {InputKind::kFile, "file"},
    {InputKind::kRandom, "random"},
    {InputKind::kZeros, "zeros"},
    {InputKind::kOnes, "ones"},
    {InputKind::kMinusOnes, "minus_ones"},
    {InputKind::kPadding, "padding"},
    {InputKind::kMillion, "million"},
    {InputKind::kWide, "wide"},
    {InputKind::kLarge, "large"},
    {InputKind::kHuge, "huge"},
    {InputKind::kDenormal, "denormal"},
    {InputKind::kNan, "nan"},
    {InputKind::kInfinity, "infinity"},
    {InputKind::kLargest, "largest"},
    {InputKind::kSmallest, "smallest"},
});

// A number of one array may differ from the same of another by this much.
struct Tolerance {
  double relative = 1e-5;  // times the largest finite number of the reference
  double absolute = 1e-6;  // added to that
};

// For products with weights of this type, which multiply so. In fewer bits they predict
// differently: about as much as other nets lost (docs/weights.md).
Tolerance usual_tolerance(WeightsType type, ComputeType compute);

// How an array differs from a reference of the same type and shape.
struct ArrayDifference {
  std::uint64_t numbers = 0;  // compared
  // Of the numbers that are finite in both:
  double largest = 0;         // absolute difference
  double mean = 0;            // absolute difference
  double scale = 0;           // the largest absolute value of the reference
  std::uint64_t ulps = 0;     // of the largest difference; 0 for whole numbers and truth values
  std::uint64_t unequal = 0;  // how many differ at all
  // How many are NaN or infinite in one, and something else in the other.
  std::uint64_t nonfinite = 0;
  // The number that differs most: of those that are not finite the first, else the largest.
  std::uint64_t place = 0;
  // How far the reference moves if its inputs do, to their neighbours: the largest difference. 0:
  // not asked, since the tolerance was enough.
  double moved = 0;
};

// The largest difference as a share of `scale`; as it is if all numbers of the reference are zero.
double relative_difference(const ArrayDifference& difference);

// For outputs of this type. Whole numbers and truth values must be equal: their tolerance is zero.
// Numbers of 16 bits may differ in the last one of the largest, since right programs round them at
// other places.
Tolerance tolerance_for(DType dtype, const Tolerance& tolerance);
// The largest difference that is allowed. Right programs round in other places, and a model that
// moves with the last digits of its inputs moves with those of its sums.
double allowance(const ArrayDifference& difference, const Tolerance& tolerance);
bool is_within(const ArrayDifference& difference, const Tolerance& tolerance);
// How a number of rows came about.
enum class Composition {
  kCompiled,  // a compiled size
  kPadded,    // one call of a larger size
  kStitched,  // two calls
  kPlanned,   // as the runtime composes it
};
template <>
inline constexpr auto kWords<Composition> = std::to_array<Word<Composition>>({
    {Composition::kCompiled, "compiled"},
    {Composition::kPadded, "padded"},
    {Composition::kStitched, "stitched"},
    {Composition::kPlanned, "planned"},
});

// One output of one batch.
struct ValidatedOutput {
  InputKind inputs = InputKind::kRandom;
  std::string cpu_level;
  std::int64_t rows = 0;
  Composition composition = Composition::kCompiled;
  std::string output;
  ArrayDifference difference;
  double allowed = 0;               // the largest difference that passes
  std::int64_t row = 0;             // of the place
  std::vector<std::int64_t> index;  // of the place in its row
  bool counts = true;               // for the verdict
  bool passed = true;
  std::vector<DimensionSize> sizes = {};  // of the free dimensions
};

// The largest difference as a share of what is allowed.
double share_of_allowed(const ValidatedOutput& output);
// True if `a` is further outside of what is allowed, or nearer to its end, than `b`.
bool is_worse(const ValidatedOutput& a, const ValidatedOutput& b);

// What the manifest keeps.
struct Validation {
  std::string reference;                // what ran the model: "tensorflow 2.18.1"
  std::vector<std::string> cpu_levels;  // that ran
  std::vector<std::int64_t> rows;       // of the batches, ascending
  Tolerance tolerance;
  std::vector<ValidatedOutput> outputs;  // for each output and kind of inputs the worst
  std::vector<std::vector<DimensionSize>> sizes = {};  // of the free dimensions, that ran
};

}  // namespace tfaot::toolkit
