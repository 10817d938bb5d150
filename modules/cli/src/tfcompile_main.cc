// SPDX-License-Identifier: Apache-2.0
// The tfaot-tfcompile executable, like main.cc: tfcompile.h does the work.
#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "command_table.h"
#include "console.h"
#include "context.h"
#include "tfaot/base/file_system.h"
#include "tfcompile.h"

namespace {

tfaot::Status run(const std::vector<std::string>& arguments, tfaot::Console& console) {
  tfaot::RealFileSystem files;
  TFAOT_ASSIGN(const tfaot::Environment environment, tfaot::look_up_environment(files));
  tfaot::Context context{files, console, environment};
  TFAOT_TRY(tfaot::run_tfcompile(arguments, context));
  if (!std::cout.flush()) return tfaot::fail(tfaot::Error("the standard output cannot be written"));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  tfaot::Console console({std::cout, std::cerr, isatty(STDERR_FILENO) == 1});
  tfaot::Status status;
  try {
    status = run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc), console);
  } catch (const std::exception& defect) {
    status =
        tfaot::fail(tfaot::Error::internal(defect.what())
                        .note("this is a defect of tfaot; please report it with the command line"));
  }
  if (!status) console.error(status.error());
  return tfaot::exit_code(status);
}
