// SPDX-License-Identifier: Apache-2.0
// Two plugins with the same model, of either flavour of headers, in one process, with their symbols
// their own and with symbols that everyone sees.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>

#include "reference_rows.h"

namespace {

struct Unload {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Unload>;
using Predict = void (*)(const float*, float*);

Library load(const std::string& file, int mode) {
  Library library(dlopen(file.c_str(), mode));
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

void check(const Library& plugin) {
  const auto predict = reinterpret_cast<Predict>(dlsym(plugin.get(), "predict"));
  ASSERT_NE(predict, nullptr) << dlerror();
  const auto one = reference_of("minimal").front();
  const Rows<float> x = input_rows<float>(one, "x");
  Rows<float> y(1, std::vector<float>(2));
  predict(x[0].data(), y[0].data());
  EXPECT_TRUE(matches(y, one, "y"));
}

class Plugins : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Plugins, PredictSideBySide) {
  for (const int mode : {RTLD_NOW | RTLD_LOCAL, RTLD_NOW | RTLD_GLOBAL}) {
    Library first = load(GetParam()[0], mode);
    const Library second = load(GetParam()[1], mode);
    check(first);
    check(second);
    first.reset();
    check(second);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Plugins,
                         ::testing::Values(std::vector<std::string>{TFAOT_CMSSW_PLUGINS},
                                           std::vector<std::string>{TFAOT_DROP_IN_PLUGINS},
                                           std::vector<std::string>{TFAOT_MIXED_PLUGINS}));

}  // namespace
