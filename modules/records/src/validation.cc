// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/validation.h"

#include <algorithm>
#include <limits>

namespace tfaot::toolkit {

Tolerance usual_tolerance(WeightsType type) {
  Tolerance tolerance;
  switch (type) {
    case WeightsType::kFloat32:
      break;
    case WeightsType::kBfloat16:
      tolerance.relative = 0.02;
      break;
    case WeightsType::kFloat16:
      tolerance.relative = 0.002;
      break;
    case WeightsType::kInt8:
      tolerance.relative = 0.05;
      break;
  }
  return tolerance;
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

bool is_within(const ArrayDifference& difference, const Tolerance& tolerance) {
  return difference.nonfinite == 0 &&
         difference.largest <= tolerance.absolute + tolerance.relative * difference.scale;
}

bool is_worse(const ArrayDifference& a, const ArrayDifference& b, const Tolerance& tolerance) {
  if ((a.nonfinite > 0) != (b.nonfinite > 0)) return a.nonfinite > 0;
  const auto share = [&](const ArrayDifference& difference) {
    const double bound = tolerance.absolute + tolerance.relative * difference.scale;
    return bound > 0 ? difference.largest / bound : difference.largest;
  };
  return share(a) > share(b);
}

}  // namespace tfaot::toolkit
