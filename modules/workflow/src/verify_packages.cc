// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/verify_packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "archive_place.h"
#include "stored_check.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/install/install.h"
#include "tfaot/package/package.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/sign_files.h"
#include "tfaot/workflow/work_folder.h"
#include "verify_code.h"

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

Result<std::vector<VerifiedItem>> look_at_area(const FileSystem& files, const Path& area) {
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

Result<std::vector<VerifiedItem>> verify_files(const FileSystem& files, const Path& path) {
  const NamedPath named = named_path(files, path);
  if (named.is_tree()) return std::vector{verify_one_tree(files, named.path)};
  if (named.kind == PathKind::kArchive) return std::vector{verify_archive(files, path)};
  if (is_release_area(files, path)) return look_at_area(files, path);
  return fail(wrong_input(files, path,
                          {fmt::format("'tfaot verify' takes a release area, {}", kPackageForms),
                           "'tfaot compile' makes a package tree"}));
}

// What is beside an archive: its line of SHA256SUMS, and a signature if one is asked for.
Status check_neighbours(const FileSystem& files, const std::vector<PublicKey>& keys,
                        VerifiedItem& item) {
  TFAOT_ASSIGN(const std::string listed, listed_sha256(files, item.path));
  std::string sha256;
  if (!keys.empty()) {
    TFAOT_ASSIGN(const CheckedSignature signature, check_signature(files, item.path, keys));
    item.signed_by = key_id_text(signature.key);
    sha256 = signature.sha256;
  } else if (!listed.empty()) {
    TFAOT_ASSIGN(sha256, sha256_of_file(files, item.path));
  }
  if (listed.empty() || listed == sha256) return {};
  return fail(Error::at({item.path.string()}, fmt::format("differs from its line in {}", kSumsName))
                  .note("one of the two was changed; get both again"));
}

// The tree of a package whose files are right. That of an archive lives as long as the object.
struct ReadableTree {
  Path path;
  Manifest manifest;
  std::optional<ScratchFolder> scratch{};
};

Result<ReadableTree> readable_tree(Context& context, const VerifiedItem& item, bool allow_large) {
  if (named_path(context.files, item.path).kind != PathKind::kArchive) {
    TFAOT_ASSIGN(Manifest manifest, read_tree(context.files, item.path));
    return ReadableTree{item.path, std::move(manifest)};
  }
  TFAOT_ASSIGN(ScratchFolder scratch, ScratchFolder::create(context));
  const Path tree = scratch.path() / "tree";
  TFAOT_ASSIGN(Manifest manifest,
               extract_archive(context.files, item.path, tree, {.allow_large = allow_large}));
  return ReadableTree{tree, std::move(manifest), std::move(scratch)};
}

// Reads the package's code, and runs it if asked. Code that is known to be damaged does not run.
Status look_inside(Context& context, const VerifyRequest& request, VerifiedItem& item) {
  const auto readable = readable_tree(context, item, request.allow_large);
  TFAOT_TRY(check_interrupts());
  if (!readable) {
    item.code = CodeCheck{.why_not = readable.error().message()};
    if (request.deep) item.faults.push_back(readable.error());
    return {};
  }
  TFAOT_ASSIGN(item.code,
               check_code(context, readable->path, readable->manifest, item.path, item.faults));
  if (!request.deep || !item.faults.empty()) return {};
  auto deep = run_stored_check(context, readable->path, readable->manifest, item.path);
  TFAOT_TRY(check_interrupts());
  if (deep) {
    item.deep = *std::move(deep);
  } else {
    item.faults.push_back(std::move(deep).error());
  }
  return {};
}

Result<std::vector<VerifiedItem>> look_at(Context& context, const VerifyRequest& request,
                                          const std::vector<PublicKey>& keys) {
  TFAOT_ASSIGN(std::vector<VerifiedItem> items, verify_files(context.files, request.path));
  for (VerifiedItem& item : items) {
    if (named_path(context.files, item.path).kind == PathKind::kArchive) {
      if (const Status right = check_neighbours(context.files, keys, item); !right) {
        item.faults.push_back(right.error());
      }
    } else if (!keys.empty()) {
      return fail(
          Error::usage(fmt::format("--public-key: {} is not an archive, and only archives "
                                   "are signed",
                                   item.path.string())));
    }
    if (item.tool_name.empty() || !item.faults.empty()) continue;
    TFAOT_TRY(look_inside(context, request, item));
  }
  return items;
}

std::vector<std::string> texts_of_faults(const Result<std::vector<VerifiedItem>>& items) {
  if (!items) return {items.error().text()};
  std::vector<std::string> texts;
  for (const VerifiedItem& item : *items) {
    for (const Error& fault : item.faults) texts.push_back(fault.text());
  }
  return texts;
}

// Without a lock, a change of the area during a look seems to be damage. So a fault counts when two
// looks find it and the area stayed as it was. What a killed run left seems to be a change, too:
// it stays through a few looks.
Result<std::vector<VerifiedItem>> look_until_still(Context& context, const VerifyRequest& request,
                                                   const std::vector<PublicKey>& keys) {
  constexpr int kMostLooks = 100;
  constexpr int kMostLooksAtLeftovers = 5;
  constexpr std::chrono::milliseconds kPause{50};
  std::vector<std::string> faults_before;
  int looks_at_leftovers = 0;
  for (int look = 1;; ++look) {
    const AreaMoment before = area_moment(context.files, request.path);
    auto items = look_at(context, request, keys);
    TFAOT_TRY(check_interrupts());
    std::vector<std::string> faults = texts_of_faults(items);
    const bool is_still = area_moment(context.files, request.path) == before;
    if (is_still && before.is_changing) ++looks_at_leftovers;
    const bool is_sure = is_still && !before.is_changing && faults == faults_before;
    if (faults.empty() || is_sure || looks_at_leftovers == kMostLooksAtLeftovers ||
        look == kMostLooks) {
      return items;
    }
    if (before.is_changing) wait_for_interrupt(kPause);
    faults_before = std::move(faults);
  }
}

}  // namespace

Result<std::vector<VerifiedItem>> verify_packages(Context& context, const VerifyRequest& request) {
  TFAOT_ASSIGN(const auto keys, read_public_keys(context, request.keys));
  return is_release_area(context.files, request.path) ? look_until_still(context, request, keys)
                                                      : look_at(context, request, keys);
}

}  // namespace tfaot::toolkit
