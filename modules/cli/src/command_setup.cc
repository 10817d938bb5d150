// SPDX-License-Identifier: Apache-2.0
#include "command_setup.h"

#include <fmt/format.h>

#include <memory>

#include "tfaot/base/process.h"
#include "tool_layout.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kWheel = TFAOT_TENSORFLOW_WHEEL;  // "tensorflow-cpu 2.18.1"

// The script says itself what it does and what is wrong.
Status fetch(Context& context) {
  TFAOT_ASSIGN(const Path script, find_fetch_script(context));
  ProcessSpec process;
  process.program = "bash";
  process.arguments = {script.string()};
  process.working_directory = context.environment.working_directory;
  process.on_stderr_line = [&](const std::string& line) { context.console.report(line + "\n"); };
  TFAOT_ASSIGN(const ProcessResult result, run_process(process));
  if (result.ok()) return {};
  return fail(Error(fmt::format("{} is not set up; the reason is above", kWheel)));
}

Status setup(Context& context) {
  TFAOT_ASSIGN(const EngineProgram engine, find_engine(context, ""));
  TFAOT_ASSIGN(bool found, finds_tensorflow(context.files, engine));
  if (found) {
    context.console.report("nothing to do: the engine finds its TensorFlow\n");
    return {};
  }
  TFAOT_TRY(fetch(context));
  TFAOT_ASSIGN(found, finds_tensorflow(context.files, engine));
  if (!found) {
    return fail(Error::at({engine.file.string()}, "the engine does not find TensorFlow")
                    .note("looked in " + engine.library_path));
  }
  context.console.report(
      fmt::format("{} is ready: {}\n", kWheel, tensorflow_folder(context.environment).string()));
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
