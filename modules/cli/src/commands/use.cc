// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands/area_verbs.h"
#include "commands/commands.h"
#include "options/shared_options.h"

namespace tfaot::toolkit {

Action add_use(CLI::App& app) {
  auto request = std::make_shared<AreaRequest>();
  add_model(app, *request);
  add_value(app, "VERSION", request->version, "an installed version")->required();
  add_area(app, request->release_area);
  add_scram_arch(app, request->scram_arch, "[in a scram area: the area's own]");
  add_dry_run(app, request->dry_run);
  app.footer(
      R"(Links and tool files change as for 'tfaot install'; a kill leaves the old version or the new one.
Example:
  tfaot use tagger 1.0.0 --release-area /releases/r1)");
  return [request](Program& program) { return change_version(*request, program, use_version); };
}

}  // namespace tfaot::toolkit
