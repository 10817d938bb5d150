// SPDX-License-Identifier: Apache-2.0
#include "attribute_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace tfaot::toolkit {
namespace {

constexpr const char* kOld = "of older versions";

const std::map<std::string, ElementRule>& rules() {
  static const std::map<std::string, ElementRule> table = {
      {"tool",
       {.attributes = {"name", "version", "type"},
        .newer = {{"revision", "older than November 2024, as CMSSW_13_0's,"}, {"path", kOld}},
        .required = {"name", "version"}}},
      {"client", {}},
      {"info", {.attributes = {"url"}}},
      {"environment",
       {.attributes = {"name", "default", "value", "handler"}, .required = {"name"}}},
      {"flags", {.attributes = {"*"}}},
      {"lib", {.attributes = {"name", "type"}, .required = {"name"}}},
      {"use",
       {.attributes = {"name", "source_only"},
        .newer = {{"for", kOld}, {"force_link", kOld}},
        .required = {"name"}}},
      {"runtime",
       {.attributes = {"name", "value", "type", "default", "handler"},
        .newer = {{"join", kOld}},
        .required = {"name"}}},
  };
  return table;
}

constexpr std::array<std::string_view, 13> kConditions = {
    "architecture", "compiler",  "release",  "ifarchitecture", "ifcompiler",
    "ifrelease",    "ifproject", "ifos",     "ifarch",         "ifcxx11_abi",
    "ifconfig",     "ifscram",   "ifversion"};

}  // namespace

std::optional<ElementRule> element_rule(const std::string& element) {
  const auto found = rules().find(element);
  if (found == rules().end()) return std::nullopt;
  return found->second;
}

bool is_condition(const std::string& element) {
  return std::ranges::find(kConditions, element) != kConditions.end();
}

std::vector<std::string> condition_attributes(const std::string& element) {
  for (const char* unlisted : {"ifproject", "ifconfig", "ifscram", "ifversion"}) {
    if (element == unlisted) return {};
  }
  if (element == "ifcxx11_abi") return {"value"};
  return {"name", "match", "value"};
}

std::vector<std::string> known_elements() {
  std::vector<std::string> names(kConditions.begin(), kConditions.end());
  for (const auto& [name, rule] : rules()) names.push_back(name);
  return names;
}

}  // namespace tfaot::toolkit
