// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/workflow/link_packages.h"

namespace tfaot::toolkit {
namespace {

Status link(LinkPackagesRequest request, Program& program) {
  for (Path& package : request.packages) package = program.absolute(package);
  make_absolute(program, {&request.output});
  TFAOT_TRY(check_output_file(program.files, "--output", request.output));
  TFAOT_ASSIGN(const LinkedLibrary library, link_packages(program, request));
  auto models = nlohmann::ordered_json::array();
  std::string text = fmt::format("library  {}\nsize     {} bytes\nsha256   {}\n",
                                 library.file.string(), library.size, library.sha256);
  for (const Manifest& model : library.models) {
    models.push_back({{"name", model.name}, {"version", model.version}});
    text += fmt::format("model    {} {}\n", model.name, model.version);
  }
  show_done(program,
            {{"library", library.file.string()},
             {"size", library.size},
             {"sha256", library.sha256},
             {"models", models}},
            text);
  return {};
}

}  // namespace

Action add_link(CLI::App& app) {
  auto request = std::make_shared<LinkPackagesRequest>();
  add_value(app, "PACKAGE", request->packages,
            "package trees, archives, or AREA/NAME[/VERSION] of\ninstalled models")
      ->required();
  add_value(app, "-o,--output FILE (required)", request->output,
            "the shared library, such as libmodels.so");
  add_allow_large(app, request->allow_large);
  app.footer(
      R"(Programs load its models by name and version: in C++ with tfaot/runtime/models.h, in other
languages with tfaot/runtime/tfaot.h. Needs 'as' and 'ld' (Debian: binutils), no compiler; for
packages of another machine, that machine's (Debian: g++-aarch64-linux-gnu).
Example:
  tfaot link build/tagger area/calibrator -o libmodels.so)");
  return [request](Program& program) { return link(*request, program); };
}

}  // namespace tfaot::toolkit
