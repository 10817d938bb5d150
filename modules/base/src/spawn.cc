// SPDX-License-Identifier: Apache-2.0
#include "spawn.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>

namespace tfaot::toolkit {
namespace {

// "NAME=value" for each variable: the parent's, with those of `added` on top.
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

// The array of pointers, null at its end; `strings` must outlive it.
std::vector<char*> exec_pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

int spawn(uv_loop_t& loop, uv_process_t& process, const SpawnWords& words,
          const std::array<int, 3>& standard, uv_exit_cb on_exit) {
  const bool by_path = words.program.find('/') != std::string::npos;
  const std::string program =
      by_path ? std::filesystem::absolute(words.program).string() : words.program;
  std::vector<std::string> arguments = {words.program};
  arguments.insert(arguments.end(), words.arguments.begin(), words.arguments.end());
  std::vector<std::string> environment = environment_lines(words.environment);
  std::vector<char*> argument_pointers = exec_pointers(arguments);
  std::vector<char*> environment_pointers = exec_pointers(environment);
  std::array<uv_stdio_container_t, 3> stdio{};  // all UV_IGNORE: /dev/null
  for (std::size_t i = 0; i < stdio.size(); ++i) {
    if (standard[i] < 0) continue;
    stdio[i].flags = UV_INHERIT_FD;
    stdio[i].data.fd = standard[i];
  }
  uv_process_options_t options{};
  options.file = program.c_str();
  options.args = argument_pointers.data();
  options.env = environment_pointers.data();
  if (!words.working_directory.empty()) options.cwd = words.working_directory.c_str();
  options.flags = UV_PROCESS_DETACHED;
  options.stdio_count = static_cast<int>(stdio.size());
  options.stdio = stdio.data();
  options.exit_cb = on_exit;
  return uv_spawn(&loop, &process, &options);
}

}  // namespace tfaot::toolkit
