// SPDX-License-Identifier: Apache-2.0
// docs/config.md: its table is the parser's table, its examples load. TFAOT_UPDATE_GOLDEN=1
// rewrites the table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/support/golden.h"
#include "tests/unit/config/config_fixture.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config_keys.h"

namespace tfaot {
namespace {

constexpr const char* kBegin = "<!-- keys: begin -->\n";
constexpr const char* kEnd = "<!-- keys: end -->";

std::string manual() {
  std::ifstream in(Path(TFAOT_SOURCE_DIR) / "docs/config.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string type_of(const ConfigKey& key) {
  const auto with_list = [&](const char* one, const char* many) {
    return key.list ? fmt::format("list of {}", many) : std::string(one);
  };
  switch (key.type) {
    case KeyType::kMap:
      return with_list("map", "maps");
    case KeyType::kText:
      return with_list("string", "strings");
    case KeyType::kTextOrNumber:
      return "string or number";
    case KeyType::kWholeNumber:
      return with_list("whole number", "whole numbers");
    case KeyType::kShape:
      return "list of dimensions";
    case KeyType::kTextOrMap:
      return with_list("string or map", "strings or maps");
  }
  return "?";
}

std::string default_of(const ConfigKey& key) {
  if (key.required && key.format) return "required for its format";
  if (key.required) return "**required**";
  return key.fallback.empty() ? "see meaning" : fmt::format("`{}`", key.fallback);
}

std::string meaning_of(const ConfigKey& key) {
  std::string meaning = key.doc;
  if (!key.allowed.empty()) {
    meaning += fmt::format(" Allowed: `{}`.", join(key.allowed, "`, `"));
  } else if (!key.text.meaning.empty()) {
    meaning += fmt::format(" Allowed: {}.", key.text.meaning);
  }
  if (key.maximum > 0) meaning += fmt::format(" Allowed: 1 to {}.", key.maximum);
  if (key.format) {
    meaning +=
        fmt::format(" Only for the format `{}`.",
                    key.format == ModelFormat::kFrozenGraph ? "frozen_graph" : "saved_model");
  }
  return meaning;
}

std::string table() {
  std::string text = "| Key | Type | Default | Meaning |\n|---|---|---|---|\n";
  for (const ConfigKey& key : config_keys()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.path, type_of(key), default_of(key),
                        meaning_of(key));
  }
  return text;
}

// The bodies of the blocks that start with ```yaml.
std::vector<std::string> yaml_blocks(const std::string& text) {
  std::vector<std::string> blocks;
  const std::string fence = "```yaml\n";
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

TEST(Docs, TableIsTheParsersTable) {
  const std::string text = manual();
  const auto begin = text.find(kBegin);
  const auto end = text.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  const std::string expected =
      text.substr(0, begin + std::string(kBegin).size()) + table() + text.substr(end);
  EXPECT_TRUE(testing::matches_golden(expected, "../../docs/config.md"));
}

TEST(Docs, ExamplesLoad) {
  const std::vector<std::string> blocks = yaml_blocks(manual());
  ASSERT_GE(blocks.size(), 2U);
  for (const std::string& block : blocks) {
    const auto spec = testing::load_text(block);
    EXPECT_TRUE(spec) << testing::error_of(spec) << "\n" << block;
  }
}

}  // namespace
}  // namespace tfaot
