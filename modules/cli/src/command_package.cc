// SPDX-License-Identifier: Apache-2.0
#include "command_package.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "tfaot/package/package.h"

namespace tfaot {
namespace {

struct Options {
  VerbosityOption verbosity;
  std::string tree;
  std::string output_directory = ".";
  ArchiveFormat format = ArchiveFormat::kTarZst;
};

Status package(const Options& options, Context& context) {
  TFAOT_ASSIGN(const Package made,
               make_archive(context.files, context.absolute(options.tree),
                            context.absolute(options.output_directory), {options.format}));
  context.console.report(fmt::format("archive  {}\nsize     {} bytes\nsha256   {}\n",
                                     made.archive.string(), made.size, made.sha256));
  return {};
}

}  // namespace

Action add_package(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("tree", options->tree, "the package tree that 'tfaot compile' wrote")
      ->required()
      ->type_name("OUT");
  app.add_option("-o,--output-directory", options->output_directory,
                 "where the archive goes [default: .]")
      ->type_name("DIR");
  static const std::map<std::string, ArchiveFormat> formats = {{"tar.zst", ArchiveFormat::kTarZst},
                                                               {"tar.gz", ArchiveFormat::kTarGz}};
  app.add_option("--format", options->format, "tar.zst or tar.gz [default: tar.zst]")
      ->transform(CLI::CheckedTransformer(formats).description(""))
      ->type_name("FORMAT");
  options->verbosity.add_to(app);
  app.footer("Example:\n  tfaot package build/tagger -o dist");
  return [options](Context& context) {
    options->verbosity.apply(context.console);
    return package(*options, context);
  };
}

}  // namespace tfaot
