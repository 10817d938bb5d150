// SPDX-License-Identifier: Apache-2.0
#include "command_spec.h"

#include <fmt/format.h>

#include <memory>

#include "spec_files.h"
#include "spec_source.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/base/text.h"
#include "tfaot/release/spec.h"
#include "word_option.h"
#include "work_folder.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

struct Options {
  VerbosityOption verbosity;
  std::string config;
  std::string output_directory;
  SpecFlavour flavour = SpecFlavour::kCmsdist;
  std::string source;
  std::string source_url;
  std::string data_package;
  SpecWords words;
  std::string remove;
};

// Where CMS's packages of data put the files of a repository, as a variable of the build and a path
// below it: "data-Sub-Pkg" has Sub/Pkg/data.
std::string data_package_path(const std::string& package, const SpecSource& source) {
  const std::string variable = upper_case(replace_all(package, "-", "_"));
  std::string path = source.config;
  if (const auto data = ("/" + path).find("/data/"); data != std::string::npos) {
    path = path.substr(data + std::string_view("data/").size());
  } else if (!source.top.empty()) {
    path = path.substr(source.top.size() + 1);
  }
  const std::string folder =
      replace_all(package.substr(std::string_view("data-").size()), "-", "/");
  return fmt::format("${{{}_ROOT}}/{}/data/{}", variable, folder, path);
}

Status check_options(const Options& options) {
  if (options.config.empty() && options.remove.empty()) {
    return fail(
        Error::usage("spec: --aot-config or --remove is required").note("see 'tfaot spec --help'"));
  }
  if (options.flavour == SpecFlavour::kRpm &&
      !(options.source_url.empty() && options.data_package.empty())) {
    return fail(Error::usage("spec: --source-url and --data-package are for --flavour cmsdist"));
  }
  if (!options.data_package.empty() && !options.data_package.starts_with("data-")) {
    return fail(Error::usage(fmt::format(
        "spec: --data-package is '{}', but CMS's packages of data are called data-Sub-Pkg",
        options.data_package)));
  }
  return {};
}

Result<SpecSource> read_source(const Options& options, Context& context, const Path& work) {
  if (options.source.empty()) return source_of_files(context, context.absolute(options.config));
  UnpackedArchive unpacked{context.absolute(options.source), work / "source", {}};
  TFAOT_ASSIGN(unpacked.paths,
               unpack_source_archive(context.files, unpacked.archive, unpacked.folder));
  return source_of_archive(context, unpacked, options.config);
}

Status write(const Options& options, Context& context, const Path& output) {
  const SpecFlavour flavour = options.flavour;
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  TFAOT_ASSIGN(const SpecSource source, read_source(options, context, work.path()));
  SpecRecord record = spec_record(source, options.words, flavour);
  const bool fetched = !options.source_url.empty() || !options.data_package.empty();
  if (!options.data_package.empty()) {
    record.data_package = options.data_package;
    record.source.clear();
    record.source_folder.clear();
    record.config = data_package_path(options.data_package, source);
  } else if (!options.source_url.empty()) {
    record.source = options.source_url;
  }
  if (flavour == SpecFlavour::kCmsdist && !record.source.empty() && record.source_folder.empty()) {
    return fail(
        Error::at({source.archive.string()}, "has no single top folder, as cmsdist wants it")
            .note("pack the files again in one folder, or use --flavour rpm"));
  }
  TFAOT_TRY(spec_text(record, flavour));  // before anything is written
  const SpecFolders folders = spec_folders(output, flavour);
  const Path archive = source_file(output, record, flavour);
  TFAOT_ASSIGN(const WrittenSpec written,
               write_spec(context, record, flavour,
                          {output, work.path() / "spec", fetched ? nullptr : &source}));
  context.console.report(fmt::format("spec     {}\n", written.spec_file.string()));
  if (!fetched) context.console.report(fmt::format("source   {}\n", archive.string()));
  context.console.report(fmt::format("list     {}\n", folders.list.string()));
  return {};
}

Status remove(const Options& options, Context& context, const Path& output) {
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  TFAOT_ASSIGN(const bool removed,
               remove_spec(context, options.remove, {output, work.path() / "spec", nullptr}));
  context.console.report(fmt::format("{} {}\n", removed ? "removed" : "not there", options.remove));
  return {};
}

Status spec(const Options& options, Context& context) {
  TFAOT_TRY(check_options(options));
  const Path output = context.absolute(options.output_directory);
  TFAOT_TRY(check_output_folder(context.files, "--output-directory", output));
  return options.remove.empty() ? write(options, context, output)
                                : remove(options, context, output);
}

}  // namespace

Action add_spec(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* config = app.add_option("-c,--aot-config", options->config,
                                "the model's config; with --source, its path in the archive")
                     ->option_text("FILE");
  app.add_option("-o,--output-directory", options->output_directory,
                 "where the files go; made when missing")
      ->required()
      ->option_text("DIR (required)");
  add_word_option<SpecFlavour>(
      app, "--flavour", options->flavour,
      "rpm: SPECS and SOURCES for rpmbuild; cmsdist: for CMS's\nbuild tool [cmsdist]");
  auto* source = app.add_option("--source", options->source,
                                "a tar that holds config and model (such as a repository of\n"
                                "CMSDATA); else one is made of the files")
                     ->option_text("ARCHIVE");
  auto* url = app.add_option("--source-url", options->source_url,
                             "cmsdist: what the spec's Source says instead of ARCHIVE")
                  ->needs(source)
                  ->option_text("URL");
  app.add_option(
         "--data-package", options->data_package,
         "cmsdist: the package of data that ARCHIVE is in, such as\ndata-Sub-Pkg; it becomes a "
         "BuildRequires instead of a Source")
      ->needs(source)
      ->excludes(url)
      ->option_text("NAME");
  app.add_option("--tool-name", options->words.tool_name,
                 "name of the RPM and the tool [tfaot-model-NAME, '_' as '-']")
      ->option_text("N");
  app.add_option("--license", options->words.license, "rpm: of the model [unspecified]")
      ->option_text("TEXT");
  app.add_option("--remove", options->remove,
                 "take this tool's spec and its line of the list away instead")
      ->excludes(config)
      ->excludes(source)
      ->option_text("TOOL");
  options->verbosity.add_to(app);
  app.footer(
      "Writes TOOL.spec, tfaot-compile.file, which all specs include, and the source archive, and "
      "puts the\n"
      "model into tfaot-models.file.\n"
      "Examples:\n"
      "  tfaot spec -c aot_config.yaml -o rpm --flavour rpm\n"
      "  rpmbuild --define \"_topdir $PWD/rpm\" -bb rpm/SPECS/tfaot-model-tagger.spec\n"
      "  tfaot spec --source Sub-Pkg.tar.gz -c data/tagger/aot_config.yaml --data-package "
      "data-Sub-Pkg -o cmsdist");
  return [options](Context& context) {
    options->verbosity.apply(context.console);
    return spec(*options, context);
  };
}

}  // namespace tfaot::toolkit
