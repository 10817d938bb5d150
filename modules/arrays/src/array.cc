// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/array.h"

namespace tfaot::toolkit {

Array repeated(const Array& array, std::int64_t rows) {
  Array more = array;
  const auto there = static_cast<std::size_t>(array.shape.front());
  const std::size_t row_bytes = array.bytes.size() / there;
  more.shape.front() = rows;
  more.bytes.resize(static_cast<std::size_t>(rows) * row_bytes);
  for (std::size_t row = there; row < static_cast<std::size_t>(rows); ++row) {
    more.bytes.replace(row * row_bytes, row_bytes, array.bytes, row % there * row_bytes, row_bytes);
  }
  return more;
}

Array rounded_to(const Array& array, DType dtype) {
  Array rounded{array.name, dtype, array.shape, {}};
  visit_dtype(array.dtype, [&]<class From>(ElementType<From>) {
    visit_dtype(dtype, [&]<class To>(ElementType<To>) {
      if constexpr (kIsReal<From> && kIsReal<To>) {
        const std::size_t count = array.bytes.size() / sizeof(From);
        rounded.bytes.resize(count * sizeof(To));
        for (std::size_t i = 0; i < count; ++i) {
          const auto number = static_cast<double>(number_at<From>(array.bytes, i));
          set_number(rounded.bytes, i, static_cast<To>(number));
        }
      }
    });
  });
  return rounded;
}

}  // namespace tfaot::toolkit
