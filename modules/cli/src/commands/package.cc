// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/workflow/package_archive.h"

namespace tfaot::toolkit {
namespace {

Status package(ArchiveRequest request, Program& program) {
  make_absolute(program, {&request.tree, &request.output_directory});
  TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  TFAOT_ASSIGN(const Package made, pack_tree(program, request));
  nlohmann::ordered_json json = made_json("archive", made.archive, made.manifest);
  json["size"] = made.size;
  json["sha256"] = made.sha256;
  show_done(program, json,
            fmt::format("archive  {}\nsize     {} bytes\nsha256   {}\n", made.archive.string(),
                        made.size, made.sha256));
  return {};
}

}  // namespace

Action add_package(CLI::App& app) {
  auto request = std::make_shared<ArchiveRequest>();
  request->output_directory = ".";
  add_value(app, "OUT", request->tree,
            "the package tree that 'tfaot compile' wrote, or\nAREA/NAME[/VERSION] of an "
            "installed model")
      ->required();
  add_value(app, "-o,--output-directory DIR", request->output_directory,
            "where the archive goes [.]");
  add_word_option<ArchiveFormat>(app, "--format", request->format, "of the archive [tar.zst]");
  app.footer("Example:\n  tfaot package build/tagger -o dist");
  return [request](Program& program) { return package(*request, program); };
}

}  // namespace tfaot::toolkit
