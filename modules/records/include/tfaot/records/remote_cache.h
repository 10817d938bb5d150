// SPDX-License-Identifier: Apache-2.0
// Where compiled code is kept besides the local folder: a server that takes GET, PUT and HEAD. The
// user names it in one text, whose form is that of ccache's remote_storage. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tfaot/base/result.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// Where a key's entry is, below the server's path. The words and places are ccache's.
enum class CacheLayout {
  kSubdirs,  // ab/cdef...
  kFlat,     // abcdef...
  kBazel,    // ac/abcdef...
};
template <>
inline constexpr std::array kWords<CacheLayout> = {
    Word<CacheLayout>{CacheLayout::kSubdirs, "subdirs"},
    Word<CacheLayout>{CacheLayout::kFlat, "flat"}, Word<CacheLayout>{CacheLayout::kBazel, "bazel"}};

struct RemoteCachePlace {
  std::string server;  // "http://host:8080"; empty: there is none
  std::string path;    // "/cache", or empty
  CacheLayout layout = CacheLayout::kSubdirs;
  bool read_only = false;
  std::string authorization_file;       // holds the value of the Authorization header; empty: none
  std::int64_t connect_timeout = 1000;  // milliseconds
  std::int64_t operation_timeout = 10000;  // milliseconds, for a request as a whole

  bool empty() const { return server.empty(); }
  std::string address() const { return server + path; }
};

// "URL|ATTRIBUTE[=VALUE]|..."; an empty text is no place. The Error names the part that is wrong.
Result<RemoteCachePlace> parse_remote_cache(std::string_view text);

// The path of an entry on the server. REQUIRES: `key` is a sha256_of().
std::string entry_path(const RemoteCachePlace& place, const std::string& key);

}  // namespace tfaot::toolkit
