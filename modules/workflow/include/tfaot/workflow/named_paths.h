// SPDX-License-Identifier: Apache-2.0
// What is at a path that the user named: looked up once, and handed on. If a workflow needs
// something else, the error says what is there, what the workflow takes, and which command makes
// one from the other. Only reads. Safe from many threads.
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/config/config.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

enum class PathKind {
  kPackageTree,
  kTornTree,  ///< a package tree that a killed run left incomplete, see repair_tree()
  kArchive,   ///< judged by its first bytes; its reader decides whether it is a package
  kConfig,    ///< judged by its name
  kModel,
  kOther,
};

struct NamedPath {
  PathKind kind = PathKind::kOther;
  /// Of a package: its tree, which the user may have named by its manifest or, if it is installed,
  /// as AREA/NAME[/VERSION]. Else as named.
  Path path{};
  std::optional<ModelFormat> format{};  ///< of a model

  bool is_tree() const { return kind == PathKind::kPackageTree || kind == PathKind::kTornTree; }
  bool is_source() const { return kind == PathKind::kConfig || kind == PathKind::kModel; }
};
NamedPath named_path(const FileSystem& files, const Path& path);

bool is_package_tree(const FileSystem& files, const Path& path);
/// Names of packages, for texts.
inline constexpr const char* kPackageForms =
    "a package tree, an archive, or AREA/NAME[/VERSION] of an installed model";
/// "a SavedModel's folder, ...": models.
std::string model_kinds();
/// Of a config, or of a model without one: its defaults, with `overrides`. Error: it is neither, or
/// a frozen graph, which needs a config.
Result<ModelSpec> spec_at(const FileSystem& files, const Path& path,
                          const ConfigOverrides& overrides);

/// Usage error, naming the option, if a report would be put into a package tree, where a later
/// command could take its place, or it that of the package's own files.
Status check_outside_packages(const FileSystem& files, const std::string& option, const Path& path);

/// What a command takes.
struct Wanted {
  std::string what;  ///< "'tfaot install' takes an archive"
  std::string from;  ///< "'tfaot package' makes one of a package tree"; may be empty
};
/// The error that says what `path` is instead.
Error wrong_input(const FileSystem& files, const Path& path, const Wanted& wanted);

}  // namespace tfaot::toolkit
