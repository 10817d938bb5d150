// SPDX-License-Identifier: Apache-2.0
// Results on an HTTP server, each under the hash of what it was made from. An entry carries its key
// and its own hash: one that is cut off, altered or another's is refused. Whatever the server does,
// the caller gets a result or none, within the place's time limits; the user is warned once of each
// kind of fault. After a fault of the server itself it is not asked again. Used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tfaot/base/file_system.h"
#include "tfaot/records/remote_cache.h"

namespace tfaot::toolkit {

class HttpServer;

class RemoteCache {
 public:
  using Warn = std::function<void(const std::string&)>;

  // Finds nothing and keeps nothing if the place is empty. Reads the authorization file at once,
  // but connects only when it is needed.
  RemoteCache(const FileSystem& fs, RemoteCachePlace place, Warn warn);
  RemoteCache(const RemoteCache&) = delete;
  RemoteCache& operator=(const RemoteCache&) = delete;
  ~RemoteCache();

  // REQUIRES, for both: `key` is a sha256_of().
  std::optional<std::string> get(const std::string& key);
  // Sends nothing if the place is read-only or the server has the entry already.
  void put(const std::string& key, std::string_view contents);

 private:
  void warn_once(const std::string& text);
  // The server is not asked again.
  void give_up(const std::string& why);

  RemoteCachePlace place_;
  Warn warn_;
  std::unique_ptr<HttpServer> server_;  // null: there is none, or none any more
  std::set<std::string> refused_;       // keys of entries that are to be replaced
  std::set<std::string> warned_;
};

}  // namespace tfaot::toolkit
