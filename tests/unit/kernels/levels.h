// SPDX-License-Identifier: Apache-2.0
// The kernels under test, by CPU level, and the tests' parameter: every level the library has. A
// test of a level that this machine cannot run is skipped, and says so.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <type_traits>

#include "tests/support/kernel_levels.h"
#include "tests/unit/kernels/bits.h"

namespace tfaot::kernels_test {

inline void PrintTo(const Level& level, std::ostream* out) { *out << level.name; }

// The baseline of x86-64 rounds products before it adds them.
inline bool is_fused(const Level& level) { return level.name != "x86-64"; }

inline std::string name_of_level(const ::testing::TestParamInfo<Level>& level) {
  std::string name = level.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class EveryLevel : public ::testing::TestWithParam<Level> {
 protected:
  void SetUp() override {
    if (!runs_here(GetParam())) GTEST_SKIP() << "this CPU cannot run " << GetParam().name;
  }
  // A level that does not fuse has hashes of its own.
  void TearDown() override {
    if (hash_of_test() == 0 || HasFailure()) return;
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    check_noted_bits(name.substr(name.find('/') + 1, name.rfind('/') - name.find('/') - 1) +
                     (is_fused(GetParam()) ? "" : "/x86-64"));
  }
  template <typename T>
  const Kernels& kernels() const {
    return std::is_same_v<T, float> ? GetParam().f32 : GetParam().f64;
  }
};

}  // namespace tfaot::kernels_test
