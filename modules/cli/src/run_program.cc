// SPDX-License-Identifier: Apache-2.0
#include "run_program.h"

#include <signal.h>
#include <unistd.h>

#include <exception>
#include <iostream>

#include "command_table.h"
#include "console.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/process.h"

namespace tfaot {
namespace {

// What started us, such as a shell's loop, must see that we were interrupted.
void die_of(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  ::raise(signal);
}

}  // namespace

int run_program(int argc, char** argv,
                const std::function<Status(const std::vector<std::string>&, Context&)>& work) {
  Console console({std::cout, std::cerr, isatty(STDERR_FILENO) == 1});
  const auto run = [&]() -> Status {
    RealFileSystem files;
    TFAOT_ASSIGN(const Environment environment, look_up_environment(files));
    Context context{files, console, environment};
    TFAOT_TRY(work(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), context));
    if (!std::cout.flush()) return fail(Error("the standard output cannot be written"));
    return {};
  };
  Status status;
  try {
    status = run();
  } catch (const std::exception& defect) {
    status = fail(Error::internal(defect.what())
                      .note("this is a defect of tfaot; please report it with the command line"));
  }
  if (!status) console.error(status.error());
  if (const int signal = interrupting_signal(); !status && signal != 0) die_of(signal);
  return exit_code(status);
}

}  // namespace tfaot
