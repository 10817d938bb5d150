// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/validation.h"

#include <algorithm>
#include <limits>

namespace tfaot::toolkit {
namespace {

// Moved inputs are one rounding; a net's sums are many.
constexpr double kMovesAllowed = 8;

}  // namespace

Tolerance usual_tolerance(WeightsType type, ComputeType compute) {
  if (compute == ComputeType::kBfloat16) return {.relative = 0.03};
  switch (type) {
    case WeightsType::kBfloat16:
      return {.relative = 0.02};
    case WeightsType::kFloat16:
      return {.relative = 0.002};
    case WeightsType::kInt8:
      return {.relative = 0.05};
    case WeightsType::kFloat32:
      break;
  }
  return {};
}

double relative_difference(const ArrayDifference& difference) {
  return difference.scale > 0 ? difference.largest / difference.scale : difference.largest;
}

Tolerance tolerance_for(DType dtype, const Tolerance& tolerance) {
  return visit_dtype(dtype, [&]<class T>(ElementType<T>) -> Tolerance {
    if constexpr (!kIsReal<T>) {
      return {.relative = 0, .absolute = 0};
    } else if constexpr (sizeof(T) == 2) {
      const double last = std::numeric_limits<T>::epsilon();
      return {.relative = std::max(tolerance.relative, last), .absolute = tolerance.absolute};
    } else {
      return tolerance;
    }
  });
}

double allowance(const ArrayDifference& difference, const Tolerance& tolerance) {
  return tolerance.absolute + tolerance.relative * difference.scale +
         kMovesAllowed * difference.moved;
}

bool is_within(const ArrayDifference& difference, const Tolerance& tolerance) {
  return difference.nonfinite == 0 && difference.largest <= allowance(difference, tolerance);
}

double share_of_allowed(const ValidatedOutput& output) {
  if (output.difference.largest == 0) return 0;
  return output.allowed > 0 ? output.difference.largest / output.allowed
                            : std::numeric_limits<double>::infinity();
}

bool is_worse(const ValidatedOutput& a, const ValidatedOutput& b) {
  if ((a.difference.nonfinite > 0) != (b.difference.nonfinite > 0)) {
    return a.difference.nonfinite > 0;
  }
  return share_of_allowed(a) > share_of_allowed(b);
}

}  // namespace tfaot::toolkit
