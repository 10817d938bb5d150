// SPDX-License-Identifier: Apache-2.0
// A package of the fake engine in "out", and a linker that links code of ours (loaded_code.cc)
// under the names in its record. Real packages are in tests/e2e.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

#include "cli_test.h"
#include "tests/support/executable_file.h"
#include "tests/unit/arrays/array_samples.h"
#include "tfaot/arrays/npy.h"

namespace tfaot::toolkit::testing {

class LoadedPackageTest : public CliTest {
 protected:
  LoadedPackageTest() {
    write_model();
    EXPECT_EQ(CliTest::run({"compile", "-c", "model/aot_config.yaml", "-o", "out", "-q"}).exit_code,
              0);
    write_linker();
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

 private:
  // The first words in the record that match.
  static std::string word_in(const std::string& record, const std::string& pattern) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(record, match, std::regex(pattern))) << record;
    return match[1];
  }

  void write_linker() {
    const std::string record = read("out/record.json");
    const std::string entry = R"re("entry_symbol":"([^"]*_bs)re";
    std::string names;
    for (const std::string size : {"1", "4"}) {
      names +=
          " --defsym=" + word_in(record, entry + size + "_[^\"]*)\"") + "=tfaot_loaded_bs" + size;
    }
    names += " --defsym=" + word_in(record, R"re("weights_symbol":"([^"]+)")re") +
             "=tfaot_loaded_weights";
    write("bin/ld", "#!/bin/sh\necho linked >> " + at("linked") +
                        "\nwhile [ \"$1\" != -o ]; do shift; done\nPATH=${PATH#*:} exec ld -shared "
                        "-o \"$2\" '" +
                        TFAOT_LOADED_OBJECT + "'" + names + "\n");
    make_executable(at("bin/ld"));
  }
};

}  // namespace tfaot::toolkit::testing
