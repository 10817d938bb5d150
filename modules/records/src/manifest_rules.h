// SPDX-License-Identifier: Apache-2.0
// What values of manifest.json must look like. A manifest may come from anywhere, and install uses
// its names and paths, so these rules keep every path inside its folder. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/json_reader.h"

namespace tfaot::toolkit {

Result<int> read_schema_version(const JsonReader& json);
Result<std::string> read_sha256(const JsonReader& json);
Result<std::string> read_optional_sha256(const JsonReader& json);  // may be ""
Result<std::string> read_file_name(const JsonReader& json);        // see is_safe_name()
Result<std::string> read_tool_name(const JsonReader& json);
Result<std::string> read_toolkit_version(const JsonReader& json);
Result<std::string> read_tensor_name(const JsonReader& json);
Result<std::string> read_path(const JsonReader& json);  // see is_package_path()
Result<std::uint64_t> read_size(const JsonReader& json);
Result<std::vector<std::int64_t>> read_shape(const JsonReader& json);        // none negative
Result<std::vector<std::int64_t>> read_batch_sizes(const JsonReader& json);  // growing, from 1 on
Result<std::vector<std::string>> read_cpu_levels(const JsonReader& json);    // distinct
Result<std::string> read_cpp_class(const JsonReader& json);                  // "a::b::Class"
Result<std::vector<std::string>> read_texts(const JsonReader& json);

}  // namespace tfaot::toolkit
