// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/spec.h"

#include <fmt/format.h>

#include <memory>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"

namespace tfaot::toolkit {
namespace {

struct SpecArguments {
  SpecRequest request;
  std::string remove;
};

Status check_options(const SpecArguments& options) {
  if (options.request.config.empty() && options.remove.empty()) {
    return fail(
        Error::usage("spec: --aot-config or --remove is required").note("see 'tfaot spec --help'"));
  }
  if (options.request.flavour == SpecFlavour::kRpm &&
      !(options.request.source_url.empty() && options.request.data_package.empty())) {
    return fail(Error::usage("spec: --source-url and --data-package are for --flavour cmsdist"));
  }
  if (options.request.flavour == SpecFlavour::kCmsdist && !options.request.scram_arch.empty()) {
    return fail(Error::usage("spec: --scram-arch is for --flavour rpm")
                    .note("CMS's build tool puts the tool file into the toolbox"));
  }
  if (!options.request.data_package.empty() && !options.request.data_package.starts_with("data-")) {
    return fail(Error::usage(
        fmt::format("spec: --data-package is '{}', but CMS's data packages are called data-Sub-Pkg",
                    options.request.data_package)));
  }
  return {};
}

Status write(const SpecRequest& request, Program& program) {
  TFAOT_ASSIGN(const SpecFiles written, write_spec_files(program, request));
  const std::string source =
      written.source.empty() ? "" : fmt::format("source   {}\n", written.source.string());
  show_done(program,
            {{"kind", "spec"},
             {"spec", written.spec.string()},
             {"source", written.source.string()},
             {"list", written.list.string()}},
            fmt::format("spec     {}\n{}list     {}\n", written.spec.string(), source,
                        written.list.string()));
  return {};
}

Status spec(const SpecArguments& options, Program& program) {
  TFAOT_TRY(check_options(options));
  SpecRequest request = options.request;
  make_absolute(program, {&request.output_directory, &request.source});
  TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  if (options.remove.empty()) return write(request, program);
  TFAOT_ASSIGN(const bool removed,
               remove_spec_files(program, request.output_directory, options.remove));
  show_done(program, {{"tool_name", options.remove}, {"removed", removed}},
            fmt::format("{} {}\n", removed ? "removed" : "not found", options.remove));
  return {};
}

}  // namespace

Action add_spec(CLI::App& app) {
  auto options = std::make_shared<SpecArguments>();
  auto* config = add_value(app, "-c,--aot-config FILE", options->request.config,
                           "the model's config; with --source, its path in the archive");
  add_value(app, "-o,--output-directory DIR (required)", options->request.output_directory,
            "where the files go; made if missing");
  add_word_option<SpecFlavour>(
      app, "--flavour", options->request.flavour,
      "rpm: SPECS and SOURCES for rpmbuild; cmsdist: for CMS's\nbuild tool [cmsdist]");
  auto* source = add_value(app, "--source ARCHIVE", options->request.source,
                           "a tar with config and model (such as a repository of\n"
                           "CMSDATA); else one is made from the files");
  auto* url = add_value(app, "--source-url URL", options->request.source_url,
                        "cmsdist: the spec's Source, instead of ARCHIVE")
                  ->needs(source);
  add_value(app, "--data-package NAME", options->request.data_package,
            "cmsdist: the data package that contains ARCHIVE, such as\ndata-Sub-Pkg; it becomes a "
            "BuildRequires instead of a Source")
      ->needs(source)
      ->excludes(url);
  add_value(app, "--tool-name N", options->request.tool_name,
            "name of the RPM and the tool [tfaot-model-NAME, '_' as '-']");
  add_value(app, "--license TEXT", options->request.license,
            "rpm: the model's licence [unspecified]");
  add_scram_arch(app, options->request.scram_arch, "rpm: for a prefix that is a scram area");
  add_value(app, "--remove TOOL", options->remove,
            "only remove this tool's spec and its line in the list")
      ->excludes(config)
      ->excludes(source);
  app.footer(
      R"(Writes TOOL.spec, tfaot-compile.file, which all specs include, and the source archive, and puts the
model into tfaot-models.file.
Examples:
  tfaot spec -c aot_config.yaml -o rpm --flavour rpm
  rpmbuild --define "_topdir $PWD/rpm" -bb rpm/SPECS/tfaot-model-tagger.spec
  tfaot spec --source Sub-Pkg.tar.gz -c data/tagger/aot_config.yaml --data-package data-Sub-Pkg -o cmsdist)");
  return [options](Program& program) { return spec(*options, program); };
}

}  // namespace tfaot::toolkit
