// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/validation.h"

namespace tfaot::toolkit {

double relative_difference(const ArrayDifference& difference) {
  return difference.scale > 0 ? difference.largest / difference.scale : difference.largest;
}

bool is_within(const ArrayDifference& difference, const Tolerance& tolerance) {
  return difference.nonfinite == 0 &&
         difference.largest <= tolerance.absolute + tolerance.relative * difference.scale;
}

}  // namespace tfaot::toolkit
