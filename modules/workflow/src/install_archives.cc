// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/install_archives.h"

#include <fmt/format.h>

#include "tfaot/base/limits.h"
#include "tfaot/install/install.h"
#include "tfaot/package/package.h"
#include "tfaot/records/names.h"
#include "tfaot/scram/tool_file.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

struct OpenedArchive {
  Path path;
  PackageArchive package;
};

// From an empty staging folder to the new state; the caller rolls back.
Result<InstallReceipt> unpack_and_commit(FileSystem& files, const InstallPlan& plan,
                                         OpenedArchive& archive, const ExtractOptions& extract) {
  TFAOT_TRY(plan.already_installed ? archive.package.check()
                                   : archive.package.unpack(files, plan.staging, extract));
  const Path tree = plan.already_installed ? plan.destination : plan.staging;
  const auto rebased = [&](const std::string& name) -> Result<std::string> {
    const Path file = tree / (name + ".xml");
    TFAOT_ASSIGN(const FileKind kind, files.look(file));
    if (kind == FileKind::kMissing) {
      return fail(Error::at({archive.path.string()},
                            fmt::format("the package has no tool file {}.xml", name))
                      .note("make it again with 'tfaot package'"));
    }
    TFAOT_ASSIGN(const std::string text, read_limited(files, file, kToolFileLimit));
    return rebase_tool_file({text, (archive.path / (name + ".xml")).string()},
                            plan.destination.string());
  };
  ToolFileTexts tool_files;
  TFAOT_ASSIGN(tool_files.model, rebased(plan.manifest.tool_name));
  const std::string runtime(kRuntimeToolName);
  TFAOT_ASSIGN(const FileKind kind, files.look(tree / (runtime + ".xml")));
  if (kind == FileKind::kFile) {
    TFAOT_ASSIGN(tool_files.runtime, rebased(runtime));
  }
  return commit_install(files, plan, tool_files);
}

// REQUIRES: the area's lock is held.
Result<InstallReceipt> install_opened(FileSystem& files, OpenedArchive& archive,
                                      const InstallOptions& options,
                                      const ExtractOptions& extract) {
  TFAOT_ASSIGN(const InstallPlan plan, plan_install(files, archive.package.manifest(), options));
  Result<InstallReceipt> receipt = unpack_and_commit(files, plan, archive, extract);
  if (receipt) return receipt;
  Error error = std::move(receipt).error();
  if (const Status undone = roll_back(files, plan); !undone) {
    error.note("and the unpacked files could not be removed: " + undone.error().text());
  }
  return fail(std::move(error));
}

// REQUIRES: the area's lock is held. Errors name the archive: it may be one of several.
Result<InstallReceipt> install_archive(FileSystem& files, const Path& archive,
                                       const InstallOptions& options,
                                       const ExtractOptions& extract) {
  TFAOT_ASSIGN(PackageArchive package, PackageArchive::open(files, archive));
  OpenedArchive opened{archive, std::move(package)};
  Result<InstallReceipt> receipt = install_opened(files, opened, options, extract);
  if (receipt || receipt.error().where().file == archive.string()) return receipt;
  return fail(std::move(receipt).error().note("while installing " + archive.string()));
}

ScramStep scram_step(const FileSystem& files, const Path& area, const InstallReceipt& receipt) {
  if (!receipt.replaced_version || !is_scram_area(files, area)) return ScramStep::kNone;
  return receipt.replaced_version->empty() ? ScramStep::kSetUp : ScramStep::kBuild;
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
  TFAOT_ASSIGN(AreaLock lock, AreaLock::acquire(area, tell_of_waiting(context.diagnostics, area)));
  for (const Path& archive : request.archives) {
    context.diagnostics.verbose("checking " + archive.string());
    TFAOT_ASSIGN(
        const InstallReceipt receipt,
        install_archive(context.files, archive, options, {.allow_large = request.allow_large}));
    lock.keep();
    warn_of_blanks(context.diagnostics, receipt.destination.string());
    tell(context, receipt);
    on_installed({receipt, scram_step(context.files, area, receipt)});
  }
  return {};
}

}  // namespace tfaot::toolkit
