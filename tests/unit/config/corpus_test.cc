// SPDX-License-Identifier: Apache-2.0
// Every config in corpus/: those in good/ load. For all others tests/golden/config has the whole
// error text. check_corpus.py checks the same files against the JSON Schema.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/golden.h"
#include "tests/unit/config/config_fixture.h"

namespace tfaot::toolkit {
namespace {

using testing::error_of;
using testing::load_text;

std::vector<Path> configs_in(const std::vector<std::string>& folders) {
  std::vector<Path> files;
  for (const std::string& folder : folders) {
    const Path corpus = Path(TFAOT_SOURCE_DIR) / "tests/unit/config/corpus" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const Path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string name_of(const ::testing::TestParamInfo<Path>& info) { return info.param.stem(); }

class GoodConfig : public ::testing::TestWithParam<Path> {};

TEST_P(GoodConfig, Loads) {
  const auto spec = load_text(text_of(GetParam()));
  EXPECT_TRUE(spec) << error_of(spec);
}

INSTANTIATE_TEST_SUITE_P(Corpus, GoodConfig, ::testing::ValuesIn(configs_in({"good"})), name_of);

class BadConfig : public ::testing::TestWithParam<Path> {};

TEST_P(BadConfig, IsRefusedWithThisText) {
  const auto spec = load_text(text_of(GetParam()));
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().kind(), ErrorKind::kInput);
  EXPECT_TRUE(testing::matches_golden(spec.error().text() + "\n",
                                      "config/" + GetParam().stem().string() + ".txt"));
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadConfig, ::testing::ValuesIn(configs_in({"bad", "parser_only"})),
                         name_of);

TEST(Corpus, GoldenTextsBelongToConfigs) {
  std::vector<std::string> configs;
  for (const Path& file : configs_in({"bad", "parser_only"})) configs.push_back(file.stem());
  for (const auto& entry : std::filesystem::directory_iterator(Path(TFAOT_GOLDEN_DIR) / "config")) {
    EXPECT_TRUE(std::count(configs.begin(), configs.end(), entry.path().stem()))
        << entry.path() << " is left over";
  }
}

}  // namespace
}  // namespace tfaot::toolkit
