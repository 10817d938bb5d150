// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "text/reports.h"
#include "tfaot/workflow/package_archive.h"

namespace tfaot::toolkit {
namespace {

struct PackageArguments {
  VerbosityOption verbosity;
  JsonOption json;
  std::string tree;
  std::string output_directory = ".";
  ArchiveFormat format = ArchiveFormat::kTarZst;
};

Status package(const PackageArguments& options, Program& program) {
  ArchiveRequest request;
  request.tree = program.absolute(options.tree);
  request.output_directory = program.absolute(options.output_directory);
  TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  request.format = options.format;
  TFAOT_ASSIGN(const Package made, pack_tree(program, request));
  nlohmann::ordered_json json = made_json("archive", made.archive, made.manifest);
  json["size"] = made.size;
  json["sha256"] = made.sha256;
  options.json.show(program.console, json,
                    fmt::format("archive  {}\nsize     {} bytes\nsha256   {}\n",
                                made.archive.string(), made.size, made.sha256));
  return {};
}

}  // namespace

Action add_package(CLI::App& app) {
  auto options = std::make_shared<PackageArguments>();
  app.add_option("OUT", options->tree,
                 "the package tree that 'tfaot compile' wrote, or\nAREA/NAME[/VERSION] of an "
                 "installed model")
      ->required()
      ->option_text(" ");
  app.add_option("-o,--output-directory", options->output_directory, "where the archive goes [.]")
      ->option_text("DIR");
  add_word_option<ArchiveFormat>(app, "--format", options->format, "of the archive [tar.zst]");
  options->json.add_to(app);
  options->verbosity.add_to(app);
  app.footer("Example:\n  tfaot package build/tagger -o dist");
  return [options](Program& program) {
    options->verbosity.apply(program.console);
    return package(*options, program);
  };
}

}  // namespace tfaot::toolkit
