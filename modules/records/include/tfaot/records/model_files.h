// SPDX-License-Identifier: Apache-2.0
// What a model's file is, by its name or its first words. Writes nothing.
#pragma once

#include <filesystem>
#include <optional>

#include "tfaot/base/file_system.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// Of a file that tfaot compiles; nothing for other names. A SavedModel is a folder.
std::optional<ModelFormat> format_of_file(const std::filesystem::path& file);

// True for a SavedModel's folder.
bool holds_saved_model(const FileSystem& files, const Path& folder);

// A model that tfaot does not read.
struct ForeignModel {
  const char* what;  // "a Keras file"
  const char* next;  // what to do
};

// Null: it is none by its name, and does not begin like one.
const ForeignModel* foreign_model(const FileSystem& files, const Path& file);

// The path, without links, of a file that a model names or its folder holds. `model`: the model's
// own file, such as saved_model.pb. Error: it lies outside of the model's folder, and not beside
// the file that `model` is a link to. (Caches of models are folders of links to one folder.)
// REQUIRES: absolute paths.
Result<Path> file_of_model(const FileSystem& files, const Path& model, const Path& file);

}  // namespace tfaot::toolkit
