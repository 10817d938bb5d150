// SPDX-License-Identifier: Apache-2.0
#include "tfaot/scram/scram_hook.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "hook/hook_area.h"
#include "hook/hook_block.h"
#include "hook/hook_files.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kOurMark = "Made by tfaot ";

struct HookFile {
  Path path;
  std::string text;
};

std::string filled(std::string_view text, const HookOptions& options) {
  return replace_all(replace_all(std::string(text), "%VERSION%", TFAOT_VERSION), "%PROGRAM%",
                     options.program);
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

// Left by killed runs. BuildRules.py is in the same folder as one of the files.
Status remove_half_written(FileSystem& fs, const HookOptions& options) {
  for (const HookFile& file : hook_files(options)) {
    TFAOT_TRY(fs.remove_half_written(file.path.parent_path()));
  }
  return {};
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
  TFAOT_ASSIGN(const HookStatus status, hook_status(fs, options));
  if (status.state == HookState::kInstalled) return false;
  const Path rules_file = hook_area(options.area).build_rules;
  TFAOT_ASSIGN(const std::string rules, fs.read(rules_file));
  TFAOT_TRY(check_block(rules_file, rules));
  for (const HookFile& file : hook_files(options))
    TFAOT_TRY(check_ours(fs, options.area, file.path));
  const InterruptWatch watch;
  const DespiteInterrupts finish;  // three short files that belong together
  TFAOT_TRY(remove_half_written(fs, options));
  for (const HookFile& file : hook_files(options)) {
    TFAOT_TRY(fs.replace_atomically(file.path, file.text));
  }
  TFAOT_TRY(fs.replace_atomically(rules_file, with_block(rules, TFAOT_VERSION)));
  return true;
}

Result<bool> remove_hook(FileSystem& fs, const HookOptions& options) {
  TFAOT_ASSIGN(const HookStatus status, hook_status(fs, options));
  if (status.state == HookState::kAbsent) return false;
  const Path rules_file = hook_area(options.area).build_rules;
  TFAOT_ASSIGN(const std::string rules, fs.read(rules_file));
  TFAOT_TRY(check_block(rules_file, rules));
  for (const HookFile& file : hook_files(options))
    TFAOT_TRY(check_ours(fs, options.area, file.path));
  const InterruptWatch watch;
  const DespiteInterrupts finish;  // as above
  TFAOT_TRY(remove_half_written(fs, options));
  if (find_block(rules)) TFAOT_TRY(fs.replace_atomically(rules_file, without_block(rules)));
  for (const HookFile& file : hook_files(options)) TFAOT_TRY(fs.remove_all(file.path));
  return true;
}

}  // namespace tfaot::toolkit
