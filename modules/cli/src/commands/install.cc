// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/install_archives.h"

namespace tfaot::toolkit {
namespace {

struct InstallArguments {
  std::vector<std::string> archives;
  std::string release_area;
  std::string scram_arch;
  bool no_current = false;
  bool replace = false;
  bool allow_large = false;
};

std::string installed_text(const InstalledArchive& installed, const Path& area) {
  const InstallReceipt& receipt = installed.receipt;
  const bool made_current = receipt.unchanged && receipt.replaced_version;
  const char* const word = made_current        ? "made current"
                           : receipt.unchanged ? "unchanged"
                                               : "installed";
  std::string text = fmt::format("{} {} {} {}", word, receipt.tool_name, receipt.version,
                                 receipt.destination.string());
  if (made_current && !receipt.replaced_version->empty()) {
    text += fmt::format(" (was {})", *receipt.replaced_version);
  }
  text += "\n";
  if (!receipt.tool_file.empty()) {
    text += fmt::format("  tool file {}\n", receipt.tool_file.string());
  }
  if (installed.scram_step == ScramStep::kSetUp) {
    text += fmt::format("  next, in {}:\n    scram setup {}\n    scram setup {}\n", area.string(),
                        kRuntimeToolName, lower_case(receipt.tool_name));
  }
  if (installed.scram_step == ScramStep::kBuild) {
    text += fmt::format(
        "  next: 'scram b' in {}, which reads the new tool file\n"
        "  in developer areas made before: scram setup {}\n",
        area.string(), receipt.tool_file.string());
  }
  return text;
}

nlohmann::ordered_json installed_json(const InstalledArchive& installed) {
  const InstallReceipt& receipt = installed.receipt;
  nlohmann::ordered_json json = {{"tool_name", receipt.tool_name},
                                 {"version", receipt.version},
                                 {"path", receipt.destination.string()},
                                 {"tool_file", receipt.tool_file.string()},
                                 {"unchanged", receipt.unchanged},
                                 {"made_current", receipt.replaced_version.has_value()},
                                 {"scram_reads_again", installed.scram_step == ScramStep::kBuild}};
  json["replaced_version"] = nullptr;
  if (!receipt.replaced_version.value_or("").empty()) {
    json["replaced_version"] = *receipt.replaced_version;
  }
  return json;
}

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
    if (program.json) return;
    program.console.report(installed_text(installed, request.release_area));
  });
  if (program.json) program.console.print(json_text(json));
  return status;
}

}  // namespace

Action add_install(CLI::App& app) {
  auto options = std::make_shared<InstallArguments>();
  add_value(app, "ARCHIVE", options->archives, "what 'tfaot package' wrote, one or more")
      ->required();
  add_value(app, "--release-area AREA (required)", options->release_area,
            "the folder to install into; made if missing");
  add_scram_arch(app, options->scram_arch, "[in a scram area: the area's own]");
  app.add_flag("--no-current", options->no_current,
               "install without switching 'current' to this version");
  app.add_flag("--replace", options->replace, "replace the same version with other contents");
  add_allow_large(app, options->allow_large);
  app.footer(
      "Each archive is checked file by file, unpacked to a staging folder and renamed into place:\n"
      "a kill leaves the old state or the new one. Several archives are installed one after the\n"
      "other; the first error stops.\n"
      "Example:\n"
      "  tfaot install dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst --release-area "
      "/releases/r1");
  return [options](Program& program) { return install(*options, program); };
}

}  // namespace tfaot::toolkit
