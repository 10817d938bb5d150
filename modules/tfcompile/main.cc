// SPDX-License-Identifier: Apache-2.0
// The tfaot-tfcompile executable.
#include "flags.h"
#include "tfaot/cli/run_program.h"
#include "tfaot/workflow/tfcompile.h"

namespace tfaot::toolkit {
namespace {

Status run(const std::vector<std::string>& arguments, Program& program) {
  TFAOT_ASSIGN(TfcompileFlags flags, parse_tfcompile_flags(arguments));
  if (flags.help) {
    program.console.print(tfcompile_usage());
    return {};
  }
  if (flags.version) {
    program.console.print("tfaot-tfcompile " TFAOT_VERSION "\n");
    return {};
  }
  for (Path* const path : {&flags.graph, &flags.config, &flags.out_header,
                           &flags.out_function_object, &flags.out_metadata_object}) {
    *path = program.absolute(*path);
  }
  TFAOT_ASSIGN(const std::string text, program.files.read(flags.config));
  TFAOT_TRY(read_tfcompile_comments(text, flags.config.string(), flags));
  program.console.set_verbosity(Verbosity::kQuiet);
  return run_tfcompile(program, flags);
}

}  // namespace
}  // namespace tfaot::toolkit

int main(int argc, char** argv) {
  return tfaot::toolkit::run_program(argc, argv, tfaot::toolkit::run);
}
