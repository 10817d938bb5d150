// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tfaot/base/letter_case.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

std::vector<std::string> triple_parts(const std::string& triple) {
  return split_lines(replace_all(triple, "-", "\n"));
}

}  // namespace

std::string default_tool_name(const std::string& model_name) {
  return "tfaot-model-" + replace_all(model_name, "_", "-");
}

std::string processor_of(const std::string& target_triple) {
  return target_triple.substr(0, target_triple.find('-'));
}

std::string architecture_of(const std::string& target_triple) {
  const std::vector<std::string> parts = triple_parts(target_triple);
  // The vendor may be missing: "x86_64-linux-gnu".
  const bool has_vendor = parts.size() > 2 && parts[1] != "linux";
  const std::size_t system = has_vendor ? 2 : 1;
  return processor_of(target_triple) + "-" + (parts.size() > system ? parts[system] : "unknown");
}

std::string made_by_line(const std::string& model_name, const std::string& version) {
  return fmt::format("Made by tfaot from model {}, version {}. Do not edit.", model_name, version);
}

std::string cost_constant(std::int64_t batch_size, const std::string& cpu_level) {
  return fmt::format("kBs{}_{}", batch_size, identifier_of(cpu_level));
}

std::string list_of(const std::vector<std::int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

bool is_reserved_tool_name(const std::string& name) {
  const std::string lower = lower_case(name);
  return lower == kRuntimeToolName || lower == "self";
}

bool is_dotted_version(const std::string& version) {
  const std::vector<std::string> parts = split_lines(replace_all(version, ".", "\n"));
  return !parts.empty() && parts.size() <= 4 && !version.ends_with('.') &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
         });
}

bool is_safe_name(const std::string& text) {
  return !text.empty() && (is_letter_or_digit(text.front()) || text.front() == '_') &&
         std::all_of(text.begin(), text.end(), is_name_character);
}

PackageNames package_names(const ModelSpec& spec, const CompiledModel& compiled,
                           const GenerateOptions& options) {
  PackageNames names;
  names.tool = options.tool_name.empty() ? default_tool_name(spec.model.name) : options.tool_name;
  names.cpp_class = spec.compilation.namespace_name + "::" + spec.model.name;
  names.base = base_variable(names.tool);
  names.made_by = made_by_line(spec.model.name, spec.model.version);
  for (const CompiledCode& code : compiled.codes) names.objects.push_back(code.object);
  if (!compiled.weights_object.empty()) names.objects.push_back(compiled.weights_object);
  return names;
}

}  // namespace tfaot::toolkit
