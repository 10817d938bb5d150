// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/area_verbs.h"
#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"

namespace tfaot::toolkit {
namespace {

Status collect(GarbageRequest request, Program& program) {
  set_area(program, request.release_area);
  TFAOT_ASSIGN(const auto plans, collect_garbage(program, request));
  auto json = nlohmann::ordered_json::array();
  std::string text;
  for (const RemovalPlan& plan : plans) {
    json.push_back(removal_json(plan));
    text += removal_text(plan, request.dry_run);
  }
  if (text.empty()) {
    text = fmt::format("nothing to remove: no version has been unused for {} days\n", request.days);
  }
  show_done(program, json, text);
  return {};
}

}  // namespace

Action add_gc(CLI::App& app) {
  auto request = std::make_shared<GarbageRequest>();
  add_area(app, request->release_area);
  add_value(app, "--older-than DAYS", request->days, "since users got the version [30]")
      ->check(WholeNumber{.of = "days", .least = 0, .most = 36'500});
  add_dry_run(app, request->dry_run);
  app.footer(
      R"(Removes versions that are not current and have not been for DAYS, by 'tfaot history', and what
killed installs left.
Example:
  tfaot gc --release-area /releases/r1 --older-than 90 --dry-run)");
  return [request](Program& program) { return collect(*request, program); };
}

}  // namespace tfaot::toolkit
