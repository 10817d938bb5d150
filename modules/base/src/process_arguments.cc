// SPDX-License-Identifier: Apache-2.0
#include "process_arguments.h"

#include <fmt/format.h>
#include <uv.h>

#include <new>

namespace tfaot::toolkit {

std::vector<std::string> environment_lines(const std::map<std::string, std::string>& added) {
  std::map<std::string, std::string> variables;
  uv_env_item_t* items = nullptr;
  int count = 0;
  if (uv_os_environ(&items, &count) != 0) throw std::bad_alloc();  // its only failure
  for (int i = 0; i < count; ++i) variables[items[i].name] = items[i].value;
  uv_os_free_environ(items, count);
  for (const auto& [name, value] : added) variables[name] = value;
  std::vector<std::string> lines;
  lines.reserve(variables.size());
  for (const auto& [name, value] : variables) lines.push_back(fmt::format("{}={}", name, value));
  return lines;
}

std::vector<char*> exec_pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace tfaot::toolkit
