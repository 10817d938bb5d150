// SPDX-License-Identifier: Apache-2.0
// The names of the files in a package. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tfaot::toolkit {

// At the package's root: manifest_json.h and package_record_json.h.
inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kRecordName = "record.json";

// What users of a model include and link besides its own files: the flags of the runtime's tool
// file.
inline constexpr std::string_view kRuntimeInclude = "runtime/include";
inline constexpr std::string_view kRuntimeLibrary = "runtime/lib/libtfaot_runtime.a";

// Suffixes of headers and objects, the same as upstream's.
inline constexpr std::string_view kHeaderSuffix = ".h";
inline constexpr std::string_view kObjectSuffix = ".o";

// "test_bs4", the model for one batch size: the name of its header and class, and the start of the
// names of its objects.
std::string program_name(const std::string& model_name, std::int64_t batch_size);

// "test_bs4_x86-64-v3.o". The object of the lowest level has upstream's name, "test_bs4.o".
std::string object_file_name(const std::string& program, const std::string& cpu_level);
std::string lowest_object_file_name(const std::string& program);

// "test_weights.o"
std::string weights_file_name(const std::string& model_name);

// Where `tfaot install --link` puts the library of a model, and its SHA-256 as sha256sum writes it:
// lib/NAME.so, which tfaot/runtime/models.h looks for, and lib/NAME.so.sha256.
std::string models_library_name(const std::string& model_name);
std::string library_hash_name(const std::string& model_name);

bool is_object_file(std::string_view path);
bool is_weights_file(std::string_view path);

}  // namespace tfaot::toolkit
