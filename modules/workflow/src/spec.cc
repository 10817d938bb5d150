// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/spec.h"

#include <fmt/format.h>

#include "spec_files.h"
#include "tfaot/base/text.h"
#include "tfaot/release/spec.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// Where CMS's data packages put the files of a repository, as a variable of the build and a path
// below it: "data-Sub-Pkg" contains Sub/Pkg/data.
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

Result<SpecSource> read_source(const SpecRequest& request, Context& context, const Path& work) {
  if (request.source.empty()) return source_of_files(context, context.absolute(request.config));
  UnpackedArchive unpacked{request.source, work / "source", {}};
  TFAOT_ASSIGN(unpacked.paths,
               unpack_source_archive(context.files, unpacked.archive, unpacked.folder));
  return source_of_archive(context, unpacked, request.config);
}

Result<SpecRecord> make_record(const SpecRequest& request, const SpecSource& source) {
  SpecRecord record = spec_record(source, {request.tool_name, request.license, request.scram_arch},
                                  request.flavour);
  if (!request.data_package.empty()) {
    record.data_package = request.data_package;
    record.source.clear();
    record.source_folder.clear();
    record.config = data_package_path(request.data_package, source);
  } else if (!request.source_url.empty()) {
    record.source = request.source_url;
  }
  if (request.flavour == SpecFlavour::kCmsdist && !record.source.empty() &&
      record.source_folder.empty()) {
    return fail(
        Error::at({source.archive.string()}, "has no single top folder, which cmsdist requires")
            .note("pack the files again inside one folder, or use --flavour rpm"));
  }
  return record;
}

}  // namespace

Result<SpecFiles> write_spec_files(Context& context, const SpecRequest& request) {
  const Path& output = request.output_directory;
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  TFAOT_ASSIGN(const SpecSource source, read_source(request, context, work.path()));
  TFAOT_ASSIGN(const SpecRecord record, make_record(request, source));
  TFAOT_TRY(spec_text(record, request.flavour));  // before anything is written
  const bool fetched = !request.source_url.empty() || !request.data_package.empty();
  TFAOT_ASSIGN(WrittenSpec written,
               write_spec(context, record, request.flavour,
                          {output, work.path() / "spec", fetched ? nullptr : &source}));
  return SpecFiles{std::move(written.spec_file),
                   fetched ? Path() : source_file(output, record, request.flavour),
                   spec_folders(output, request.flavour).list};
}

Result<bool> remove_spec_files(Context& context, const Path& output_directory,
                               const std::string& tool_name) {
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output_directory));
  return remove_spec(context, tool_name, {output_directory, work.path() / "spec", nullptr});
}

}  // namespace tfaot::toolkit
