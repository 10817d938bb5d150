// SPDX-License-Identifier: Apache-2.0
// Errors found after the config was read name its line and key.
#include <gtest/gtest.h>

#include "tests/unit/config/config_fixture.h"

namespace tfaot::toolkit {
namespace {

const std::string kText =
    "model:\n"
    "  name: test\n"
    "  version: '1'\n"
    "  serving_key: predict\n"
    "compilation:\n"
    "  batch_sizes: [1]\n"
    "  xla_flags: [--a, --b]\n";

std::string text_of(const ModelSpec& spec, const std::string& key,
                    const std::string& text = kText) {
  const testing::MemoryFileSystem fs({{testing::kConfigFile, text}});
  return config_error(fs, spec, key, "is wrong").text();
}

TEST(ConfigError, NamesLineAndKey) {
  const auto spec = testing::load_text(kText);
  ASSERT_TRUE(spec) << testing::error_of(spec);
  EXPECT_EQ(text_of(*spec, "model.serving_key"),
            "/m/aot_config.yaml:4:16: model.serving_key: is wrong");
  EXPECT_EQ(text_of(*spec, "compilation.xla_flags[1]"),
            "/m/aot_config.yaml:7:20: compilation.xla_flags: is wrong");
}

TEST(ConfigError, NamesTheLineOfAnItemOfAMap) {
  const std::string text =
      "model:\n"
      "  name: test\n"
      "  version: '1'\n"
      "  constants:\n"
      "    training: false\n"
      "    scale: [1, 2]\n"
      "compilation: {batch_sizes: [1]}\n";
  const auto spec = testing::load_text(text);
  ASSERT_TRUE(spec) << testing::error_of(spec);
  EXPECT_EQ(text_of(*spec, "model.constants[0]", text),
            "/m/aot_config.yaml:5:5: model.constants: is wrong");
  EXPECT_EQ(text_of(*spec, "model.constants[1]", text),
            "/m/aot_config.yaml:6:5: model.constants: is wrong");
}

TEST(ConfigError, ADefaultHasNoLine) {
  const std::string text = "model: {name: test, version: '1'}\n";
  const auto spec = testing::load_text(text, {.batch_sizes = {"1"}});
  ASSERT_TRUE(spec) << testing::error_of(spec);
  EXPECT_EQ(text_of(*spec, "model.serving_key", text),
            "/m/aot_config.yaml: model.serving_key (default): is wrong");
}

TEST(ConfigError, NamesTheModelWhereThereIsNoConfig) {
  auto spec = testing::load_text(kText);
  ASSERT_TRUE(spec) << testing::error_of(spec);
  spec->config_file.clear();
  EXPECT_EQ(text_of(*spec, "model.serving_key"), "/m/saved_model: is wrong");
}

}  // namespace
}  // namespace tfaot::toolkit
