// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "commands/commands.h"
#include "tfaot/workflow/set_up_tensorflow.h"

namespace tfaot::toolkit {
namespace {

Status setup(Program& program) {
  const auto show = [&](const std::string& line) { program.console.report(line + "\n"); };
  TFAOT_ASSIGN(const TensorflowSetup done, set_up_tensorflow(program, show));
  program.console.report(done.was_ready
                             ? "nothing to do: the engine finds its TensorFlow\n"
                             : fmt::format("{} is ready: {}\n", done.wheel, done.folder.string()));
  return {};
}

}  // namespace

Action add_setup(CLI::App& app) {
  app.footer(
      "Fetches the wheel with python3's pip and its settings (index, proxy), checks its SHA-256, "
      "and\n"
      "keeps the part that compiling needs (830 MB) in $TFAOT_CACHE_DIR, else "
      "$XDG_CACHE_HOME/tfaot,\n"
      "else ~/.cache/tfaot. Fetches nothing if it is already there. A kill leaves all of it or\n"
      "nothing. To use another TensorFlow, set TFAOT_TENSORFLOW_ROOT to the 'tensorflow' folder of "
      "an\n"
      "unpacked wheel, for 'tfaot compile' too.\n"
      "Example:\n"
      "  tfaot setup");
  return setup;
}

}  // namespace tfaot::toolkit
