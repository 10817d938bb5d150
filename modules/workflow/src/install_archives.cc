// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/install_archives.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "area_actor.h"
#include "tfaot/base/limits.h"
#include "tfaot/install/install.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"
#include "tfaot/scram/tool_file.h"
#include "tfaot/workflow/link_packages.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// Of several versions of one tool in a transaction the last one becomes current.
bool comes_again(const std::vector<PackageArchive>& archives, std::size_t index) {
  const std::string& tool_name = archives[index].manifest().tool_name;
  return std::any_of(archives.begin() + static_cast<std::ptrdiff_t>(index) + 1, archives.end(),
                     [&](const auto& later) { return later.manifest().tool_name == tool_name; });
}

bool came_before(const std::vector<PreparedInstall>& installs, const Path& destination) {
  return std::ranges::any_of(installs, [&](const PreparedInstall& install) {
    return install.plan.destination == destination;
  });
}

// In the unpacked tree, or beside an installed one that has none; returns the latter.
Result<Path> link_library(Context& context, const InstallPlan& plan) {
  const std::string& name = plan.manifest.name;
  if (!plan.already_installed) {
    const Path library = plan.staging / models_library_name(name);
    TFAOT_TRY(link_tree(context, plan.staging, library));
    TFAOT_ASSIGN(const std::string hash, library_hash_text(context.files, library, name));
    TFAOT_TRY(context.files.replace_atomically(plan.staging / library_hash_name(name), hash));
    return Path();
  }
  if (has_whole_library(context.files, plan.destination, name)) return Path();
  const Path library = plan.staging / models_library_name(name);
  TFAOT_TRY(link_tree(context, plan.destination, library));
  return library;
}

// From an empty staging folder to what can be committed.
Result<PreparedInstall> prepare(Context& context, PackageArchive& archive, InstallPlan plan,
                                const Path& path, const InstallRequest& request) {
  FileSystem& files = context.files;
  TFAOT_TRY(plan.already_installed ? archive.check()
                                   : archive.unpack(files, plan.staging, {request.allow_large}));
  Path library;
  if (request.link) {
    TFAOT_ASSIGN(library, link_library(context, plan));
  }
  TFAOT_ASSIGN(ToolFileTexts tool_files, tool_files_for(files, plan, path));
  return PreparedInstall{.plan = std::move(plan),
                         .tool_files = std::move(tool_files),
                         .library = std::move(library),
                         .archive = path.filename().string(),
                         .archive_sha256 = archive.sha256()};
}

// Errors name the archive: it may be one of several.
Error naming(const Path& archive, Error error) {
  if (error.where().file == archive.string()) return error;
  return error.note("while installing " + archive.string());
}

// Which key signed each archive, and the bytes that it signed; without `keys` nothing is asked. If
// no option asked for them, the error says who did.
Result<std::vector<CheckedSignature>> check_signatures(const FileSystem& files, const Path& area,
                                                       const InstallRequest& request,
                                                       const std::vector<PublicKey>& keys) {
  const bool is_asked = request.signatures.required || !request.signatures.keys.empty();
  std::vector<CheckedSignature> signatures;
  for (const Path& path : request.archives) {
    if (keys.empty()) break;
    auto signature = check_signature(files, path, keys);
    if (!signature) {
      Error error = std::move(signature).error();
      if (is_asked) return fail(std::move(error));
      return fail(error.note("the area demands signatures: " + policy_file(area).string()));
    }
    signatures.push_back(*std::move(signature));
  }
  return signatures;
}

// REQUIRES: the area's lock is held. What failed runs unpacked, the caller removes.
Result<std::vector<PreparedInstall>> prepare_all(Context& context, const InstallRequest& request,
                                                 const InstallOptions& options) {
  TFAOT_ASSIGN(const auto keys, keys_for_area(context, options.area, request.signatures));
  TFAOT_ASSIGN(const auto signatures, check_signatures(context.files, options.area, request, keys));
  std::vector<PackageArchive> archives;
  for (const Path& path : request.archives) {
    context.diagnostics.verbose("checking " + path.string());
    auto opened = PackageArchive::open(context.files, path);
    if (!opened) return fail(naming(path, std::move(opened).error()));
    archives.push_back(*std::move(opened));
  }
  std::vector<PreparedInstall> installs;
  for (std::size_t i = 0; i < archives.size(); ++i) {
    const Path& path = request.archives[i];
    InstallOptions own = options;
    own.make_current = options.make_current && !comes_again(archives, i);
    auto plan = plan_install(context.files, archives[i].manifest(), own);
    if (!plan) return fail(naming(path, std::move(plan).error()));
    if (came_before(installs, plan->destination)) {
      return fail(Error::at({path.string()}, "another archive of the command has this version"));
    }
    auto prepared = prepare(context, archives[i], *std::move(plan), path, request);
    if (!prepared) return fail(naming(path, std::move(prepared).error()));
    if (!signatures.empty()) {
      if (prepared->archive_sha256 != signatures[i].sha256) {
        return fail(Error::at({path.string()}, "the archive changed after its signature was read"));
      }
      prepared->signed_by = key_id_text(signatures[i].key);
    }
    installs.push_back(*std::move(prepared));
  }
  return installs;
}

Result<std::vector<InstallReceipt>> install_all(Context& context, const InstallRequest& request,
                                                const InstallOptions& options) {
  auto installs = prepare_all(context, request, options);
  Result<std::vector<InstallReceipt>> receipts =
      installs ? commit_installs(context.files, *installs,
                                 actor_of(context.environment, AreaAction::kInstall))
               : fail(std::move(installs).error());
  if (receipts) return receipts;
  Error error = std::move(receipts).error();
  if (const Status undone = remove_leftovers(context.files, options.area); !undone) {
    error.note("and the unpacked files could not be removed: " + undone.error().text());
  }
  if (request.archives.size() > 1) error.note("none of the archives was installed");
  return fail(std::move(error));
}

// What --dry-run says: everything is checked, nothing is unpacked.
Result<std::vector<InstallReceipt>> foresee_all(Context& context, const InstallRequest& request,
                                                const InstallOptions& options) {
  TFAOT_ASSIGN(const auto keys, keys_for_area(context, options.area, request.signatures));
  TFAOT_TRY(check_signatures(context.files, options.area, request, keys));
  std::vector<InstallReceipt> receipts;
  for (const Path& path : request.archives) {
    TFAOT_ASSIGN(PackageArchive archive, PackageArchive::open(context.files, path));
    auto plan = plan_install(context.files, archive.manifest(), options);
    if (!plan) return fail(naming(path, std::move(plan).error()));
    TFAOT_TRY(archive.check());
    receipts.push_back(receipt_of(context.files, *plan));
  }
  return receipts;
}

// Reports what was installed.
void tell(const Context& context, const InstallReceipt& receipt) {
  const auto manifest = read_tree(context.files, receipt.destination);
  if (!manifest) return;
  for (const ManifestFile& file : manifest->files) {
    context.diagnostics.verbose(fmt::format("{} {} ({} bytes)",
                                            receipt.unchanged ? "kept" : "wrote",
                                            (receipt.destination / file.path).string(), file.size));
  }
}

}  // namespace

std::string time_before(std::chrono::seconds ago) {
  const auto now = std::chrono::system_clock::now() - ago;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

AreaActor actor_of(const Environment& environment, AreaAction action) {
  return {.time = time_now(), .user = environment.user, .host = environment.host, .action = action};
}

Result<ToolFileTexts> tool_files_for(const FileSystem& files, const InstallPlan& plan,
                                     const Path& archive) {
  const Path tree = plan.already_installed ? plan.destination : plan.staging;
  const auto rebased = [&](const std::string& name) -> Result<std::string> {
    const Path file = tree / (name + ".xml");
    TFAOT_ASSIGN(const FileKind kind, files.look(file));
    if (kind == FileKind::kMissing) {
      return fail(
          Error::at({archive.string()}, fmt::format("the package has no tool file {}.xml", name))
              .note("make it again with 'tfaot package'"));
    }
    TFAOT_ASSIGN(const std::string text, read_limited(files, file, kToolFileLimit));
    return rebase_tool_file({text, (archive / (name + ".xml")).string()},
                            plan.destination.string());
  };
  ToolFileTexts tool_files;
  TFAOT_ASSIGN(tool_files.model, rebased(plan.manifest.tool_name));
  const std::string runtime(kRuntimeToolName);
  TFAOT_ASSIGN(const FileKind kind, files.look(tree / (runtime + ".xml")));
  if (kind == FileKind::kFile) {
    TFAOT_ASSIGN(tool_files.runtime, rebased(runtime));
  }
  return tool_files;
}

ScramStep scram_step(const FileSystem& files, const Path& area, const InstallReceipt& receipt) {
  if (!receipt.replaced_version || !is_scram_area(files, area)) return ScramStep::kNone;
  return receipt.replaced_version->empty() ? ScramStep::kSetUp : ScramStep::kBuild;
}

Status install_archives(Context& context, const InstallRequest& request,
                        const std::function<void(const InstalledArchive&)>& on_installed) {
  for (const Path& archive : request.archives) {
    if (named_path(context.files, archive).kind == PathKind::kArchive) continue;
    return fail(wrong_input(
        context.files, archive,
        {"'tfaot install' takes an archive", "'tfaot package' makes one from a package tree"}));
  }
  const Path& area = request.release_area;
  const InstallOptions options{.area = area,
                               .scram_arch = request.scram_arch,
                               .scram_arch_variable = context.environment.variable("SCRAM_ARCH"),
                               .make_current = request.make_current,
                               .replace = request.replace,
                               .toolkit = TFAOT_VERSION};
  if (request.dry_run) {
    TFAOT_ASSIGN(const auto receipts, foresee_all(context, request, options));
    for (const InstallReceipt& receipt : receipts) {
      on_installed({receipt, scram_step(context.files, area, receipt)});
    }
    return {};
  }
  TFAOT_ASSIGN(AreaLock lock, AreaLock::acquire(area, tell_of_waiting(context.diagnostics, area)));
  TFAOT_ASSIGN(const auto receipts, install_all(context, request, options));
  lock.keep();
  for (const InstallReceipt& receipt : receipts) {
    warn_of_blanks(context.diagnostics, receipt.destination.string());
    tell(context, receipt);
    on_installed({receipt, scram_step(context.files, area, receipt)});
  }
  return {};
}

}  // namespace tfaot::toolkit
