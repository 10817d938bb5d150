// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "pages/pages.h"
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit {
namespace {

Status levels(Program& program) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  report::Table table{.columns = {{"LEVEL"}, {"RUNS HERE"}, {"BY DEFAULT"}, {"KERNELS"}}};
  const std::string highest = native_cpu_level();
  for (const CpuLevel& level : cpu_level_table()) {
    const bool is_level = !level.is_cpu && !level.kernels.empty();  // "native" has no kernels
    if (!is_level || level.architecture != program.environment.architecture) continue;
    const bool runs = !ascend(highest, level.name);
    json.push_back({{"level", level.name},
                    {"runs_here", runs},
                    {"by_default", level.by_default},
                    {"kernels", level.kernels}});
    table.rows.push_back(
        {{level.name}, {runs ? "*" : ""}, {level.by_default ? "*" : ""}, {level.kernels}});
  }
  program.console.print(program.json ? json_text(json) : report::text_of(table));
  return {};
}

}  // namespace

Action add_levels(CLI::App& app) {
  app.footer(
      R"(The levels of this machine's architecture, from the least to the most demanding. KERNELS are those
of tfaot that code for a level calls. docs/config.md lists the CPUs that have names, too.
Example:
  tfaot levels)");
  return levels;
}

}  // namespace tfaot::toolkit
