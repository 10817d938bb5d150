// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/verify_packages.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"

namespace tfaot::toolkit {
namespace {

nlohmann::ordered_json item_json(const VerifiedItem& item) {
  auto faults = nlohmann::ordered_json::array();
  for (const Error& fault : item.faults) faults.push_back(fault.text());
  return {{"path", item.path.string()}, {"tool_name", item.tool_name}, {"version", item.version},
          {"files", item.files},        {"bytes", item.bytes},         {"faults", faults}};
}

std::string item_text(const VerifiedItem& item) {
  if (!item.faults.empty()) {
    return fmt::format("{}: {}\n", item.path.string(), counted(item.faults.size(), "fault"));
  }
  if (item.tool_name.empty()) return item.path.string() + ": links and tool files are right\n";
  return fmt::format("{}: {} {}, {} of {} bytes are right\n", item.path.string(), item.tool_name,
                     item.version, counted(item.files, "file"), item.bytes);
}

Status verify(const std::vector<Path>& paths, Program& program) {
  auto json = nlohmann::ordered_json::array();
  std::vector<Error> faults;
  for (const Path& path : paths) {
    TFAOT_ASSIGN(const auto items, verify_packages(program, program.absolute(path)));
    for (const VerifiedItem& item : items) {
      json.push_back(item_json(item));
      faults.insert(faults.end(), item.faults.begin(), item.faults.end());
      if (!program.json) program.console.report(item_text(item));
    }
  }
  if (program.json) program.console.print(json_text(json));
  if (faults.empty()) return {};
  for (std::size_t i = 0; i + 1 < faults.size(); ++i) program.console.error(faults[i]);
  return fail(std::move(faults.back()));
}

}  // namespace

Action add_verify(CLI::App& app) {
  auto paths = std::make_shared<std::vector<Path>>();
  add_value(app, "PATH", *paths, "release areas, package trees, archives, AREA/NAME[/VERSION]")
      ->required();
  app.footer(
      R"(Compares every file with its SHA-256 in the manifest, and in an area also the links, the tool
files and the history. Exit code 1 when something differs; changes nothing and takes no lock.
Examples:
  tfaot verify /releases/r1
  tfaot verify dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst)");
  return [paths](Program& program) { return verify(*paths, program); };
}

}  // namespace tfaot::toolkit
