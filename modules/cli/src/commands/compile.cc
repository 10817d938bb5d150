// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "commands/commands.h"
#include "options/compile_options.h"
#include "text/next_steps.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/build_package.h"

namespace tfaot::toolkit {
namespace {

// "12 objects, 9 from the cache"
std::string objects_text(const ModelTree& made) {
  std::string text = fmt::format("{} object{}", made.objects, made.objects == 1 ? "" : "s");
  if (made.cached_objects > 0) text += fmt::format(", {} from the cache", made.cached_objects);
  return text;
}

std::string report_text(const CompileCommand& command, const Context& context,
                        const ModelTree& made, const Path& output) {
  const Manifest& manifest = made.manifest;
  if (command.dev) {
    const auto tool_file = [&](const std::string& name) {
      return cmssw_relative(context.environment, output / (name + ".xml"));
    };
    return next_steps_text(
        {manifest.name, manifest.cpp_class, manifest.tool_name, tool_file(manifest.tool_name),
         tool_file(std::string(kRuntimeToolName)), manifest.headers == HeadersMode::kCmssw,
         cmssw_relative(context.environment, output).starts_with('$'), manifest.batch_sizes});
  }
  return fmt::format("compiled model '{}' for batch sizes {} and CPU levels {} into {}\n{}\n",
                     manifest.name, fmt::join(manifest.batch_sizes, ","),
                     join(manifest.cpu_levels, ","), output.string(), objects_text(made));
}

Status compile(const CompileCommand& command, Program& program) {
  TFAOT_ASSIGN(const BuildRequest request, build_request(command, program));
  TFAOT_ASSIGN(const ModelTree made, build_package(program, request));
  program.console.report(report_text(command, program, made, request.output_directory));
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
