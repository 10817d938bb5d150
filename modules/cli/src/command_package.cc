// SPDX-License-Identifier: Apache-2.0
#include "command_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tfaot/base/limits.h"
#include "tfaot/generate/generate.h"
#include "tfaot/generate/tool_file_xml.h"
#include "tfaot/package/package.h"
#include "tfaot/records/names.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

struct Options {
  VerbosityOption verbosity;
  std::string tree;
  std::string output_directory = ".";
  std::string format = "tar.zst";
};

// The tool files without the base that `tfaot compile` was given: a package holds no path of the
// machine that made it.
Result<std::vector<StagedFile>> release_tool_files(const FileSystem& files, const Path& tree,
                                                   const Manifest& manifest) {
  const std::vector<std::string> names = {manifest.tool_name + ".xml",
                                          std::string(kRuntimeToolName) + ".xml"};
  std::vector<StagedFile> released;
  for (const ManifestFile& file : manifest.files) {
    if (std::ranges::count(names, file.path) == 0) continue;
    const Path path = tree / file.path;
    TFAOT_ASSIGN(const std::string text, read_limited(files, path, kToolFileLimit));
    TFAOT_ASSIGN(std::string rebased,
                 rebase_tool_file({text, path.string()}, GenerateOptions().tool_base));
    released.push_back({file.path, std::move(rebased), {}});
  }
  return released;
}

Status package(const Options& options, Context& context) {
  const auto format = options.format == "tar.gz" ? ArchiveFormat::kTarGz : ArchiveFormat::kTarZst;
  const Path tree = context.absolute(options.tree);
  const Path output = context.absolute(options.output_directory);
  if (!is_package_tree(context.files, tree)) {
    return fail(wrong_input(
        context.files, tree,
        {"'tfaot package' takes a package tree", "'tfaot compile' makes one of a model"}));
  }
  TFAOT_TRY(check_output_folder(context.files, "--output-directory", output));
  const auto instead = [&](const Manifest& manifest) {
    return release_tool_files(context.files, tree, manifest);
  };
  context.console.verbose("checking every file of " + tree.string());
  TFAOT_ASSIGN(const Package made,
               make_archive(context.files, tree, output, {.format = format, .instead = instead}));
  for (const ManifestFile& file : made.manifest.files) {
    context.console.verbose(fmt::format("holds {} ({} bytes)", file.path, file.size));
  }
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

}  // namespace tfaot::toolkit
