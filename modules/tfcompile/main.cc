// SPDX-License-Identifier: Apache-2.0
// The tfaot-tfcompile executable.
#include "flags.h"
#include "tfaot/cli/run_program.h"
#include "tfaot/workflow/tfcompile.h"

namespace tfaot::toolkit {
namespace {

TfcompileRequest request_of(const TfcompileFlags& flags, const Context& context) {
  TfcompileRequest request;
  request.graph = context.absolute(flags.graph);
  request.config = context.absolute(flags.config);
  request.cpp_class = flags.cpp_class;
  request.target_triple = full_triple(flags.target_triple);
  request.target_cpu = flags.target_cpu;
  request.target_features = flags.target_features;
  request.out_header = context.absolute(flags.out_header);
  request.out_function_object = context.absolute(flags.out_function_object);
  request.out_metadata_object = context.absolute(flags.out_metadata_object);
  request.batch_sizes = flags.batch_sizes;
  request.cpu_levels = flags.cpu_levels;
  request.fixed_shapes = flags.fixed_shapes;
  return request;
}

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
  const Path config = program.absolute(flags.config);
  TFAOT_ASSIGN(const std::string text, program.files.read(config));
  TFAOT_TRY(read_tfcompile_comments(text, config.string(), flags));
  program.console.set_verbosity(Verbosity::kQuiet);
  return run_tfcompile(program, request_of(flags, program));
}

}  // namespace
}  // namespace tfaot::toolkit

int main(int argc, char** argv) {
  return tfaot::toolkit::run_program(argc, argv, tfaot::toolkit::run);
}
