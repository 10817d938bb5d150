// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "tfaot/workflow/set_up_tensorflow.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {
namespace {

struct SetupArguments {
  bool python_path = false;
  JsonOption json;
};

Status print_python_path(const SetupArguments& options, Program& program) {
  TFAOT_ASSIGN(const Path folder, find_python_folder(program));
  options.json.show(program.console, {{"python_path", folder.string()}}, folder.string() + "\n");
  return {};
}

Status setup(const SetupArguments& options, Program& program) {
  const auto show = [&](const std::string& line) {
    if (!options.json.given) program.console.report(line + "\n");
  };
  TFAOT_ASSIGN(const TensorflowSetup done, set_up_tensorflow(program, show));
  options.json.show(
      program.console,
      {{"was_ready", done.was_ready}, {"wheel", done.wheel}, {"path", done.folder.string()}},
      done.was_ready ? "nothing to do: the engine finds its TensorFlow\n"
                     : fmt::format("{} is ready: {}\n", done.wheel, done.folder.string()));
  return {};
}

}  // namespace

Action add_setup(CLI::App& app) {
  auto options = std::make_shared<SetupArguments>();
  app.add_flag("--python-path", options->python_path,
               "only print the folder of the Python module tfaot, for PYTHONPATH");
  options->json.add_to(app);
  app.footer(
      "Fetches the wheel with python3's pip and its settings (index, proxy), checks its SHA-256, "
      "and\n"
      "keeps the part that compiling needs (830 MB) in $TFAOT_CACHE_DIR, else "
      "$XDG_CACHE_HOME/tfaot,\n"
      "else ~/.cache/tfaot. Fetches nothing if it is already there. A kill leaves all of it or\n"
      "nothing. To use another TensorFlow, set TFAOT_TENSORFLOW_ROOT to the 'tensorflow' folder of "
      "an\n"
      "unpacked wheel, for 'tfaot compile' too.\n"
      "Examples:\n"
      "  tfaot setup\n"
      "  export PYTHONPATH=$(tfaot setup --python-path)");
  return [options](Program& program) {
    return options->python_path ? print_python_path(*options, program) : setup(*options, program);
  };
}

}  // namespace tfaot::toolkit
