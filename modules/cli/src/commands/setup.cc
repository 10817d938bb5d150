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
      "Fetches the wheel with pip, which needs python3 with pip and obeys its settings (index, "
      "proxy),\n"
      "checks its SHA-256, and keeps what compiling needs of it (830 MB) in $TFAOT_CACHE_DIR, "
      "else\n"
      "$XDG_CACHE_HOME/tfaot, else ~/.cache/tfaot. Nothing is fetched when it is there already. A "
      "kill\n"
      "at any moment leaves all of it or nothing. TFAOT_TENSORFLOW_ROOT names an unpacked wheel's\n"
      "'tensorflow' folder to use instead; set it for 'tfaot compile' too.\n"
      "Example:\n"
      "  tfaot setup");
  return setup;
}

}  // namespace tfaot::toolkit
