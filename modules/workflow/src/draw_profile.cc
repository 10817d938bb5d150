// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/draw_profile.h"

#include "scratch_folder.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/process.h"
#include "tfaot/records/profile_json.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

Status draw_profile(Context& context, const Profile& profile, const PlotRequest& request) {
  TFAOT_ASSIGN(const Path script, find_plot_script(context));
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  const Path drawn = scratch.path() / ("plot" + request.output.extension().string());
  ProcessSpec python;
  python.program = "python3";
  python.standard_input = profile_to_json(profile).dump();
  python.environment = {{"MPLCONFIGDIR", scratch.path().string()}};
  python.arguments = {"-B",       script.string(),        "-",      drawn.string(),
                      "--style",  word_of(request.style), "--time", word_of(request.time),
                      "--errors", word_of(request.errors)};
  TFAOT_ASSIGN(const ProcessResult result,
               run_tool(python, {"Python, which draws such plots, cannot be started",
                                 "install it (Debian: python3-matplotlib), or name a .svg"}));
  if (!result.ok()) {
    Error error =
        with_last_words(Error::at({request.output.string()}, "the plot cannot be drawn"), result);
    return fail(
        std::move(error).note("it needs a python3 in PATH that has matplotlib (Debian: "
                              "python3-matplotlib); a .svg in the plain style does not"));
  }
  const InterruptWatch watch;
  return context.files.copy_file(drawn, request.output);
}

}  // namespace tfaot::toolkit
