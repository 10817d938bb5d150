// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/area_verbs.h"
#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"

namespace tfaot::toolkit {
namespace {

Status remove(AreaRequest request, Program& program) {
  set_area(program, request.release_area);
  TFAOT_ASSIGN(const RemovalPlan plan, remove_versions(program, request));
  nlohmann::ordered_json json = removal_json(plan);
  json["dry_run"] = request.dry_run;
  show_done(program, json, removal_text(plan, request.dry_run));
  return {};
}

}  // namespace

Action add_remove(CLI::App& app) {
  auto request = std::make_shared<AreaRequest>();
  add_model(app, *request);
  add_value(app, "VERSION", request->version, "the version [all versions]");
  add_area(app, request->release_area);
  add_dry_run(app, request->dry_run);
  app.footer(
      R"(Refuses the version that users get while others are installed, and a package whose runtime the
other models need. In a scram area run 'scram tool remove TOOL' first.
Examples:
  tfaot remove tagger 1.0.0 --release-area /releases/r1
  tfaot remove tagger --release-area /releases/r1 --dry-run)");
  return [request](Program& program) { return remove(*request, program); };
}

}  // namespace tfaot::toolkit
