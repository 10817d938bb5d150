// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/install_archives.h"

namespace tfaot::toolkit {
namespace {

std::string installed_text(const InstalledArchive& installed, const InstallRequest& request) {
  const InstallReceipt& receipt = installed.receipt;
  const bool made_current = receipt.unchanged && receipt.replaced_version;
  const char* const word = made_current        ? "made current"
                           : receipt.unchanged ? "unchanged"
                                               : "installed";
  std::string text = fmt::format("{} {} {} {}", word, receipt.tool_name, receipt.version,
                                 receipt.destination.string());
  if (!receipt.replaced_version.value_or("").empty()) {
    text += fmt::format(" (was {})", *receipt.replaced_version);
  }
  if (request.link) text += ", with its library";
  text += "\n";
  if (!receipt.tool_file.empty()) {
    text += fmt::format("  tool file {}\n", receipt.tool_file.string());
  }
  return text + scram_advice(installed, request.release_area);
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

Status install(InstallRequest request, Program& program) {
  for (Path& archive : request.archives) archive = program.absolute(archive);
  make_absolute(program, {&request.release_area});
  TFAOT_TRY(check_output_folder(program.files, "--release-area", request.release_area));
  auto json = nlohmann::ordered_json::array();
  Status status = install_archives(program, request, [&](const InstalledArchive& installed) {
    json.push_back(installed_json(installed));
    if (program.json) return;
    program.console.report((request.dry_run ? "would be: " : "") +
                           installed_text(installed, request));
  });
  if (program.json) program.console.print(json_text(json));
  return status;
}

}  // namespace

Action add_install(CLI::App& app) {
  auto request = std::make_shared<InstallRequest>();
  add_value(app, "ARCHIVE", request->archives, "what 'tfaot package' wrote, one or more")
      ->required();
  add_value(app, "--release-area AREA (required)", request->release_area,
            "the folder to install into; made if missing");
  add_scram_arch(app, request->scram_arch, "[in a scram area: the area's own]");
  app.add_flag_callback(
      "--no-current", [request] { request->make_current = false; },
      "install without switching 'current' to this version");
  app.add_flag("--replace", request->replace, "replace the same version with other contents");
  app.add_flag("--link", request->link,
               "make a library of each model too, for programs that load it by\nname; needs "
               "'as' and 'ld' (Debian: binutils)");
  add_allow_large(app, request->allow_large);
  app.add_flag("--require-signature", request->signatures.required,
               "install only what was signed with a key of --public-key\nor of the area's policy");
  add_repeated(app, "--public-key KEY", request->signatures.keys,
               "a key that may have signed, or its file; may be\nrepeated; signatures are required "
               "then");
  app.add_flag("--dry-run", request->dry_run, "check everything, and change nothing");
  app.footer(
      R"(Each archive is checked file by file, unpacked to a staging folder and renamed into place:
a kill leaves the old state or the new one. Several archives are installed together:
all of them or none. A signature is ARCHIVE.minisig beside the archive; AREA/.tfaot/policy.yaml
may require one, whatever the options are.
Example:
  tfaot install dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst --release-area /releases/r1)");
  return [request](Program& program) { return install(*request, program); };
}

}  // namespace tfaot::toolkit
