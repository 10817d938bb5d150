// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/demo.h"

#include "tfaot/base/interrupts.h"
#include "tfaot/base/process.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {
namespace {

const MissingTool kBash = {"bash, which runs the demo, cannot be started",
                           "install it (Debian: bash)"};

Status check_new(const FileSystem& files, const Path& folder) {
  TFAOT_ASSIGN(const FileKind kind, files.look(folder));
  if (kind == FileKind::kMissing) return {};
  if (is_folder(files, folder)) {
    TFAOT_ASSIGN(const auto names, files.list(folder));
    if (names.empty()) return {};
  }
  return fail(Error::at({folder.string()}, "exists already, and the demo overwrites nothing")
                  .note("name a new folder: tfaot demo FOLDER"));
}

}  // namespace

Status run_demo(const Context& context, const Path& folder, const DemoListener& listener) {
  TFAOT_TRY(check_new(context.files, folder));
  TFAOT_ASSIGN(const Path script, find_demo_script(context));
  const InterruptWatch watch;  // the commands clean up, and the folder stays
  ProcessSpec process;
  process.program = "bash";
  const Path& here = context.environment.working_directory;
  const Path relative = folder.lexically_relative(here);  // as a user would write it
  const bool is_below = !relative.empty() && *relative.begin() != "..";
  process.arguments = {script.string(), (is_below ? relative : folder).string(),
                       context.environment.program.string()};
  process.working_directory = here;
  process.on_stdout_line = listener.on_line;
  process.on_stderr_line = listener.on_detail;
  TFAOT_ASSIGN(const ProcessResult result, run_tool(process, kBash));
  if (result.ok()) return {};
  return fail(with_last_words(
      Error::at({folder.string()}, "the last of these commands of the demo failed"), result));
}

}  // namespace tfaot::toolkit
