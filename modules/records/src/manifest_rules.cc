// SPDX-License-Identifier: Apache-2.0
#include "manifest_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<std::string> read_text_of(const JsonReader& json, std::size_t most) {
  TFAOT_ASSIGN(std::string text, json.text());
  if (text.size() <= most) return text;
  return json.failed(fmt::format("it has {} bytes, but at most {} are allowed", text.size(), most));
}

}  // namespace

Result<int> read_schema_version(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t version, json.number());
  if (version == 1) return 1;
  return fail(json.failed(fmt::format("this tfaot reads version 1, not {}", version))
                  .value()
                  .note("Use the tfaot that made the package, or a newer one."));
}

Result<std::string> read_sha256(const JsonReader& json) {
  TFAOT_ASSIGN(std::string digest, json.text());
  if (is_sha256(digest)) return digest;
  return json.failed(fmt::format("'{}' is not 64 lower-case hexadecimal digits", shown(digest)));
}

Result<std::string> read_optional_sha256(const JsonReader& json) {
  TFAOT_ASSIGN(const std::string digest, json.text());
  if (digest.empty()) return digest;
  return read_sha256(json);
}

Result<std::string> read_file_name(const JsonReader& json) {
  TFAOT_ASSIGN(std::string name, read_text_of(json, kLongestName));
  if (is_safe_name(name)) return name;
  return json.failed(fmt::format("'{}' cannot be a file name in a package", shown(name)));
}

Result<std::string> read_tool_name(const JsonReader& json) {
  TFAOT_ASSIGN(std::string name, read_file_name(json));
  if (!is_reserved_tool_name(name)) return name;
  return json.failed(fmt::format("a model's tool cannot be named '{}'", name));
}

Result<std::string> read_toolkit_version(const JsonReader& json) {
  TFAOT_ASSIGN(std::string version, json.text());
  if (is_dotted_version(version)) return version;
  return json.failed(fmt::format("'{}' is not a version of tfaot", shown(version)));
}

Result<std::string> read_tensor_name(const JsonReader& json) {
  return read_text_of(json, kLongestTensorName);
}

Result<std::string> read_path(const JsonReader& json) {
  TFAOT_ASSIGN(std::string path, read_text_of(json, kLongestPath));
  if (is_package_path(path)) return path;
  return json.failed(fmt::format("'{}' is not a plain path inside the package", shown(path)));
}

Result<std::uint64_t> read_size(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t size, json.number());
  if (size >= 0) return static_cast<std::uint64_t>(size);
  return json.failed(fmt::format("{} is negative", size));
}

Result<std::vector<std::int64_t>> read_shape(const JsonReader& json) {
  const auto read = [](const JsonReader& element) -> Result<std::int64_t> {
    TFAOT_ASSIGN(const std::int64_t size, element.number());
    if (size >= 0) return size;
    return element.failed(fmt::format("{} is negative", size));
  };
  return json.list(read, kMostDimensions);
}

Result<std::vector<std::int64_t>> read_batch_sizes(const JsonReader& json) {
  const auto read = [](const JsonReader& element) -> Result<std::int64_t> {
    TFAOT_ASSIGN(const std::int64_t size, element.number());
    if (size >= 1 && size <= kLargestBatchSize) return size;
    return element.failed(fmt::format("{} is not from 1 to {}", size, kLargestBatchSize));
  };
  TFAOT_ASSIGN(std::vector<std::int64_t> sizes, json.list(read, kMostBatchSizes));
  if (sizes.empty()) return json.failed("the list is empty");
  if (std::ranges::adjacent_find(sizes, std::greater_equal()) == sizes.end()) return sizes;
  return json.failed("the sizes are not in ascending order");
}

Result<std::vector<std::string>> read_cpu_levels(const JsonReader& json) {
  TFAOT_ASSIGN(std::vector<std::string> levels, json.list(read_file_name));
  if (levels.empty()) return json.failed("the list is empty");
  std::set<std::string> seen;
  for (const std::string& level : levels) {
    if (!seen.insert(level).second) {
      return json.failed(fmt::format("'{}' is listed twice", shown(level)));
    }
  }
  return levels;
}

Result<std::string> read_cpp_class(const JsonReader& json) {
  TFAOT_ASSIGN(std::string name, json.text());
  const std::vector<std::string> parts = split_lines(replace_all(name, "::", "\n"));
  if (parts.size() > 1 && !name.ends_with("::") &&
      std::ranges::all_of(parts, [](const std::string& part) { return is_cpp_identifier(part); })) {
    return name;
  }
  return json.failed(fmt::format("'{}' is not a C++ class in a namespace", shown(name)));
}

Result<std::vector<std::string>> read_texts(const JsonReader& json) {
  return json.list([](const JsonReader& element) { return element.text(); });
}

}  // namespace tfaot::toolkit
