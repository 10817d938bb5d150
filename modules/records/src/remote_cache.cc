// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/remote_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kFolderLength = 2;
constexpr std::int64_t kLongestTimeout = 3'600'000;

const std::vector<std::string>& attribute_names() {
  static const std::vector<std::string> names = {"layout", "read-only", "authorization-file",
                                                 "connect-timeout", "operation-timeout"};
  return names;
}

Error wrong(const std::string& what) { return Error("the remote cache: " + what); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_port(std::string_view text) {
  const auto number = parse_number<unsigned>(text);
  return number && *number > 0 && *number < 65536;
}

// The host may be a name, an IPv4 address, or an IPv6 one in brackets.
bool is_host_and_port(std::string_view text) {
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return false;
  const std::size_t colon = text.find(':', bracket);
  const std::string_view host = text.substr(0, colon);
  const bool plain = std::all_of(host.begin(), host.end(), [](char c) {
    return is_name_character(c) || c == '[' || c == ']' || c == ':';
  });
  return !host.empty() && plain &&
         (colon == std::string_view::npos || is_port(text.substr(colon + 1)));
}

Status read_url(const std::string& url, RemoteCachePlace& place) {
  const std::size_t scheme_end = url.find("://");
  const std::string scheme = url.substr(0, scheme_end);
  if (scheme_end == std::string::npos || (scheme != "http" && scheme != "https")) {
    return fail(wrong(fmt::format("'{}' is not the address of an HTTP server", url))
                    .note("such as http://host:8080/cache"));
  }
  const std::size_t host = scheme_end + 3;
  const std::size_t path = std::min(url.find('/', host), url.size());
  const std::string authority = url.substr(host, path - host);
  if (authority.find('@') != std::string::npos) {
    return fail(wrong("a password does not belong into the address, which others can see")
                    .note("put 'Basic ...' or 'Bearer TOKEN' into a file and add "
                          "|authorization-file=FILE"));
  }
  if (!is_host_and_port(authority)) {
    return fail(wrong(fmt::format("'{}' is not HOST or HOST:PORT", authority)));
  }
  place.server = url.substr(0, path);
  place.path = url.substr(path);
  const bool printable = std::all_of(place.path.begin(), place.path.end(),
                                     [](char c) { return c > ' ' && c != '\x7f'; });
  if (!printable || place.path.find_first_of("?#") != std::string::npos) {
    return fail(wrong(fmt::format("the path '{}' has a blank, a '?' or a '#'", place.path))
                    .note("write such a character as %20, %3F or %23"));
  }
  while (place.path.ends_with('/')) place.path.pop_back();
  return {};
}

Result<std::int64_t> milliseconds(const std::string& name, const std::string& text) {
  const auto number = parse_number<std::int64_t>(text);
  if (number && *number > 0 && *number <= kLongestTimeout) return *number;
  return fail(wrong(fmt::format("{}: '{}' is not a number of milliseconds from 1 to {}", name, text,
                                kLongestTimeout)));
}

Status read_attribute(const std::string& attribute, RemoteCachePlace& place) {
  const std::size_t equals = std::min(attribute.find('='), attribute.size());
  const std::string name = attribute.substr(0, equals);
  const bool has_value = equals < attribute.size();
  const std::string value = has_value ? attribute.substr(equals + 1) : "";
  if (name == "read-only") {
    if (has_value && value != "true" && value != "false") {
      return fail(wrong(fmt::format("read-only: '{}' is neither 'true' nor 'false'", value)));
    }
    place.read_only = value != "false";
  } else if (name == "layout") {
    const auto layout = parse_word<CacheLayout>(value);
    if (!layout) {
      return fail(
          wrong(fmt::format("layout: expected {}, not '{}'", quoted_words<CacheLayout>(), value)));
    }
    place.layout = *layout;
  } else if (name == "authorization-file") {
    if (value.empty()) return fail(wrong("authorization-file: the file's path is missing"));
    place.authorization_file = value;
  } else if (name == "connect-timeout") {
    TFAOT_ASSIGN(place.connect_timeout, milliseconds(name, value));
  } else if (name == "operation-timeout") {
    TFAOT_ASSIGN(place.operation_timeout, milliseconds(name, value));
  } else {
    return fail(wrong(fmt::format("unknown attribute '{}'{}", name, guess(name, attribute_names())))
                    .note("allowed: " + join(attribute_names(), ", ")));
  }
  return {};
}

}  // namespace

Result<RemoteCachePlace> parse_remote_cache(std::string_view text) {
  RemoteCachePlace place;
  const std::string trimmed = trim(text);
  if (trimmed.empty()) return place;
  const std::vector<std::string> parts = split(trimmed, '|');
  TFAOT_TRY(read_url(parts.front(), place));
  for (std::size_t i = 1; i < parts.size(); ++i) TFAOT_TRY(read_attribute(parts[i], place));
  return place;
}

std::string entry_path(const RemoteCachePlace& place, const std::string& key) {
  switch (place.layout) {
    case CacheLayout::kSubdirs:
      return place.path + "/" + key.substr(0, kFolderLength) + "/" + key.substr(kFolderLength);
    case CacheLayout::kFlat:
      return place.path + "/" + key;
    case CacheLayout::kBazel:
      return place.path + "/ac/" + key;
  }
  return "";
}

}  // namespace tfaot::toolkit
