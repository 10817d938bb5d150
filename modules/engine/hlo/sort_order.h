// SPDX-License-Identifier: Apache-2.0
// In which order a sort puts floating-point numbers. Pure.
#pragma once

#include <optional>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

struct SortOrder {
  bool is_descending = false;
  // By sign and size: -NaN, ..., -0, +0, ..., +NaN. Otherwise zeros are equal, and NaNs are equal
  // and larger than all numbers.
  bool is_total = false;
};

// Nothing if the comparator's form is not known, or leaves open where NaNs go. Comparators are
// recognised by what they are made of, never by trying values.
std::optional<SortOrder> sort_order(const xla::HloComputation& comparator);

}  // namespace tfaot::toolkit::engine
