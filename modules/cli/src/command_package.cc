// SPDX-License-Identifier: Apache-2.0
#include "command_package.h"

#include <fmt/format.h>

#include <memory>

#include "tfaot/package/package.h"

namespace tfaot {
namespace {

struct Options {
  VerbosityOption verbosity;
  std::string tree;
  std::string output_directory = ".";
  std::string format = "tar.zst";
};

Status package(const Options& options, Context& context) {
  const auto format = options.format == "tar.gz" ? ArchiveFormat::kTarGz : ArchiveFormat::kTarZst;
  TFAOT_ASSIGN(const Package made,
               make_archive(context.files, context.absolute(options.tree),
                            context.absolute(options.output_directory), {format}));
  context.console.report(fmt::format("archive  {}\nsize     {} bytes\nsha256   {}\n",
                                     made.archive.string(), made.size, made.sha256));
  return {};
}

}  // namespace

Action add_package(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("OUT", options->tree, "the package tree that 'tfaot compile' wrote")
      ->required()
      ->option_text(" ");
  app.add_option("-o,--output-directory", options->output_directory, "where the archive goes [.]")
      ->option_text("DIR");
  app.add_option("--format", options->format, "of the archive [tar.zst]")
      ->check(CLI::IsMember({"tar.zst", "tar.gz"}))
      ->option_text("tar.zst|tar.gz");
  options->verbosity.add_to(app);
  app.footer("Example:\n  tfaot package build/tagger -o dist");
  return [options](Context& context) {
    options->verbosity.apply(context.console);
    return package(*options, context);
  };
}

}  // namespace tfaot
