// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/workflow/release_models.h"

namespace tfaot::toolkit {
namespace {

using Kind = ReleaseResult::Kind;

nlohmann::ordered_json as_json(const std::vector<ReleaseResult>& results, const Path& output) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const ReleaseResult& result : results) {
    nlohmann::ordered_json model = {{"tool_name", result.tool_name},
                                    {"result", result.kind == Kind::kBuilt      ? "built"
                                               : result.kind == Kind::kUpToDate ? "up_to_date"
                                                                                : "failed"}};
    if (result.error) {
      model["error"] = result.error->text();
    } else {
      model["version"] = result.rpm.version;
      model["release"] = result.rpm.release;
      model["rpm"] = (output / "RPMS" / result.rpm.rpm).string();
      model["why"] = result.why;
    }
    models.push_back(std::move(model));
  }
  return models;
}

// Only the new ones: rpm refuses all packages if one of them is already installed, and each version
// in the folder is a package of its own. Empty if there is nothing new.
std::string install_command(const std::vector<ReleaseResult>& results, const Path& rpms) {
  std::vector<std::string> files;
  for (const ReleaseResult& result : results) {
    if (result.kind == Kind::kBuilt)
      files.push_back(shell_quoted((rpms / result.rpm.rpm).string()));
  }
  return files.empty() ? "" : "to install: rpm -U " + join(files, " ") + "\n";
}

Status report_models(Program& program, const std::vector<ReleaseResult>& results,
                     const Path& output) {
  report::Table table{.columns = {{}, {}, {}, {}}, .empty = ""};
  std::map<Kind, std::size_t> counts;
  std::vector<std::string> failed;
  std::string failures;  // no rows: the name may be a config's path
  for (const ReleaseResult& result : results) {
    ++counts[result.kind];
    if (!result.error) {
      const bool is_new = result.kind == Kind::kBuilt;
      table.rows.push_back({{result.tool_name},
                            {fmt::format("{}-{}", result.rpm.version, result.rpm.release)},
                            {is_new ? "built" : "up to date"},
                            {is_new ? result.why : ""}});
      continue;
    }
    failed.push_back(result.tool_name);
    failures += "failed  " + result.tool_name + "\n";
    program.console.error(*result.error);
  }
  show_done(
      program, as_json(results, output),
      report::text_of(table) + failures +
          fmt::format("built {}, up to date {}, failed {}; RPMs in {}\n", counts[Kind::kBuilt],
                      counts[Kind::kUpToDate], counts[Kind::kFailed], (output / "RPMS").string()) +
          install_command(results, output / "RPMS"));
  if (failed.empty()) return {};
  return fail(Error(fmt::format("{} of {} models failed: {}", failed.size(), results.size(),
                                join(failed, ", "))));
}

Status release(ReleaseRequest request, Program& program) {
  make_absolute(program, {&request.output_directory, &request.source});
  TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  TFAOT_ASSIGN(const std::vector<ReleaseResult> results, release_models(program, request));
  return report_models(program, results, request.output_directory);
}

}  // namespace

Action add_release(CLI::App& app) {
  auto request = std::make_shared<ReleaseRequest>();
  add_value(app, "CONFIG", request->configs,
            "the models' configs; with --source, their paths in\nthe archive")
      ->required();
  add_value(app, "-o,--output-directory DIR (required)", request->output_directory,
            "where SPECS, SOURCES and RPMS go; made if missing");
  add_value(app, "--source ARCHIVE", request->source, "a tar that holds all configs and models");
  add_value(app, "--license TEXT", request->license, "the models' licence [unspecified]");
  add_scram_arch(app, request->scram_arch, "for a prefix that is a scram area");
  add_jobs(app, request->jobs, "processes");
  add_engine_limits(app);
  app.footer(
      R"(Builds with rpmbuild the models that changed since the last time: RPMS/TOOL.json records what
an RPM was made from. If a model fails, the others are still built, and its last RPM stays.
Example:
  tfaot release models/*/aot_config.yaml -o release)");
  return [request](Program& program) { return release(*request, program); };
}

}  // namespace tfaot::toolkit
