// SPDX-License-Identifier: Apache-2.0
// reference.json (model_folder.py): TensorFlow's own predictions for fixed inputs, and functions to
// compare them with ours.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tfaot::toolkit::testing {

struct ReferenceCase {
  std::size_t batch_size = 0;
  std::map<std::string, nlohmann::json> inputs;  // flat, row-major
  std::map<std::string, nlohmann::json> outputs;
};

// Throws if the file cannot be read.
std::vector<ReferenceCase> read_reference(const std::string& file);

// Largest absolute difference allowed, relative to the largest absolute value of the tensor (at
// least 1).
inline constexpr double kTolerance = 1e-5;

// Integers and bools must be equal; floating point within kTolerance, or the last digit of a number
// of 16 bits. For T of the C++ types of elements, with a byte for a bool.
template <class T>
::testing::AssertionResult is_close(const std::vector<T>& actual, const nlohmann::json& expected);

}  // namespace tfaot::toolkit::testing
