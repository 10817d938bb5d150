// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/set_up_tensorflow.h"

#include <fmt/format.h>

#include "tfaot/base/process.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kWheel = TFAOT_TENSORFLOW_WHEEL;  // "tensorflow-cpu 2.18.1"

// The script itself prints what it does and what is wrong.
Status fetch(const Context& context, const std::function<void(const std::string&)>& on_line) {
  TFAOT_ASSIGN(const Path script, find_fetch_script(context));
  ProcessSpec process;
  process.program = "bash";
  process.arguments = {script.string()};
  process.working_directory = context.environment.working_directory;
  process.on_stderr_line = on_line;
  TFAOT_ASSIGN(const ProcessResult result, run_process(process));
  if (result.ok()) return {};
  return fail(Error(fmt::format("{} is not set up; the reason is above", kWheel)));
}

}  // namespace

Result<TensorflowSetup> set_up_tensorflow(const Context& context,
                                          const std::function<void(const std::string&)>& on_line) {
  TFAOT_ASSIGN(const EngineProgram engine, find_engine(context, ""));
  TensorflowSetup setup{false, kWheel, tensorflow_folder(context.environment)};
  TFAOT_ASSIGN(setup.was_ready, finds_tensorflow(context.files, engine));
  if (setup.was_ready) return setup;
  TFAOT_TRY(fetch(context, on_line));
  TFAOT_ASSIGN(const bool found, finds_tensorflow(context.files, engine));
  if (found) return setup;
  return fail(Error::at({engine.file.string()}, "the engine does not find TensorFlow")
                  .note("looked in " + engine.library_path));
}

}  // namespace tfaot::toolkit
