// SPDX-License-Identifier: Apache-2.0
#include "tfaot/scram/check_tool.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/workflow/check_tools.h"

namespace tfaot::toolkit {
namespace {

struct CheckToolArguments {
  std::vector<std::string> files;
  std::vector<std::string> variables;
  std::string area;
  bool strict = false;
};

struct Counts {
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

Result<ToolCheckRequest> request_of(const CheckToolArguments& options, const Context& context) {
  ToolCheckRequest request;
  for (const std::string& file : options.files) request.files.push_back(context.absolute(file));
  for (const std::string& variable : options.variables) {
    const std::size_t end = variable.find('=');
    if (end == std::string::npos || end == 0) {
      return fail(Error::usage(fmt::format("--env '{}' is not NAME=VALUE", variable)));
    }
    request.variables[variable.substr(0, end)] = variable.substr(end + 1);
  }
  if (!options.area.empty()) request.area = context.absolute(options.area);
  return request;
}

nlohmann::ordered_json findings_json(const ToolReport& report) {
  auto json = nlohmann::ordered_json::array();
  for (const ToolFinding& finding : report.findings) {
    json.push_back({{"severity", finding.severity == Severity::kError ? "error" : "warning"},
                    {"line", finding.line},
                    {"what", finding.what},
                    {"scram", finding.scram},
                    {"advice", finding.advice}});
  }
  return json;
}

Status check(const CheckToolArguments& options, Program& program) {
  TFAOT_ASSIGN(const ToolCheckRequest request, request_of(options, program));
  Counts counts;
  auto json = nlohmann::ordered_json::array();
  TFAOT_TRY(check_tools(program, request, [&](std::size_t index, const ToolReport& report) {
    const std::string& file = options.files[index];
    std::string text;
    for (const ToolFinding& finding : report.findings) {
      ++(finding.severity == Severity::kError ? counts.errors : counts.warnings);
      text += finding_text(finding, file);
    }
    json.push_back({{"file", file}, {"findings", findings_json(report)}});
    if (program.json) return;
    program.console.print(text.empty() ? file + ": no problems found\n" : text);
  }));
  if (program.json) program.console.print(json_text(json));
  if (counts.errors == 0 && (counts.warnings == 0 || !options.strict)) return {};
  return fail(Error(
      fmt::format("{}, {}", counted(counts.errors, "error"), counted(counts.warnings, "warning"))));
}

}  // namespace

Action add_check_tool(CLI::App& app) {
  auto options = std::make_shared<CheckToolArguments>();
  add_value(app, "FILE", options->files, "scram tool files, NAME.xml")->required();
  add_repeated(app, "--env NAME=VALUE", options->variables, "a variable that scram will have");
  add_value(app, "--area DIR", options->area,
            "the scram area whose tools may be used [$CMSSW_BASE]");
  app.add_flag("--strict", options->strict, "warnings count as errors");
  app.footer(
      R"(Reads a tool file as scram does and says what scram will complain of, drop or stop at, and what
will go wrong in a build. Exit code 1 when there are errors; changes nothing.
Examples:
  tfaot check-tool build/tagger/tfaot-model-tagger.xml
  tfaot check-tool --env RELEASE=/releases/r1 tools/*.xml --strict)");
  return [options](Program& program) { return check(*options, program); };
}

}  // namespace tfaot::toolkit
