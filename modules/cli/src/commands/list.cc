// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {
namespace {

struct ListArguments {
  std::string area;          // as an argument
  std::string release_area;  // by the option
};

std::string as_json(const std::vector<InstalledModel>& models) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const InstalledModel& model : models) {
    list.push_back({{"tool_name", model.tool_name},
                    {"version", model.version},
                    {"current", model.current},
                    {"cpp_class", model.manifest.cpp_class},
                    {"target_triple", model.manifest.target_triple},
                    {"batch_sizes", model.manifest.batch_sizes},
                    {"cpu_levels", model.manifest.cpu_levels}});
  }
  return json_text(list);
}

std::string as_table(const std::vector<InstalledModel>& models) {
  report::Table table{
      .columns = {
          {"TOOL"}, {"VERSION"}, {"CURRENT"}, {"PROCESSOR"}, {"BATCH SIZES"}, {"CPU LEVELS"}}};
  for (const InstalledModel& model : models) {
    table.rows.push_back({{model.tool_name},
                          {model.version},
                          {model.current ? "*" : ""},
                          {processor_of(model.manifest.target_triple)},
                          {fmt::format("{}", fmt::join(model.manifest.batch_sizes, ","))},
                          {join(model.manifest.cpu_levels, ",")}});
  }
  return report::text_of(table);
}

Status list(const ListArguments& options, Program& program) {
  if (options.area.empty() == options.release_area.empty()) {
    return fail(Error::usage(options.area.empty() ? "list: a release area is required"
                                                  : "list: the release area is given twice")
                    .note("see 'tfaot list --help'"));
  }
  const Path area = program.absolute(options.area.empty() ? options.release_area : options.area);
  TFAOT_ASSIGN(InstalledList list, list_packages(program, area));
  const std::vector<InstalledModel>& models = list.models;
  program.console.print(program.json     ? as_json(models)
                        : models.empty() ? "no packages in " + area.string() + "\n"
                                         : as_table(models));
  if (list.broken.empty()) return {};
  for (std::size_t i = 0; i + 1 < list.broken.size(); ++i) program.console.error(list.broken[i]);
  return fail(std::move(list.broken.back()));
}

}  // namespace

Action add_list(CLI::App& app) {
  auto options = std::make_shared<ListArguments>();
  add_value(app, "AREA", options->area, "the release area");
  add_value(app, "--release-area AREA", options->release_area, "the same, as for 'tfaot install'");
  app.footer(R"(Models are sorted by tool name, then version; '*' marks the version that users get.
Example:
  tfaot list /releases/r1)");
  return [options](Program& program) { return list(*options, program); };
}

}  // namespace tfaot::toolkit
