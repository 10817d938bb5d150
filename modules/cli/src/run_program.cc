// SPDX-License-Identifier: Apache-2.0
#include "tfaot/cli/run_program.h"

#include <pwd.h>
#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>  // environ

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <system_error>
#include <thread>

#include "text/terminal.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/memory_budget.h"
#include "tfaot/base/program_start.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/base/time_limit.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {
namespace {

// Looks up what workflows may know about the process: its environment variables, place and machine.
// Called once, in main(), before there are threads.

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

std::string user_name() {
  const passwd* const user = ::getpwuid(::geteuid());  // null in containers without such a user
  return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

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
  if (uname(&machine) == 0) {
    environment.architecture = machine.machine;
    environment.host = machine.nodename;
  }
  environment.user = user_name();
  environment.memory = machine_memory();
  environment.cores = std::max(1U, std::thread::hardware_concurrency());
  return environment;
}

// The process that started us, such as a shell's loop, must see that we were interrupted.
void die_of(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  ::raise(signal);
}

bool is_terminal(int descriptor) { return isatty(descriptor) == 1 && variable("TERM") != "dumb"; }

// NO_COLOR: https://no-color.org
bool takes_colours(int descriptor) {
  return is_terminal(descriptor) && variable("NO_COLOR").empty();
}

Console::Streams standard_streams() {
  const auto columns = terminal_columns(STDERR_FILENO, variable("COLUMNS"));
  return {std::cout, std::cerr, is_terminal(STDERR_FILENO) ? columns.value_or(kUsualColumns) : 0,
          takes_colours(STDOUT_FILENO), takes_colours(STDERR_FILENO)};
}

}  // namespace

int run_program(int argc, char** argv,
                const std::function<Status(const std::vector<std::string>&, Program&)>& work) {
  start_program();
  Console console(standard_streams());
  const auto run = [&]() -> Status {
    RealFileSystem files;
    TFAOT_ASSIGN(const Environment environment, look_up_environment(files));
    Program program{
        {files, console, environment}, console, {argv + (argc > 0 ? 1 : 0), argv + argc}};
    TFAOT_TRY(work(program.arguments, program));
    if (!std::cout.flush()) return fail(Error("the standard output cannot be written"));
    return {};
  };
  Status status;
  try {
    status = run();
  } catch (const std::bad_alloc&) {
    status = fail(Error("there is not enough memory"));
  } catch (const std::exception& defect) {
    status = fail(Error::internal(defect.what())
                      .note("this is a defect of tfaot; please report it with the command line"));
  }
  if (!status) console.error(status.error());
  const int signal = interrupting_signal();
  if (signal != 0 && signal != kTimeLimitSignal) {  // even if the work was done
    std::cout.flush();
    die_of(signal);
  }
  return exit_code(status);
}

int exit_code(const Status& status) {
  if (status) return 0;
  switch (status.error().kind()) {
    case ErrorKind::kInput:
      return 1;
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kInternal:
      break;
  }
  return 3;
}

}  // namespace tfaot::toolkit
