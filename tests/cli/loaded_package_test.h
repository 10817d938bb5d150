// SPDX-License-Identifier: Apache-2.0
// A package of the fake engine in "out", and a linker for it. Real packages are in tests/e2e.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli_test.h"
#include "fake_linker.h"
#include "tests/unit/arrays/array_samples.h"
#include "tfaot/arrays/npy.h"

namespace tfaot::toolkit::testing {

class LoadedPackageTest : public CliTest {
 protected:
  LoadedPackageTest() {
    write_model();
    EXPECT_EQ(CliTest::run({"compile", "-c", "model/aot_config.yaml", "-o", "out", "-q"}).exit_code,
              0);
    write_fake_linker(at("bin"), read("out/record.json"), at("linked"));
  }

  // With that linker and a cache of its own.
  Outcome run_loaded(const std::vector<std::string>& arguments, Variables more = {}) const {
    Variables variables = {{"TFAOT_CACHE_DIR", at("cache")},
                           {"PATH", at("bin") + ":" + std::getenv("PATH")}};
    more.merge(variables);
    return CliTest::run(arguments, more);
  }

  // ten numbers a row: 0, 1, 2, ...
  void write_npy(const std::string& path, std::int64_t rows) {
    write(path, npy_to_bytes(x_of(rows)));
  }
  static Array x_of(std::int64_t rows) {
    std::vector<float> numbers(static_cast<std::size_t>(rows) * 10);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    return array_of<float>("x", DType::kFloat32, {rows, 10}, numbers);
  }
  Array read_npy(const std::string& path) const {
    auto array = npy_from_bytes(read(path), path);
    EXPECT_TRUE(array) << array.error().text();
    return *array;
  }
};

}  // namespace tfaot::toolkit::testing
