// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/area_verbs.h"
#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/records/area_history.h"

namespace tfaot::toolkit {
namespace {

struct HistoryArguments {
  Path area;
  std::string model;
};

report::Table history_table(const std::vector<AreaEvent>& events) {
  report::Table table{
      .columns = {{"TIME"}, {"USER"}, {"VERB"}, {"TOOL"}, {"VERSION"}, {"CURRENT"}, {"ARCHIVE"}}};
  for (const AreaEvent& event : events) {
    const std::string user = event.user.empty() ? "" : fmt::format("{}@{}", event.user, event.host);
    table.rows.push_back({{event.time},
                          {user},
                          {word_of(event.action)},
                          {event.tool_name},
                          {event.version + (event.is_present ? "" : " gone")},
                          {event.current.empty() ? "none" : event.current},
                          {event.archive}});
  }
  return table;
}

Status history(HistoryArguments options, Program& program) {
  set_area(program, options.area);
  TFAOT_ASSIGN(const auto events, area_history(program, options.area, options.model));
  auto json = nlohmann::ordered_json::array();
  for (const AreaEvent& event : events) json.push_back(event_to_json(event));
  program.console.print(program.json     ? json_text(json)
                        : events.empty() ? "no changes\n"
                                         : report::text_of(history_table(events)));
  return {};
}

}  // namespace

Action add_history(CLI::App& app) {
  auto options = std::make_shared<HistoryArguments>();
  add_value(app, "MODEL", options->model, "the model's name, or its tool's [all models]");
  add_area(app, options->area);
  app.footer(
      R"(One line for each change, the oldest first. 'found' is a change that no verb made: an RPM's, one
by hand, or a killed install's.
Example:
  tfaot history tagger --release-area /releases/r1)");
  return [options](Program& program) { return history(*options, program); };
}

}  // namespace tfaot::toolkit
