// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/difference_page.h"
#include "text/compare.h"
#include "text/describe.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {
namespace {

struct DiffArguments {
  std::string first;
  std::string second;
  bool json = false;
  HtmlOption html;
};

Status diff(const DiffArguments& options, Program& program) {
  TFAOT_TRY(options.html.check(program));
  TFAOT_ASSIGN(const Manifest first, read_package(program, program.absolute(options.first)));
  TFAOT_ASSIGN(const Manifest second, read_package(program, program.absolute(options.second)));
  const std::vector<Difference> found = differences(first, second);
  const std::string verdict = contents_verdict(first, second);
  const nlohmann::ordered_json json = differences_to_json(found, verdict);
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(
        program, difference_page({first, options.first}, {second, options.second}, found), json));
  }
  program.console.print(options.json
                            ? json_text(json)
                            : differences_text(found, verdict, {options.first, options.second}));
  return {};
}

}  // namespace

Action add_diff(CLI::App& app) {
  auto options = std::make_shared<DiffArguments>();
  app.add_option("A", options->first, kPackageHelp)->required()->option_text(" ");
  app.add_option("B", options->second, "another one")->required()->option_text(" ");
  app.add_flag("--json", options->json, "print JSON instead of a table");
  options->html.add_to(app);
  app.footer(
      "Compares the manifests, which hold a hash of every file. The exit code is 0 whether the\n"
      "packages differ or not; with --json, 'equal' says it.\n"
      "Examples:\n"
      "  tfaot diff dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst build/tagger\n"
      "  tfaot diff old/tagger build/tagger --html changes.html");
  return [options](Program& program) { return diff(*options, program); };
}

}  // namespace tfaot::toolkit
