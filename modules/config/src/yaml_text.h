// SPDX-License-Identifier: Apache-2.0
// yaml-cpp without its exceptions. It also determines what a node is by the core schema of YAML
// 1.2, which yaml-cpp leaves to the caller: a plain 12 is a number, a quoted one a text. Pure
// functions.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::config {

enum class YamlKind { kNull, kText, kInteger, kFloat, kBool, kList, kMap, kOther };

// What errors call it, and what one without anything in it needs.
struct DocumentName {
  const char* what = "the config";
  const char* needs = "it needs the keys 'model' and 'compilation'";
};
// The only document of a file. Error: not UTF-8, not YAML, empty, several documents.
Result<YAML::Node> parse_yaml(const std::string& text, const std::string& file,
                              const DocumentName& name = {});

YamlKind kind_of(const YAML::Node& node);

struct SizeRange {
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
};
// "1..128"; nothing for other texts.
std::optional<SizeRange> size_range(const std::string& text);

// For messages: "the text 'abc'", "the number 4", "a list".
std::string describe(const YAML::Node& node);

}  // namespace tfaot::toolkit::config
