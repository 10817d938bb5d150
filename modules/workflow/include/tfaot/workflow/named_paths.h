// SPDX-License-Identifier: Apache-2.0
// Describes what is at a path that the user named. If a workflow needs something else, the error
// says what is there, what the workflow takes, and which command makes one from the other. Only
// reads. Safe from many threads.
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/config/config.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

bool is_package_tree(const FileSystem& files, const Path& path);
/// The package tree that a path names: a tree, its manifest, or AREA/NAME[/VERSION] of an installed
/// model. Any other path is returned as it is.
Path package_at(const FileSystem& files, const Path& path);
/// What users may name a package by, for texts.
inline constexpr const char* kPackageForms =
    "a package tree, an archive, or AREA/NAME[/VERSION] of an installed model";
/// Of a SavedModel's folder, or of a file by its name; nothing for anything else.
std::optional<ModelFormat> model_format(const FileSystem& files, const Path& path);
bool is_model(const FileSystem& files, const Path& path);
/// "a SavedModel's folder, ...": those that model_format() knows.
std::string model_kinds();
/// Judged by its name.
bool is_config(const Path& path);
/// What is compiled: a config that exists, or a model.
bool is_config_or_model(const FileSystem& files, const Path& path);
/// Of a model without a config: its defaults, with `overrides`. Error: it is no model, or a frozen
/// graph, which needs a config.
Result<ModelSpec> spec_of_model(const FileSystem& files, const Path& path,
                                const ConfigOverrides& overrides);
/// A tar.zst, tar.gz or tar, judged by its first bytes. Its reader decides whether it is a package.
bool is_archive(const FileSystem& files, const Path& path);

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
