// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/records/file_names.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {
namespace {

Status hash(const std::string& package, Program& program) {
  TFAOT_ASSIGN(const Manifest manifest, read_package(program, program.absolute(package), "hash"));
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  report::Table table{.columns = {{}, {}}};
  for (const ManifestFile& file : manifest.files) {
    if (!is_object_file(file.path)) continue;
    json.push_back({{"path", file.path}, {"sha256", file.sha256}});
    table.rows.push_back({{file.sha256}, {file.path}});
  }
  program.console.print(program.json ? json_text(json) : report::text_of(table));
  return {};
}

}  // namespace

Action add_hash(CLI::App& app) {
  auto package = std::make_shared<std::string>();
  add_value(app, "PACKAGE", *package, kPackageHelp)->required();
  app.footer(
      R"(Reads only the manifest. The lines are those of sha256sum, which compares them with the files.
Examples:
  tfaot hash dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst
  tfaot hash build/tagger | (cd build/tagger && sha256sum -c))");
  return [package](Program& program) { return hash(*package, program); };
}

}  // namespace tfaot::toolkit
