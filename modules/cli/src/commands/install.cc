// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "text/describe.h"
#include "text/reports.h"
#include "tfaot/workflow/install_archives.h"

namespace tfaot::toolkit {
namespace {

struct InstallArguments {
  VerbosityOption verbosity;
  JsonOption json;
  std::vector<std::string> archives;
  std::string release_area;
  std::string scram_arch;
  bool no_current = false;
  bool replace = false;
  bool allow_large = false;
};

Status install(const InstallArguments& options, Program& program) {
  InstallRequest request;
  for (const std::string& archive : options.archives) {
    request.archives.push_back(program.absolute(archive));
  }
  request.release_area = program.absolute(options.release_area);
  TFAOT_TRY(check_output_folder(program.files, "--release-area", request.release_area));
  request.scram_arch = options.scram_arch;
  request.make_current = !options.no_current;
  request.replace = options.replace;
  request.allow_large = options.allow_large;
  auto json = nlohmann::ordered_json::array();
  Status status = install_archives(program, request, [&](const InstalledArchive& installed) {
    json.push_back(installed_json(installed));
    if (options.json.given) return;
    program.console.report(installed_text(installed, request.release_area));
  });
  if (options.json.given) program.console.print(json_text(json));
  return status;
}

}  // namespace

Action add_install(CLI::App& app) {
  auto options = std::make_shared<InstallArguments>();
  app.add_option("ARCHIVE", options->archives, "what 'tfaot package' wrote, one or more")
      ->required()
      ->option_text(" ");
  app.add_option("--release-area", options->release_area,
                 "the folder to install into; made if missing")
      ->required()
      ->option_text("AREA (required)");
  add_scram_arch(app, options->scram_arch, "[in a scram area: the area's own]");
  app.add_flag("--no-current", options->no_current,
               "install without switching 'current' to this version");
  app.add_flag("--replace", options->replace, "replace the same version with other contents");
  add_allow_large(app, options->allow_large);
  options->json.add_to(app);
  options->verbosity.add_to(app);
  app.footer(
      "Each archive is checked file by file, unpacked to a staging folder and renamed into place:\n"
      "a kill leaves the old state or the new one. Several archives are installed one after the\n"
      "other; the first error stops.\n"
      "Example:\n"
      "  tfaot install dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst --release-area "
      "/releases/r1");
  return [options](Program& program) {
    options->verbosity.apply(program.console);
    return install(*options, program);
  };
}

}  // namespace tfaot::toolkit
