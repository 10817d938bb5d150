// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/array.h"

#include <cstring>

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
        for (std::size_t at = 0; at < array.bytes.size(); at += sizeof(From)) {
          From from{};
          std::memcpy(&from, array.bytes.data() + at, sizeof from);
          const auto to = static_cast<To>(static_cast<double>(from));
          rounded.bytes.append(reinterpret_cast<const char*>(&to), sizeof to);
        }
      }
    });
  });
  return rounded;
}

}  // namespace tfaot::toolkit
