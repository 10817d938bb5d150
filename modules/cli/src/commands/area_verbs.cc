// SPDX-License-Identifier: Apache-2.0
#include "commands/area_verbs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

nlohmann::ordered_json switch_json(const InstalledArchive& made, const AreaRequest& request) {
  const InstallReceipt& receipt = made.receipt;
  return {{"tool_name", receipt.tool_name},
          {"version", receipt.version},
          {"replaced_version", receipt.replaced_version.value_or(receipt.version)},
          {"tool_file", receipt.tool_file.string()},
          {"dry_run", request.dry_run},
          {"scram_reads_again", made.scram_step == ScramStep::kBuild}};
}

std::string switch_text(const InstalledArchive& made, const AreaRequest& request) {
  const InstallReceipt& receipt = made.receipt;
  if (!receipt.replaced_version) {
    return fmt::format("unchanged: users get {} {}\n", receipt.tool_name, receipt.version);
  }
  const std::string& before = *receipt.replaced_version;
  return fmt::format("{}users get {} {}{}\n", request.dry_run ? "would change: " : "",
                     receipt.tool_name, receipt.version,
                     before.empty() ? "" : fmt::format(" instead of {}", before)) +
         scram_advice(made, request.release_area);
}

}  // namespace

void add_area(CLI::App& app, Path& area) {
  add_value(app, "--release-area AREA", area, "the release area [the current folder]");
}

void set_area(const Program& program, Path& area) {
  area = area.empty() ? program.environment.working_directory : program.absolute(area);
}

void add_dry_run(CLI::App& app, bool& dry_run) {
  app.add_flag("--dry-run", dry_run, "say what would change, and change nothing");
}

void add_model(CLI::App& app, AreaRequest& request) {
  add_value(app, "MODEL", request.model, "the model's name, or its tool's")->required();
}

Status change_version(AreaRequest request, Program& program, Switch change) {
  set_area(program, request.release_area);
  TFAOT_ASSIGN(const InstalledArchive made, change(program, request));
  show_done(program, switch_json(made, request), switch_text(made, request));
  return {};
}

nlohmann::ordered_json removal_json(const RemovalPlan& plan) {
  return {{"tool_name", plan.tool_name}, {"versions", plan.versions}};
}

std::string removal_text(const RemovalPlan& plan, bool dry_run) {
  std::string text = fmt::format("{} {} {}\n", dry_run ? "would remove" : "removed", plan.tool_name,
                                 join(plan.versions, ", "));
  for (const Path& place : plan.links_and_tool_files) {
    text += fmt::format("  and {}\n", place.string());
  }
  if (plan.runtime_text) {
    for (const Path& file : plan.runtime_tool_files) {
      text += fmt::format("  {} leads to another package's runtime now\n", file.string());
    }
  }
  return text;
}

}  // namespace tfaot::toolkit
