// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tfaot/arrays/array.h"

namespace tfaot::toolkit::testing {

template <class T>
Array array_of(const std::string& name, DType dtype, std::vector<std::int64_t> shape,
               const std::vector<T>& values) {
  Array array{name, dtype, std::move(shape), {}};
  array.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return array;
}

template <class T>
std::vector<T> values_of(const Array& array) {
  const T* const first = reinterpret_cast<const T*>(array.bytes.data());
  return {first, first + array.bytes.size() / sizeof(T)};
}

}  // namespace tfaot::toolkit::testing
