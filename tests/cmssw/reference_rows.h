// SPDX-License-Identifier: Apache-2.0
// TensorFlow's reference values as the vectors of rows that CMSSW's interface takes and gives.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "reference.h"

template <class T>
using Rows = std::vector<std::vector<T>>;

inline std::vector<tfaot::toolkit::testing::ReferenceCase> reference_of(const std::string& model) {
  return tfaot::toolkit::testing::read_reference(TFAOT_MODELS_FOLDER "/" + model +
                                                 "/reference.json");
}

template <class T>
Rows<T> input_rows(const tfaot::toolkit::testing::ReferenceCase& one, const std::string& name) {
  const tfaot::toolkit::testing::Numbers& flat = one.inputs.at(name);
  const std::size_t elements = flat.size() / one.batch_size;
  Rows<T> rows(one.batch_size);
  for (std::size_t i = 0; i < flat.size(); ++i) {
    rows[i / elements].push_back(tfaot::toolkit::testing::element<T>(flat[i]));
  }
  return rows;
}

// The rows of an output, each of the right number of elements, hold TensorFlow's values.
template <class T>
::testing::AssertionResult matches(const Rows<T>& rows,
                                   const tfaot::toolkit::testing::ReferenceCase& one,
                                   const std::string& name) {
  const tfaot::toolkit::testing::Numbers& expected = one.outputs.at(name);
  if (rows.size() != one.batch_size) {
    return ::testing::AssertionFailure() << rows.size() << " rows, not " << one.batch_size;
  }
  std::vector<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>> flat;
  for (const auto& row : rows) {
    if (row.size() * one.batch_size != expected.size()) {
      return ::testing::AssertionFailure() << row.size() << " elements in a row";
    }
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return tfaot::toolkit::testing::is_close(flat, expected);
}
