// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands/area_verbs.h"
#include "commands/commands.h"
#include "options/shared_options.h"

namespace tfaot::toolkit {

Action add_rollback(CLI::App& app) {
  auto request = std::make_shared<AreaRequest>();
  add_model(app, *request);
  add_area(app, request->release_area);
  add_scram_arch(app, request->scram_arch, "[in a scram area: the area's own]");
  add_dry_run(app, request->dry_run);
  app.footer(
      R"(The version is the last one of 'tfaot history' that is still installed. A second rollback goes
back to the first version.
Example:
  tfaot rollback tagger --release-area /releases/r1)");
  return [request](Program& program) { return change_version(*request, program, roll_back); };
}

}  // namespace tfaot::toolkit
