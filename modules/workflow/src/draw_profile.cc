// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/draw_profile.h"

#include "tfaot/base/process.h"
#include "tfaot/records/profile_json.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {

namespace {

const MissingTool kPython = {"Python, which draws such plots, cannot be started",
                             "install it (Debian: python3-matplotlib), or name a .svg"};

Error not_drawn(const Path& output, const ProcessResult& result) {
  return with_last_words(Error::at({output.string()}, "the plot cannot be drawn"), result)
      .note(
          "it needs a python3 in PATH that has matplotlib (Debian: python3-matplotlib); a .svg in "
          "the plain style does not");
}

ProcessSpec python_of(const Path& script, const Path& scratch) {
  ProcessSpec python;
  python.program = "python3";
  python.arguments = {"-B", script.string()};
  python.environment = {{"MPLCONFIGDIR", scratch.string()}};
  return python;
}

}  // namespace

Status check_drawing(Context& context, const Path& output) {
  TFAOT_ASSIGN(const Path script, find_plot_script(context));
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  ProcessSpec python = python_of(script, scratch.path());
  python.arguments.emplace_back("--check");
  TFAOT_ASSIGN(const ProcessResult result, run_tool(python, kPython));
  if (!result.ok()) return fail(not_drawn(output, result));
  return {};
}

Status draw_profile(Context& context, const Profile& profile, const PlotRequest& request) {
  TFAOT_ASSIGN(const Path script, find_plot_script(context));
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  const Path drawn = scratch.path() / ("plot" + request.output.extension().string());
  ProcessSpec python = python_of(script, scratch.path());
  python.standard_input = profile_to_text(profile);
  python.arguments.insert(python.arguments.end(),
                          {"-", drawn.string(), "--style", word_of(request.style), "--time",
                           word_of(request.time), "--errors", word_of(request.errors)});
  TFAOT_ASSIGN(const ProcessResult result, run_tool(python, kPython));
  if (!result.ok()) return fail(not_drawn(request.output, result));
  TFAOT_ASSIGN(const Path place, place_for_named_file(context.files, request.output));
  return context.files.copy_file(drawn, place);
}

}  // namespace tfaot::toolkit
