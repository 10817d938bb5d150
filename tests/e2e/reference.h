// SPDX-License-Identifier: Apache-2.0
// reference.json (model_folder.py): TensorFlow's own predictions for fixed inputs, and functions to
// compare them with ours. Without JSON's header: many tests include this one, and TensorFlow's.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace tfaot::toolkit::testing {

// Of any element type, exactly; 0 or 1 for a bool. Flat, row-major.
using Numbers = std::vector<long double>;

struct ReferenceCase {
  std::size_t batch_size = 0;
  std::map<std::string, Numbers> inputs;
  std::map<std::string, Numbers> outputs;
  double tolerance = 0;  // of is_close()
};

// The number as a C++ type of elements.
template <class T>
T element(long double number) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(number);
  return T(static_cast<double>(number));
}

// Throws if the file cannot be read.
std::vector<ReferenceCase> read_reference(const std::string& file);

// Largest absolute difference allowed, relative to the largest absolute value of the tensor (at
// least 1), where the file of a model that makes errors larger has no "tolerance".
inline constexpr double kTolerance = 1e-5;

// Integers and bools must be equal; floating point within the tolerance, or the last digit of a
// number of 16 bits. For T of the C++ types of elements, with a byte for a bool.
template <class T>
::testing::AssertionResult is_close(const std::vector<T>& actual, const Numbers& expected,
                                    double tolerance = kTolerance);

}  // namespace tfaot::toolkit::testing
