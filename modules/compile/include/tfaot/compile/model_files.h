// SPDX-License-Identifier: Apache-2.0
// The files of a model: those of a SavedModel's folder; a frozen graph's file; an ONNX file and the
// files with its external data. Only reads. Safe from many threads.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// `source`: the model's folder or file. Absolute paths, sorted; an ONNX file comes before the files
// that it names. Error: one lies outside of the model's folder (file_of_model()).
Result<std::vector<Path>> model_files(const FileSystem& fs, const Path& source);

// Of one file its hash; else sha256_of_tree(), or the same over model_files().
Result<std::string> model_sha256(const FileSystem& fs, const Path& source);

// Checks the files before anything reads them. Errors: files outside of the model's folder,
// pipes and devices, endless folders, more bytes than a model may have.
Status check_model_files(const FileSystem& fs, const Path& source);

}  // namespace tfaot::toolkit
