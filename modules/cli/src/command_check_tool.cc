// SPDX-License-Identifier: Apache-2.0
#include "command_check_tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tfaot/scram/check_tool.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> variables;
  std::string area;
  bool strict = false;
};

struct Counts {
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

std::string plural(std::size_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

Status add_variables(CheckToolOptions& check, const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    const std::size_t end = variable.find('=');
    if (end == std::string::npos || end == 0) {
      return fail(Error::usage(fmt::format("--env '{}' is not NAME=VALUE", variable)));
    }
    check.environment[variable.substr(0, end)] = variable.substr(end + 1);
  }
  return {};
}

// What scram defines itself, and where its set-up tools lie.
Status add_area(CheckToolOptions& check, const FileSystem& files, const Path& area) {
  check.environment["LOCALTOP"] = area.string();
  check.environment["CMSSW_BASE"] = area.string();
  check.all_tools_known = true;
  const Path toolbox = area / "config" / "toolbox";
  if (files.kind(toolbox) == FileKind::kMissing) return {};
  check.tool_folders.push_back(toolbox / "tools" / "selected");
  TFAOT_ASSIGN(const std::vector<std::string> architectures, files.list(toolbox));
  for (const std::string& architecture : architectures) {
    check.tool_folders.push_back(toolbox / architecture / "tools" / "selected");
  }
  return {};
}

Result<CheckToolOptions> check_options(const Options& options, const Context& context) {
  CheckToolOptions check;
  check.environment = context.environment.variables;
  const std::string& area = options.area.empty() ? context.environment.cmssw_base : options.area;
  if (!area.empty()) {
    const Path folder = context.absolute(area);
    if (!options.area.empty() && !is_folder(context.files, folder)) {
      return fail(Error::at({folder.string()}, "no such folder").note("named by --area"));
    }
    TFAOT_TRY(add_area(check, context.files, folder));
  }
  TFAOT_TRY(add_variables(check, options.variables));
  for (const std::string& file : options.files) {  // they may use each other
    check.tool_folders.push_back(context.absolute(file).parent_path());
  }
  return check;
}

Result<Counts> check_one(const std::string& file, const CheckToolOptions& check, Context& context) {
  TFAOT_ASSIGN(const ToolReport report, check_tool(context.files, check));
  Counts counts;
  std::string text;
  for (const ToolFinding& finding : report.findings) {
    ++(finding.severity == Severity::kError ? counts.errors : counts.warnings);
    text += finding_text(finding, file);
  }
  context.console.print(text.empty() ? file + ": nothing to complain of\n" : text);
  return counts;
}

Status check_tools(const Options& options, Context& context) {
  TFAOT_ASSIGN(CheckToolOptions check, check_options(options, context));
  Counts all;
  for (const std::string& file : options.files) {
    check.file = context.absolute(file);
    TFAOT_ASSIGN(const Counts counts, check_one(file, check, context));
    all.errors += counts.errors;
    all.warnings += counts.warnings;
  }
  if (all.errors == 0 && (all.warnings == 0 || !options.strict)) return {};
  return fail(
      Error(fmt::format("{}, {}", plural(all.errors, "error"), plural(all.warnings, "warning"))));
}

}  // namespace

Action add_check_tool(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "scram tool files, NAME.xml")
      ->required()
      ->option_text(" ");
  app.add_option("--env", options->variables, "what scram will have in its environment")
      ->option_text("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--area", options->area, "the scram area, whose tools may be used [$CMSSW_BASE]")
      ->option_text("DIR");
  app.add_flag("--strict", options->strict, "warnings count as errors");
  app.footer(
      "Reads a tool file as scram does and says what scram will complain of, drop or stop at, and "
      "what\n"
      "will go wrong in a build. Exit code 1 when there are errors; changes nothing.\n"
      "Examples:\n"
      "  tfaot check-tool build/tagger/tfaot-model-tagger.xml\n"
      "  tfaot check-tool --env RELEASE=/releases/r1 tools/*.xml --strict");
  return [options](Context& context) { return check_tools(*options, context); };
}

}  // namespace tfaot::toolkit
