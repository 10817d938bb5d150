// SPDX-License-Identifier: Apache-2.0
// HTTP requests to one server, over one connection that is kept open. Each request has a time limit
// as a whole, whatever the server does: looking up its name, connecting, a byte every second. Used
// by one thread.
#pragma once

#include <memory>
#include <string>

#include "tfaot/records/remote_cache.h"

namespace tfaot::toolkit {

// What is taken into memory of an answer's contents. Objects of compiled code have less than 1 MiB.
constexpr std::size_t kLargestAnswer = std::size_t{64} << 20U;

struct HttpAnswer {
  int status = 0;          // 0: there was no answer
  std::string failure{};   // why
  std::string contents{};  // the first ones, if it is too large
  bool too_large = false;  // than kLargestAnswer
};

class HttpServer {
 public:
  // `authorization`: the value of that header, or empty.
  HttpServer(const RemoteCachePlace& place, const std::string& authorization);

  // After an answer with the status 0, nothing more may be asked.
  HttpAnswer get(const std::string& path);
  HttpAnswer head(const std::string& path);
  HttpAnswer put(const std::string& path, std::string contents);

  struct Connection;

 private:
  std::shared_ptr<Connection> connection_;  // a request that is given up still uses it
  std::int64_t limit_;                      // milliseconds
};

}  // namespace tfaot::toolkit
