// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <fmt/format.h>

#include "tfaot/base/text.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {

std::string made_by_line(const std::string& model_name, const std::string& version) {
  return fmt::format("Made by tfaot from model {}, version {}. Do not edit.", model_name, version);
}

std::string cost_constant(std::int64_t batch_size, const std::string& cpu_level) {
  return fmt::format("kBs{}_{}", batch_size, identifier_of(cpu_level));
}

std::string list_of(const std::vector<std::int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

PackageNames package_names(const CompiledModel& compiled, const Manifest& manifest) {
  PackageNames names;
  names.tool = manifest.tool_name;
  names.cpp_class = manifest.cpp_class;
  names.base = base_variable(names.tool);
  names.made_by = made_by_line(manifest.name, manifest.version);
  names.toolkit_version = manifest.toolkit_version;
  names.record = manifest.record.value_or(ModelRecord());
  names.objects = mapped(compiled.codes, &CompiledCode::object);
  if (!compiled.weights_object.empty()) names.objects.push_back(compiled.weights_object);
  return names;
}

}  // namespace tfaot::toolkit
