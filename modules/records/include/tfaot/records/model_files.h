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

// A model that tfaot does not read.
struct ForeignModel {
  const char* what;  // "a Keras file"
  const char* next;  // what to do
};

// Null: it is none by its name, and does not begin like one.
const ForeignModel* foreign_model(const FileSystem& files, const Path& file);

}  // namespace tfaot::toolkit
