// SPDX-License-Identifier: Apache-2.0
// A tensor with its name, as files hold it. A plain value.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit {

struct Array {
  std::string name;  // empty: the file has none
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::string bytes;  // row-major, little-endian
};

// Number i of an array's bytes, and its replacement.
template <class Number>
Number number_at(const std::string& bytes, std::size_t i) {
  Number number{};
  std::memcpy(static_cast<void*>(&number), bytes.data() + i * sizeof number, sizeof number);
  return number;
}
template <class Number>
void set_number(std::string& bytes, std::size_t i, Number number) {
  std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
}

// Zeros: `rows` rows of a model's input or output.
inline Array make_array(const TensorSpec& tensor, std::int64_t rows) {
  Array array{tensor.name, tensor.dtype, {rows}, {}};
  array.shape.insert(array.shape.end(), tensor.row_shape.begin(), tensor.row_shape.end());
  array.bytes.resize(static_cast<std::size_t>(rows) * row_elements(tensor) * size_of(tensor.dtype));
  return array;
}

// `rows` rows: the array's, again and again. REQUIRES: it has some.
Array repeated(const Array& array, std::int64_t rows);

// The same numbers in another type of real numbers. REQUIRES: both types are real.
Array rounded_to(const Array& array, DType dtype);

// "[3, 4]"
std::string array_shape_text(const std::vector<std::int64_t>& shape);

}  // namespace tfaot::toolkit
