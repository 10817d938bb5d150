// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/compile_options.h"
#include "text/reports.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/build_package.h"

namespace tfaot::toolkit {
namespace {

NextSteps next_steps(const Manifest& manifest, const Context& context, const Path& output) {
  const auto tool_file = [&](const std::string& name) {
    return cmssw_relative(context.environment, output / (name + ".xml"));
  };
  return {manifest.name,
          manifest.cpp_class,
          manifest.tool_name,
          tool_file(manifest.tool_name),
          tool_file(std::string(kRuntimeToolName)),
          manifest.headers == HeadersMode::kCmssw,
          cmssw_relative(context.environment, output).starts_with('$'),
          manifest.batch_sizes};
}

Status compile(const CompileCommand& command, Program& program) {
  TFAOT_ASSIGN(const BuildRequest request, build_request(command, program));
  TFAOT_ASSIGN(const ModelTree made, build_package(program, request));
  const Path& output = request.output_directory;
  command.json.show(program.console, compiled_json(made, output),
                    command.dev ? next_steps_text(next_steps(made.manifest, program, output))
                                : compiled_text(made, output));
  return {};
}

}  // namespace

Action add_compile(CLI::App& app) {
  auto command = std::make_shared<CompileCommand>();
  add_compile_options(app, *command);
  return [command](Program& program) -> Status {
    command->verbosity.apply(program.console);
    return compile(*command, program);
  };
}

}  // namespace tfaot::toolkit
