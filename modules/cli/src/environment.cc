// SPDX-License-Identifier: Apache-2.0
#include "environment.h"

#include <sys/utsname.h>
#include <unistd.h>  // environ

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "tfaot/base/memory_budget.h"

namespace tfaot::toolkit {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::map<std::string, std::string> all_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t end = text.find('=');
    if (end != std::string::npos) variables[text.substr(0, end)] = text.substr(end + 1);
  }
  return variables;
}

}  // namespace

Result<Environment> look_up_environment(const FileSystem& files) {
  Environment environment;
  environment.cmssw_base = variable("CMSSW_BASE");
  environment.engine = variable("TFAOT_ENGINE");
  environment.variables = all_variables();
  std::error_code error;
  environment.working_directory = std::filesystem::current_path(error);
  if (error) return fail(Error("the working directory cannot be read: " + error.message()));
  TFAOT_ASSIGN(environment.program, files.read_symlink("/proc/self/exe"));
  utsname machine{};
  if (uname(&machine) == 0) environment.architecture = machine.machine;
  environment.memory = machine_memory();
  environment.cores = std::max(1U, std::thread::hardware_concurrency());
  return environment;
}

}  // namespace tfaot::toolkit
