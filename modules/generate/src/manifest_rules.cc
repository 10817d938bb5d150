// SPDX-License-Identifier: Apache-2.0
#include "manifest_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "names.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/dtype.h"

namespace tfaot {
namespace {

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Backslashes and control characters have no place in our paths and would confuse other tools.
bool is_safe_path(const std::string& path) {
  if (path.empty() || path.ends_with('/')) return false;
  const bool plain = std::none_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\\' || c == '\x7f';
  });
  const std::vector<std::string> parts = split_lines(replace_all(path, "/", "\n"));
  return plain && std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
           return part.empty() || part == "." || part == "..";
         });
}

}  // namespace

Status check_schema_version(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t version, json.number());
  if (version == 1) return {};
  return fail(json.failed(fmt::format("this tfaot reads version 1, not {}", version))
                  .value()
                  .note("Use the tfaot that made the package, or a newer one."));
}

Result<DType> read_dtype(const JsonReader& json) {
  TFAOT_ASSIGN(const std::string word, json.text());
  if (const std::optional<DType> dtype = dtype_from_name(word)) return *dtype;
  return json.failed(fmt::format("unknown dtype '{}'", word));
}

Result<std::string> read_storage(const JsonReader& json) {
  TFAOT_ASSIGN(std::string word, json.text());
  if (word == "shared" || word == "embedded") return word;
  return json.failed(fmt::format("expected 'shared' or 'embedded', not '{}'", word));
}

Result<std::string> read_sha256(const JsonReader& json) {
  TFAOT_ASSIGN(std::string digest, json.text());
  if (is_sha256(digest)) return digest;
  return json.failed(fmt::format("'{}' is not 64 lower-case hexadecimal digits", digest));
}

Result<std::string> read_optional_sha256(const JsonReader& json) {
  TFAOT_ASSIGN(const std::string digest, json.text());
  if (digest.empty()) return digest;
  return read_sha256(json);
}

Result<std::string> read_file_name(const JsonReader& json) {
  TFAOT_ASSIGN(std::string name, json.text());
  if (is_safe_name(name)) return name;
  return json.failed(fmt::format("'{}' cannot be a file name in a package", name));
}

Result<std::string> read_tool_name(const JsonReader& json) {
  TFAOT_ASSIGN(std::string name, read_file_name(json));
  if (!is_reserved_tool_name(name)) return name;
  return json.failed(fmt::format("a model's tool cannot be named '{}'", name));
}

Result<std::string> read_toolkit_version(const JsonReader& json) {
  TFAOT_ASSIGN(std::string version, json.text());
  if (is_dotted_version(version)) return version;
  return json.failed(fmt::format("'{}' is not a version of tfaot", version));
}

Result<std::string> read_path(const JsonReader& json) {
  TFAOT_ASSIGN(std::string path, json.text());
  if (is_safe_path(path)) return path;
  return json.failed(fmt::format("'{}' is not a plain path inside the package", path));
}

Result<std::uint64_t> read_size(const JsonReader& json) {
  TFAOT_ASSIGN(const std::int64_t size, json.number());
  if (size >= 0) return static_cast<std::uint64_t>(size);
  return json.failed(fmt::format("{} is negative", size));
}

Result<std::vector<std::int64_t>> read_sizes(const JsonReader& json) {
  return json.list([](const JsonReader& element) -> Result<std::int64_t> {
    TFAOT_ASSIGN(const std::int64_t size, element.number());
    if (size >= 0) return size;
    return element.failed(fmt::format("{} is negative", size));
  });
}

Result<std::vector<std::string>> read_texts(const JsonReader& json) {
  return json.list([](const JsonReader& element) { return element.text(); });
}

}  // namespace tfaot
