// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/link_packages.h"

#include <fmt/format.h>

#include <utility>

#include "tfaot/base/hash.h"
#include "tfaot/load/link.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

Result<PackageToLink> package_in(const FileSystem& files, const Path& tree, Manifest manifest) {
  TFAOT_ASSIGN(const std::string record, read_package_record(files, tree, manifest));
  TFAOT_ASSIGN(PackagedModel model,
               package_record_from_json(manifest, record, (tree / kRecordName).string()));
  return PackageToLink{tree, std::move(manifest), std::move(model.compiled)};
}

// Links in a scratch folder, and puts the library at its place.
Status link_into(Context& context, const Path& scratch, std::vector<PackageToLink> packages,
                 const Path& library) {
  LinkModelsRequest request;
  request.machine = processor_of(packages.front().manifest.architecture);
  request.is_foreign = request.machine != context.environment.architecture;
  if (request.is_foreign) {
    request.assembler = request.machine + "-linux-gnu-as";
    request.linker = request.machine + "-linux-gnu-ld";
  }
  request.packages = std::move(packages);
  TFAOT_ASSIGN(request.runtime, runtime_library(context, request.machine));
  request.name = library.filename().string();
  request.scratch = scratch;
  TFAOT_ASSIGN(const Path linked, link_models(context.files, std::move(request)));
  return context.files.move_file(linked, library);
}

}  // namespace

Result<LinkedLibrary> link_packages(Context& context, const LinkPackagesRequest& request) {
  FileSystem& files = context.files;
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  LinkedLibrary library{.file = request.output};
  std::vector<PackageToLink> packages;
  for (const Path& path : request.packages) {
    TFAOT_ASSIGN(FoundPackage found,
                 find_package(context, {path, request.allow_large, "tfaot link"}));
    Path tree = found.path;
    if (found.is_archive) {
      tree = scratch.path() / fmt::format("package{}", packages.size());
      TFAOT_TRY(extract_archive(files, found.path, tree, {request.allow_large}));
    }
    TFAOT_ASSIGN(Manifest manifest, verify_tree(files, tree));
    library.models.push_back(manifest);
    TFAOT_ASSIGN(PackageToLink package, package_in(files, tree, std::move(manifest)));
    packages.push_back(std::move(package));
  }
  TFAOT_TRY(link_into(context, scratch.path(), std::move(packages), request.output));
  TFAOT_ASSIGN(library.size, files.size(library.file));
  TFAOT_ASSIGN(library.sha256, sha256_of_file(files, library.file));
  return library;
}

Status link_tree(Context& context, const Path& tree, const Path& library) {
  TFAOT_ASSIGN(const ScratchFolder scratch, ScratchFolder::create(context));
  TFAOT_ASSIGN(Manifest manifest, read_tree(context.files, tree));
  TFAOT_ASSIGN(PackageToLink package, package_in(context.files, tree, std::move(manifest)));
  std::vector<PackageToLink> packages;
  packages.push_back(std::move(package));
  return link_into(context, scratch.path(), std::move(packages), library);
}

}  // namespace tfaot::toolkit
