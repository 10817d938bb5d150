// SPDX-License-Identifier: Apache-2.0
#include "command_install.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "allow_large.h"
#include "tfaot/base/limits.h"
#include "tfaot/generate/generate.h"
#include "tfaot/generate/tool_file_xml.h"
#include "tfaot/install/install.h"
#include "tfaot/package/package.h"
#include "tfaot/records/names.h"
#include "work_folder.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

struct Options {
  VerbosityOption verbosity;
  std::vector<std::string> archives;
  std::string release_area;
  std::string scram_arch;
  bool no_current = false;
  bool replace = false;
  bool allow_large = false;
};

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

std::string describe(const InstallReceipt& receipt) {
  const bool made_current = receipt.unchanged && receipt.replaced_version;
  const char* const word = made_current        ? "made current"
                           : receipt.unchanged ? "unchanged"
                                               : "installed";
  std::string text = fmt::format("{} {} {} {}", word, receipt.tool_name, receipt.version,
                                 receipt.destination.string());
  if (made_current && !receipt.replaced_version->empty()) {
    text += fmt::format(" (was {})", *receipt.replaced_version);
  }
  text += "\n";
  if (!receipt.tool_file.empty()) {
    text += fmt::format("  tool file {}\n", receipt.tool_file.string());
  }
  return text;
}

// scram hands the tools that it last read in a release to all developer areas that are made later.
std::string next_step(const FileSystem& files, const InstallOptions& wanted,
                      const InstallReceipt& receipt) {
  const bool is_scram_area =
      files.kind(wanted.area / "config" / "scram_version") != FileKind::kMissing;
  if (!is_scram_area || !receipt.replaced_version || receipt.replaced_version->empty()) return "";
  return fmt::format("  next: 'scram b' in {}, which reads the new tool file\n",
                     wanted.area.string());
}

// For -v: what lies there now.
void tell(Context& context, const InstallReceipt& receipt) {
  const auto manifest = read_tree(context.files, receipt.destination);
  if (!manifest) return;
  for (const ManifestFile& file : manifest->files) {
    context.console.verbose(fmt::format("{} {} ({} bytes)", receipt.unchanged ? "kept" : "wrote",
                                        (receipt.destination / file.path).string(), file.size));
  }
}

Status install(const Options& options, Context& context) {
  const InstallOptions wanted{context.absolute(options.release_area), options.scram_arch,
                              !options.no_current, options.replace, TFAOT_VERSION};
  TFAOT_TRY(check_output_folder(context.files, "--release-area", wanted.area));
  for (const std::string& archive : options.archives) {
    const Path path = context.absolute(archive);
    if (is_archive(context.files, path)) continue;
    return fail(wrong_input(
        context.files, path,
        {"'tfaot install' takes an archive", "'tfaot package' makes one of a package tree"}));
  }
  TFAOT_ASSIGN(AreaLock lock,
               AreaLock::acquire(wanted.area, tell_of_waiting(context.console, wanted.area)));
  for (const std::string& archive : options.archives) {
    context.console.verbose("checking " + context.absolute(archive).string());
    TFAOT_ASSIGN(const InstallReceipt receipt,
                 install_archive(context.files, context.absolute(archive), wanted,
                                 {.allow_large = options.allow_large}));
    lock.keep();
    warn_of_blanks(context.console, receipt.destination.string());
    tell(context, receipt);
    context.console.report(describe(receipt) + next_step(context.files, wanted, receipt));
  }
  return {};
}

}  // namespace

Action add_install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("ARCHIVE", options->archives, "what 'tfaot package' wrote, one or more")
      ->required()
      ->option_text(" ");
  app.add_option("--release-area", options->release_area,
                 "the folder to install into; made when missing")
      ->required()
      ->option_text("AREA (required)");
  app.add_option("--scram-arch", options->scram_arch,
                 "the tool file goes to config/toolbox/ARCH/tools/selected")
      ->option_text("ARCH");
  app.add_flag("--no-current", options->no_current, "leave the current version what users get");
  app.add_flag("--replace", options->replace, "replace the same version with other contents");
  add_allow_large(app, options->allow_large);
  options->verbosity.add_to(app);
  app.footer(
      "Each archive is checked file by file, staged aside and renamed into place: a kill leaves "
      "the old\n"
      "state or the new one. Several archives are installed one after the other; the first error "
      "stops.\n"
      "Example:\n"
      "  tfaot install dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst --release-area "
      "/releases/r1");
  return [options](Context& context) {
    options->verbosity.apply(context.console);
    return install(*options, context);
  };
}

}  // namespace tfaot::toolkit
