// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/verify_packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tfaot/install/install.h"
#include "tfaot/package/package.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

void set_package(VerifiedItem& item, const Manifest& manifest) {
  item.tool_name = manifest.tool_name;
  item.version = manifest.version;
  item.files = manifest.files.size();
  for (const ManifestFile& file : manifest.files) item.bytes += file.size;
}

VerifiedItem verify_one_tree(const FileSystem& files, const Path& tree) {
  VerifiedItem item{.path = tree};
  auto manifest = verify_tree(files, tree);
  if (!manifest) {
    item.faults.push_back(manifest.error());
    manifest = read_tree(files, tree);
  }
  if (manifest) set_package(item, *manifest);
  return item;
}

VerifiedItem verify_archive(const FileSystem& files, const Path& archive) {
  VerifiedItem item{.path = archive};
  auto opened = PackageArchive::open(files, archive);
  if (opened) set_package(item, opened->manifest());
  const Status checked = opened ? opened->check() : fail(opened.error());
  if (!checked) item.faults.push_back(checked.error());
  return item;
}

Result<std::vector<VerifiedItem>> verify_whole_area(const FileSystem& files, const Path& area) {
  TFAOT_ASSIGN(const auto versions, installed_versions(files, area));
  std::vector<VerifiedItem> items = {{.path = area, .faults = verify_area(files, area)}};
  for (const InstalledVersion& installed : versions) {
    const Path tree = area / installed.tool_name / installed.version;
    VerifiedItem item = verify_one_tree(files, tree);
    if (item.tool_name.empty()) {
      item.tool_name = installed.tool_name;
      item.version = installed.version;
    } else if (item.tool_name != installed.tool_name || item.version != installed.version) {
      item.faults.push_back(
          Error::at({tree.string()}, "its manifest is for " + item.tool_name + " " + item.version));
    }
    auto faults = verify_version(files, area, installed);
    std::ranges::move(faults, std::back_inserter(item.faults));
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

Result<std::vector<VerifiedItem>> verify_packages(const Context& context, const Path& path) {
  const FileSystem& files = context.files;
  const NamedPath named = named_path(files, path);
  if (named.is_tree()) return std::vector{verify_one_tree(files, named.path)};
  if (named.kind == PathKind::kArchive) return std::vector{verify_archive(files, path)};
  if (is_release_area(files, path)) return verify_whole_area(files, path);
  return fail(wrong_input(files, path,
                          {fmt::format("'tfaot verify' takes a release area, {}", kPackageForms),
                           "'tfaot compile' makes a package tree"}));
}

}  // namespace tfaot::toolkit
