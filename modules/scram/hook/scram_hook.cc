// SPDX-License-Identifier: Apache-2.0
#include "tfaot/scram/scram_hook.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hook/hook_files.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

// What the hook needs to know of a scram area. Looks at the disk, changes nothing.

struct HookArea {
  Path build_rules;  // config/SCRAM/Plugins/BuildRules.py, which scram reads instead of its own
  Path plugin;       // ours, beside it
  Path makefile;     // ours, config/SCRAM/GMake/Makefile.aot
};

constexpr std::string_view kKnownScram = "V3_";

// What the hook relies on, in these files below config/SCRAM.
struct Anchor {
  const char* file;
  const char* text;
};

constexpr std::array<Anchor, 9> kAnchors = {{
    {"Plugins/BuildRules.py", "class BuildRules("},
    {"Plugins/BuildRules.py", "def dnn_template(self):"},
    {"Plugins/BuildRules.py", "self.dnn_template()"},
    {"Plugins/BuildRules.py", "def isPublictype(self):"},
    {"GMake/Makefile.rules", "define CommonBinaryTail"},
    {"GMake/Makefile.rules", "$(eval $($(1)_PRE_INIT_FUNC))"},
    {"GMake/Makefile.rules", "$($(1)_precompile)"},
    {"GMake/Makefile.rules", "_USE_ALL"},
    {"GMake/Makefile.rules", "define AutoCleanFile"},
}};

std::string line_of_area(const FileSystem& fs, const Path& file) {
  const auto text = fs.read(file);
  return text ? trim(text->substr(0, text->find('\n'))) : "";
}

Status check_version(const FileSystem& fs, const Path& config) {
  const Path file = config / "scram_version";
  const std::string version = line_of_area(fs, file);
  if (version.starts_with(kKnownScram)) return {};
  return fail(Error::at({file.string()}, version.empty()
                                             ? "the area does not say which scram it is for"
                                             : fmt::format("scram {} is not known", version))
                  .note(fmt::format("the hook is for scram {}*", kKnownScram)));
}

Status check_anchors(const FileSystem& fs, const Path& config) {
  for (const Anchor& anchor : kAnchors) {
    const Path file = config / "SCRAM" / anchor.file;
    TFAOT_ASSIGN(const std::string text, fs.read(file));
    if (text.find(anchor.text) != std::string::npos) continue;
    const std::string tag = line_of_area(fs, config / "config_tag");
    return fail(Error::at({file.string()}, fmt::format("it has no '{}'", anchor.text))
                    .note(fmt::format("the hook does not fit this cmssw-config{}{}",
                                      tag.empty() ? "" : " ", tag)));
  }
  return {};
}

HookArea hook_area(const Path& area) {
  const Path folder = area / "config" / "SCRAM";
  return {.build_rules = folder / "Plugins" / "BuildRules.py",
          .plugin = folder / "Plugins" / "tfaot_hook.py",
          .makefile = folder / "GMake" / "Makefile.aot"};
}

// Error if this is not a scram area, or if the hook does not fit its scram and cmssw-config.
Status check_area(const FileSystem& fs, const Path& area) {
  const Path config = area / "config";
  if (fs.kind(config / "SCRAM") != FileKind::kDirectory) {
    return fail(Error::at({area.string()}, "not the top of a scram area")
                    .note("it has no folder config/SCRAM of its own; in an area: $CMSSW_BASE"));
  }
  TFAOT_TRY(check_version(fs, config));
  const Path rules = hook_area(area).build_rules;
  const FileKind kind = fs.kind(rules);
  if (kind == FileKind::kMissing) {
    return fail(
        Error::at({rules.string()}, "this file of the area is missing")
            .note("scram b needs it too: create the area again, for example with scram project"));
  }
  if (kind != FileKind::kFile) {
    return fail(Error::at({rules.string()}, "not a file of this area")
                    .note("it leads to a file outside of the area, which is not changed"));
  }
  return check_anchors(fs, config);
}

// The lines that the hook adds to a Python file, recognized by their first and last line.

struct HookBlock {
  std::size_t start = 0;  // of what with_block() added
  std::size_t size = 0;
  std::string version{};
};

// The newline before it is part of the block, because the file may end without one.
constexpr std::string_view kFirst = "\n# >>> tfaot scram-hook ";
constexpr std::string_view kLast = "# <<< tfaot scram-hook\n";

// None, too, if only one of the two lines is there.
std::optional<HookBlock> find_block(const std::string& text) {
  const std::size_t start = text.find(kFirst);
  if (start == std::string::npos) return std::nullopt;
  const std::size_t last = text.find(kLast, start);
  if (last == std::string::npos) return std::nullopt;
  const std::size_t version = start + kFirst.size();
  return HookBlock{start, last + kLast.size() - start,
                   text.substr(version, text.find_first_of(" \n", version) - version)};
}

// The text without the block, byte for byte as before with_block().
std::string without_block(const std::string& text) {
  const auto block = find_block(text);
  if (!block) return text;
  std::string rest = text;
  return rest.erase(block->start, block->size);
}

// The text with the block of this version at its end, in place of an existing block.
std::string with_block(const std::string& text, const std::string& version) {
  return without_block(text) + fmt::format(
                                   "{}{} (remove it by: tfaot scram-hook remove)\n"
                                   "from SCRAM.Plugins import tfaot_hook\n"
                                   "tfaot_hook.add_to(BuildRules)\n"
                                   "{}",
                                   kFirst, version, kLast);
}

// True if part of a block is there, but no complete one.
bool has_broken_block(const std::string& text) {
  const std::string rest = without_block(text);
  return rest.find(kFirst) != std::string::npos || rest.find(kLast) != std::string::npos;
}

constexpr std::string_view kOurMark = "Made by tfaot ";

struct HookFile {
  Path path;
  std::string text;
};

std::string filled(std::string_view text, const HookOptions& options) {
  std::string file(text);
  for (const auto& [word, value] :
       {std::pair<std::string_view, std::string_view>{"%VERSION%", TFAOT_VERSION},
        {"%PROGRAM%", options.program},
        {"%RUNTIME_INCLUDE%", kRuntimeInclude},
        {"%RUNTIME_LIBRARY%", kRuntimeLibrary}}) {
    file = replace_all(std::move(file), word, value);
  }
  return file;
}

std::array<HookFile, 2> hook_files(const HookOptions& options) {
  const HookArea area = hook_area(options.area);
  return {{{area.plugin, filled(templates::kHookPlugin, options)},
           {area.makefile, filled(templates::kHookMakefile, options)}}};
}

// A file of that name that tfaot did not make must stay, and so must other areas' files.
Status check_ours(const FileSystem& fs, const Path& area, const Path& path) {
  TFAOT_TRY(check_own_folders(fs, area, path));
  if (fs.kind(path) == FileKind::kMissing) return {};
  const auto text = fs.read(path);
  if (text && text->find(kOurMark) != std::string::npos) return {};
  return fail(Error::at({path.string()}, "tfaot did not write this file, so it is not changed")
                  .note("move it away, then install the hook"));
}

Status check_block(const Path& file, const std::string& text) {
  if (!has_broken_block(text)) return {};
  return fail(Error::at({file.string()}, "the file has only part of the hook's lines")
                  .note("someone edited them: remove everything from '# >>> tfaot scram-hook' to "
                        "'# <<< tfaot scram-hook'"));
}

Status check_program(const std::string& program) {
  // Makefiles split words at spaces and interpret '$', '#', ':' and the like.
  if (program.find_first_of(" \t\n$#:%'\"\\;&|<>()*?[]") == std::string::npos) return {};
  return fail(Error(fmt::format("make cannot use the path of this tfaot: '{}'", program))
                  .note("install tfaot in a folder with an ordinary name"));
}

// Calls `change` with BuildRules.py; false: the area is in the `wanted` state already.
template <class Change>
Result<bool> change_area(FileSystem& fs, const HookOptions& options, HookState wanted,
                         Change change) {
  TFAOT_ASSIGN(const HookStatus status, hook_status(fs, options));
  if (status.state == wanted) return false;
  HookFile rules{hook_area(options.area).build_rules, ""};
  TFAOT_ASSIGN(rules.text, fs.read(rules.path));
  TFAOT_TRY(check_block(rules.path, rules.text));
  for (const HookFile& file : hook_files(options)) {
    TFAOT_TRY(check_ours(fs, options.area, file.path));
  }
  const InterruptWatch watch;
  const DespiteInterrupts finish;  // three short files that belong together
  // What killed runs left. BuildRules.py is in the same folder as one of the files.
  for (const HookFile& file : hook_files(options)) {
    TFAOT_TRY(fs.remove_half_written(file.path.parent_path()));
  }
  TFAOT_TRY(change(rules));
  return true;
}

}  // namespace

Result<HookStatus> hook_status(const FileSystem& fs, const HookOptions& options) {
  TFAOT_TRY(check_area(fs, options.area));
  TFAOT_ASSIGN(const std::string rules, fs.read(hook_area(options.area).build_rules));
  const auto block = find_block(rules);
  HookStatus status;
  std::size_t missing = 0;
  bool differs = block && block->version != TFAOT_VERSION;
  for (const HookFile& file : hook_files(options)) {
    const auto text = fs.kind(file.path) == FileKind::kFile ? fs.read(file.path) : fail(Error(""));
    if (!text) {
      ++missing;
      status.problems.push_back(file.path.string() + " is missing");
    } else if (*text != file.text) {
      differs = true;
    }
  }
  if (has_broken_block(rules)) {
    status.problems.push_back(hook_area(options.area).build_rules.string() +
                              " has only part of the hook's lines");
  } else if (!block && missing == hook_files(options).size()) {
    return HookStatus{};
  } else if (!block) {
    status.problems = {"BuildRules.py does not use the hook's files"};
  }
  if (block) status.version = block->version;
  status.state = !status.problems.empty() ? HookState::kDamaged
                 : differs                ? HookState::kOther
                                          : HookState::kInstalled;
  return status;
}

Result<bool> install_hook(FileSystem& fs, const HookOptions& options) {
  TFAOT_TRY(check_program(options.program));
  return change_area(fs, options, HookState::kInstalled, [&](const HookFile& rules) -> Status {
    for (const HookFile& file : hook_files(options)) {
      TFAOT_TRY(fs.replace_atomically(file.path, file.text));
    }
    return fs.replace_atomically(rules.path, with_block(rules.text, TFAOT_VERSION));
  });
}

Result<bool> remove_hook(FileSystem& fs, const HookOptions& options) {
  return change_area(fs, options, HookState::kAbsent, [&](const HookFile& rules) -> Status {
    const std::string without = without_block(rules.text);
    if (without != rules.text) TFAOT_TRY(fs.replace_atomically(rules.path, without));
    for (const HookFile& file : hook_files(options)) TFAOT_TRY(fs.remove_all(file.path));
    return {};
  });
}

}  // namespace tfaot::toolkit
