// SPDX-License-Identifier: Apache-2.0
// How the files of a package are called. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tfaot::toolkit {

// At the package's root: manifest_json.h and package_record_json.h.
inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kRecordName = "record.json";

// Headers and objects end with these, upstream's too.
inline constexpr std::string_view kHeaderSuffix = ".h";
inline constexpr std::string_view kObjectSuffix = ".o";

// "test_bs4", the model for one batch size: its header, its class, the stem of its objects.
std::string program_name(const std::string& model_name, std::int64_t batch_size);

// "test_bs4_x86-64-v3.o". The object of the lowest level has upstream's name, "test_bs4.o".
std::string object_file_name(const std::string& program, const std::string& cpu_level);
std::string lowest_object_file_name(const std::string& program);

// "test_weights.o"
std::string weights_file_name(const std::string& model_name);

bool is_object_file(std::string_view path);
bool is_weights_file(std::string_view path);

}  // namespace tfaot::toolkit
