// SPDX-License-Identifier: Apache-2.0
// Compares a text with tests/golden/<name>. TFAOT_UPDATE_GOLDEN=1 in the environment rewrites the
// file instead.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tfaot::toolkit::testing {

inline ::testing::AssertionResult matches_golden(const std::string& actual,
                                                 const std::string& name) {
  const std::filesystem::path file = std::filesystem::path(TFAOT_GOLDEN_DIR) / name;
  if (std::getenv("TFAOT_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << actual;
    return ::testing::AssertionSuccess();
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return ::testing::AssertionFailure()
           << file << " is missing; TFAOT_UPDATE_GOLDEN=1 writes it. The text was:\n"
           << actual;
  }
  const std::string expected{std::istreambuf_iterator<char>(in), {}};
  if (actual == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "differs from " << file << " (TFAOT_UPDATE_GOLDEN=1 rewrites it)\nexpected:\n"
         << expected << "\nactual:\n"
         << actual;
}

}  // namespace tfaot::toolkit::testing
