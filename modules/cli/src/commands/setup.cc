// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/workflow/set_up_tensorflow.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {
namespace {

Status print_python_path(Program& program) {
  TFAOT_ASSIGN(const Path folder, find_python_folder(program));
  show_done(program, {{"python_path", folder.string()}}, folder.string() + "\n");
  return {};
}

Status setup(Program& program) {
  const auto show = [&](const std::string& line) {
    if (!program.json) program.console.report(line + "\n");
  };
  TFAOT_ASSIGN(const TensorflowSetup done, set_up_tensorflow(program, show));
  show_done(program,
            {{"was_ready", done.was_ready}, {"wheel", done.wheel}, {"path", done.folder.string()}},
            done.was_ready ? "nothing to fetch: the engine finds its TensorFlow\n"
                           : fmt::format("{} is ready: {}\n", done.wheel, done.folder.string()));
  return {};
}

}  // namespace

Action add_setup(CLI::App& app) {
  auto python_path = std::make_shared<bool>(false);
  app.add_flag("--python-path", *python_path,
               "only print the folder of the Python module tfaot, for PYTHONPATH");
  app.footer(
      R"(Fetches the wheel with python3's pip and its settings (index, proxy), checks its SHA-256, and
keeps the part that compiling needs (830 MB) in $TFAOT_CACHE_DIR, else $XDG_CACHE_HOME/tfaot,
else ~/.cache/tfaot. Fetches nothing if it is already there. A kill leaves all of it or
nothing. To use another TensorFlow, set TFAOT_TENSORFLOW_ROOT to the 'tensorflow' folder of an
unpacked wheel, for 'tfaot compile' too.
Examples:
  tfaot setup
  export PYTHONPATH=$(tfaot setup --python-path))");
  return [python_path](Program& program) {
    return *python_path ? print_python_path(program) : setup(program);
  };
}

}  // namespace tfaot::toolkit
