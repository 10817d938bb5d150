// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/load_package.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <system_error>
#include <thread>

#include "tfaot/base/file_cache.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/limits.h"
#include "tfaot/load/link.h"
#include "tfaot/load/loaded_model.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// Part of each key of the cache: a new number if link_model() links otherwise, or the cache keeps
// it otherwise. An entry is the hash of a library, which is the file beside it.
constexpr const char* kLinkRecipe = "tfaot loaded code 2\n";
constexpr std::uint64_t kMostCached = std::uint64_t{2} << 30;

// Below the user's cache folder.
Result<Path> find_cache(const Context& context) {
  Path folder = loaded_code_folder(context.environment);
  if (!folder.empty()) return context.absolute(folder);
  return fail(Error("no folder is known for the code that is loaded")
                  .note("set TFAOT_CACHE_DIR or HOME in the environment"));
}

// Of the linker, which writes into the cache.
bool is_of_full_disk(const Error& error) {
  const std::string words = std::generic_category().message(ENOSPC);
  return std::ranges::any_of(error.notes(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

Error not_in_cache(Error error) {
  return std::move(error).note("name another folder for it with TFAOT_CACHE_DIR");
}

// A linked package in the cache. Trimming may remove one of the two files; then it is linked again.
struct CachedLibrary {
  std::string key;
  Path library;
};

// Damaged code would give wrong numbers, and half a file would kill the process that loads it.
bool is_intact(const FileSystem& files, FileCache& cache, const CachedLibrary& entry) {
  const auto wanted = cache.get(entry.key);
  if (!wanted || !is_file(files, entry.library)) return false;
  const auto sha256 = sha256_of_file(files, entry.library);
  return sha256 && *sha256 == *wanted;
}

// Links beside the library's place and puts it there in one step, because other processes may do
// the same. Its hash comes last.
Status link_into_cache(Context& context, const Manifest& manifest, const Path& tree,
                       FileCache& cache, const CachedLibrary& entry) {
  FileSystem& files = context.files;
  const InterruptWatch watch;
  if (const Status made = files.create_directories(entry.library.parent_path()); !made) {
    return fail(not_in_cache(made.error()));
  }
  const auto thread = std::hash<std::thread::id>()(std::this_thread::get_id());
  const Path aside = fmt::format("{}.{}.{}", entry.library.string(), ::getpid(), thread);
  const Status linked =
      link_model(files, manifest,
                 {.tree = tree, .output = aside, .machine = context.environment.architecture});
  if (!linked) {
    return fail(is_of_full_disk(linked.error()) ? not_in_cache(linked.error()) : linked.error());
  }
  const auto sha256 = sha256_of_file(files, aside);
  Status kept = sha256 ? files.copy_file(aside, entry.library) : fail(sha256.error());
  if (kept) kept = cache.put(entry.key, *sha256);
  const DespiteInterrupts despite;
  static_cast<void>(files.remove_all(aside));
  return kept ? Status() : fail(not_in_cache(std::move(kept).error()));
}

Result<LoadedPackage> load_tree(Context& context, const Path& cache_folder, const Path& tree) {
  FileSystem& files = context.files;
  // The code may be in the cache already, but it is this package that is asked for.
  TFAOT_ASSIGN(Manifest manifest, verify_tree(files, tree));
  TFAOT_ASSIGN(const std::string record, read_package_record(files, tree, manifest));
  TFAOT_ASSIGN(PackagedModel model,
               package_record_from_json(manifest, record, (tree / kRecordName).string()));
  TFAOT_ASSIGN(const std::string text, read_limited(files, tree / kManifestName, kManifestLimit));
  FileCache cache(files, cache_folder);
  const std::string key = sha256_of(kLinkRecipe + text);
  const CachedLibrary entry{key, cache.entry(key).string() + ".so"};
  if (is_intact(files, cache, entry)) {
    // Another machine may have linked it, for newer system libraries; then it is linked again.
    if (auto loaded = LoadedModel::open(entry.library, manifest, model.compiled)) {
      static_cast<void>(files.mark_used(entry.library));  // fails in a read-only folder: fine
      return LoadedPackage{*std::move(loaded), std::move(model.spec)};
    }
  }
  TFAOT_TRY(link_into_cache(context, manifest, tree, cache, entry));
  auto loaded = LoadedModel::open(entry.library, std::move(manifest), std::move(model.compiled));
  static_cast<void>(cache.trim(kMostCached));
  TFAOT_TRY(loaded);
  return LoadedPackage{*std::move(loaded), std::move(model.spec)};
}

Result<LoadedPackage> load_archive(Context& context, const Path& cache_folder,
                                   const FoundPackage& package) {
  auto work = WorkFolder::create(context, cache_folder);
  if (!work) return fail(not_in_cache(std::move(work).error()));
  const Path tree = work->path() / "tree";
  const auto unpacked =
      extract_archive(context.files, package.path, tree, {.allow_large = package.allow_large});
  if (!unpacked) {
    const bool is_in_cache = unpacked.error().where().file.starts_with(cache_folder.string());
    return fail(is_in_cache ? not_in_cache(unpacked.error()) : unpacked.error());
  }
  return load_tree(context, cache_folder, tree);
}

}  // namespace

Result<std::string> read_package_record(const FileSystem& files, const Path& tree,
                                        const Manifest& manifest) {
  const Path path = tree / kRecordName;
  TFAOT_ASSIGN(const FileKind kind, files.look(path));
  const auto listed = std::ranges::find(manifest.files, kRecordName, &ManifestFile::path);
  if (listed == manifest.files.end()) {
    return fail(Error::at({tree.string()}, fmt::format("the package has no {}", kRecordName))
                    .note("it was made by an older tfaot; compile the model again: tfaot compile"));
  }
  if (kind == FileKind::kMissing) {
    return fail(Error::at({path.string()}, "the file is missing")
                    .note("the package is damaged; make or install it again"));
  }
  TFAOT_ASSIGN(std::string text, read_limited(files, path, kRecordLimit));
  if (listed->sha256 == sha256_of(text)) return text;
  return fail(Error::at({path.string()}, "the file differs from what the manifest says")
                  .note("the package is damaged; make or install it again"));
}

Result<FoundPackage> find_package(const Context& context, const LoadRequest& request) {
  const FileSystem& files = context.files;
  const NamedPath named = named_path(files, request.package);
  FoundPackage found{named.path, named.kind == PathKind::kArchive, request.allow_large, {}};
  if (named.is_tree() || found.is_archive) {
    TFAOT_ASSIGN(found.manifest, found.is_archive ? read_archive_manifest(files, found.path)
                                                  : read_tree(files, found.path));
    return found;
  }
  return fail(wrong_input(files, request.package,
                          {fmt::format("'{}' takes {}", request.command, kPackageForms), ""}));
}

Result<std::shared_ptr<const LoadedModel>> load_package(Context& context,
                                                        const FoundPackage& package) {
  TFAOT_ASSIGN(LoadedPackage loaded, load_whole_package(context, package));
  return std::move(loaded.model);
}

Result<LoadedPackage> load_whole_package(Context& context, const FoundPackage& package) {
  TFAOT_ASSIGN(const Path cache, find_cache(context));
  return package.is_archive ? load_archive(context, cache, package)
                            : load_tree(context, cache, package.path);
}

}  // namespace tfaot::toolkit
