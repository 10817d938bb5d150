// SPDX-License-Identifier: Apache-2.0
#include "grammar/elements.h"

#include "grammar/conditions.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kOld = "of older versions";

using Elements = std::map<std::string, ElementRule>;

const Elements& elements_of_both() {
  static const Elements table = {
      {"root", {}},
      {"flags", {.attributes = {"*"}}},
      {"lib", {.attributes = {"name", "type"}, .required = {"name"}}},
      {"use",
       {.attributes = {"name", "source_only"},
        .newer = {{"for", kOld}, {"force_link", kOld}},
        .required = {"name"}}},
  };
  return table;
}

const Elements& elements_of_tool_files() {
  static const Elements table = {
      {"tool",
       {.attributes = {"name", "version", "type"},
        .newer = {{"revision", "older than November 2024, as CMSSW_13_0's,"}, {"path", kOld}},
        .required = {"name", "version"}}},
      {"client", {}},
      {"info", {.attributes = {"url"}}},
      {"environment",
       {.attributes = {"name", "default", "value", "handler"}, .required = {"name"}}},
      {"runtime",
       {.attributes = {"name", "value", "type", "default", "handler"},
        .newer = {{"join", kOld}},
        .required = {"name"}}},
  };
  return table;
}

// The elements that say what is built, and our <aot_compile>. <productstore>, <classpath> and
// <group> are for scram's own configuration and have no effect here.
const Elements& elements_of_build_files() {
  static const Elements table = {
      {"export", {}},
      {"environment", {}},
      {"include_path", {.attributes = {"path"}, .required = {"path"}}},
      {"bin", {.attributes = {"file", "name", "for", "foreach"}, .required = {"file"}}},
      {"library", {.attributes = {"file", "name", "for", "foreach"}, .required = {"file"}}},
      {"test",
       {.attributes = {"name", "command", "for", "foreach"}, .required = {"name", "command"}}},
      {"set", {.attributes = {"name", "value"}, .required = {"name", "value"}}},
      {"aot_compile",
       {.attributes = {"model", "class", "batch_sizes", "cpu_levels", "headers", "version"},
        .required = {"model", "class"}}},
  };
  return table;
}

const Elements& own_elements_of(ScramFile file) {
  return file == ScramFile::kToolFile ? elements_of_tool_files() : elements_of_build_files();
}

}  // namespace

std::optional<ElementRule> element_rule(ScramFile file, const std::string& element) {
  for (const Elements* table : {&own_elements_of(file), &elements_of_both()}) {
    if (const auto found = table->find(element); found != table->end()) return found->second;
  }
  return std::nullopt;
}

std::vector<std::string> known_elements(ScramFile file) {
  std::vector<std::string> names = known_conditions(file);
  for (const Elements* table : {&own_elements_of(file), &elements_of_both()}) {
    for (const auto& [name, rule] : *table) names.push_back(name);
  }
  return names;
}

}  // namespace tfaot::toolkit
