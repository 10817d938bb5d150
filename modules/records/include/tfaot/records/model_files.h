// SPDX-License-Identifier: Apache-2.0
// What a model's file is, by its name. Pure functions.
#pragma once

#include <filesystem>
#include <optional>

#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// Of a file that tfaot compiles; nothing for other names. A SavedModel is a folder.
std::optional<ModelFormat> format_of_file(const std::filesystem::path& file);

// A model that tfaot does not read.
struct ForeignModel {
  const char* what;  // "a Keras file"
  const char* next;  // what to do
};

// Null: it is none by its name.
const ForeignModel* foreign_model(const std::filesystem::path& file);

}  // namespace tfaot::toolkit
