// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/demo.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"

namespace tfaot::toolkit {
namespace {

Status demo(const std::string& folder, Program& program) {
  const Path path = program.absolute(folder);
  TFAOT_TRY(check_output_folder(program.files, "FOLDER", path));
  DemoListener listener;
  listener.on_line = [&program](const std::string& line) {
    if (!program.json) program.console.report(line + "\n");
  };
  listener.on_detail = [&program](const std::string& line) { program.console.verbose(line); };
  TFAOT_TRY(run_demo(program, path, listener));
  show_done(program,
            {{"kind", "demo"},
             {"path", path.string()},
             {"package", (path / "out").string()},
             {"area", (path / "area").string()},
             {"built_plugin", is_file(program.files, path / "build/plugin.so")}},
            "");
  return {};
}

}  // namespace

Action add_demo(CLI::App& app) {
  auto folder = std::make_shared<std::string>("tfaot-demo");
  add_value(app, "FOLDER", *folder, "a new folder for all files [tfaot-demo]");
  app.footer(
      R"(Takes a small model that comes with tfaot through the whole road: compile, predict, compare with
TensorFlow, pack, install in an area, and build a plugin that uses it, if CMake and a compiler
are there. Prints each command before it runs. Overwrites nothing.
Example:
  tfaot demo /tmp/demo)");
  return [folder](Program& program) { return demo(*folder, program); };
}

}  // namespace tfaot::toolkit
