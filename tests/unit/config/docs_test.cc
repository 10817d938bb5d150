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
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit {
namespace {

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
    case KeyType::kSizes:
      return "map of names to whole numbers";
    case KeyType::kRanges:
      return "map of names to ranges";
    case KeyType::kConstants:
      return "map of names to values";
  }
  return "?";
}

std::string default_of(const ConfigKey& key) {
  if (key.required && !key.formats.empty()) return "required for its format";
  if (key.required) return "**required**";
  return key.fallback.empty() ? "see meaning" : fmt::format("`{}`", key.fallback);
}

std::string meaning_of(const ConfigKey& key) {
  std::string meaning = key.doc;
  if (!key.text.meaning.empty()) {
    meaning += fmt::format(" Allowed: {}.", key.text.meaning);
  } else if (!key.allowed.empty()) {
    meaning += fmt::format(" Allowed: `{}`.", join(key.allowed, "`, `"));
  }
  if (key.maximum > 0) meaning += fmt::format(" Allowed: 1 to {}.", key.maximum);
  if (!key.formats.empty()) {
    std::vector<std::string> words;
    for (const ModelFormat format : key.formats) words.emplace_back(word_of(format));
    meaning += fmt::format(" Only for the format `{}`.", join(words, "` or `"));
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

// One item for each set of features, in the order of the table of levels.
std::string levels_list() {
  std::string text;
  CpuLevel before;
  for (const CpuLevel& level : cpu_level_table()) {
    if (level.name == "native") continue;
    if (before.architecture != level.architecture) {
      text += fmt::format("\n\n{}:\n", level.architecture);
    } else if (before.features == level.features) {
      text += fmt::format(", `{}`", level.name);
      before = level;
      continue;
    }
    text += fmt::format("\n- `{}`", level.name);
    before = level;
  }
  return text + "\n\n";
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

// Between the marks "<!-- WHAT: begin -->" and "end", docs/config.md must contain `expected`.
void expect_part(const std::string& what, const std::string& expected) {
  const std::string first = fmt::format("<!-- {}: begin -->\n", what);
  const std::string text = manual();
  const auto begin = text.find(first);
  const auto end = text.find(fmt::format("<!-- {}: end -->", what));
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  EXPECT_TRUE(testing::matches_golden(
      text.substr(0, begin + first.size()) + expected + text.substr(end), "../../docs/config.md"));
}

TEST(Docs, TableIsTheParsersTable) { expect_part("keys", table()); }
TEST(Docs, LevelsAreThoseOfTheTable) { expect_part("levels", levels_list()); }

TEST(Docs, ExamplesLoad) {
  const std::vector<std::string> blocks = yaml_blocks(manual());
  ASSERT_GE(blocks.size(), 2U);
  for (const std::string& block : blocks) {
    const auto spec = testing::load_text(block);
    EXPECT_TRUE(spec) << testing::error_of(spec) << "\n" << block;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
