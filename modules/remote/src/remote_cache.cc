// SPDX-License-Identifier: Apache-2.0
#include "tfaot/remote/remote_cache.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/records/remote_cache.h"

namespace tfaot::toolkit {
// HTTP requests to one server, over one connection that is kept open. Each request has a time limit
// as a whole, whatever the server does: looking up its name, connecting, a byte every second. Used
// by one thread.

// What is taken into memory of an answer's contents. Objects of compiled code have less than 1 MiB.
constexpr std::size_t kLargestAnswer = std::size_t{64} << 20U;

struct HttpAnswer {
  int status = 0;          // 0: there was no answer
  std::string failure{};   // why
  std::string contents{};  // the first ones, if it is too large
  bool too_large = false;  // than kLargestAnswer
};

namespace {

using std::chrono::milliseconds;

std::string words_of_failure(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "it cannot be connected to";
    case httplib::Error::ConnectionTimeout:
      return "it cannot be connected to in time";
    case httplib::Error::Read:
    case httplib::Error::Write:
      return "the connection broke";
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return "its certificate is not accepted (SSL_CERT_FILE names those to trust)";
    default:
      return httplib::to_string(error);
  }
}

// The receiver counts what was unpacked, so that it also stops what is small only while packed.
httplib::Request with_receivers(const httplib::Request& request, HttpAnswer& answer) {
  httplib::Request whole = request;
  whole.response_handler = [&answer](const httplib::Response& response) {
    answer.status = response.status;
    return true;
  };
  whole.content_receiver = [&answer](const char* bytes, std::size_t size, std::uint64_t,
                                     std::uint64_t) {
    answer.too_large = size > kLargestAnswer - answer.contents.size();
    if (!answer.too_large) answer.contents.append(bytes, size);
    return !answer.too_large;
  };
  return whole;
}

// A server may close a connection that was kept open, just when it is used again.
HttpAnswer ask(httplib::Client& client, const httplib::Request& request) {
  const bool reused = client.is_socket_open() != 0;
  HttpAnswer answer;
  httplib::Result result = client.send(with_receivers(request, answer));
  const bool broke =
      result.error() == httplib::Error::Read || result.error() == httplib::Error::Write;
  if (!result && reused && broke) {
    answer = {};
    result = client.send(with_receivers(request, answer));
  }
  if (!result && !answer.too_large) return {.failure = words_of_failure(result.error())};
  if (result) answer.status = result->status;  // of an answer without contents, too
  return answer;
}

// In a thread of its own, which is left behind if it takes too long.
HttpAnswer ask_in_time(const std::shared_ptr<httplib::Client>& connection, milliseconds limit,
                       httplib::Request request) {
  std::packaged_task<HttpAnswer()> task(
      [connection, request = std::move(request)] { return ask(*connection, request); });
  std::future<HttpAnswer> answer = task.get_future();
  std::thread(std::move(task)).detach();
  if (answer.wait_for(limit) == std::future_status::ready) return answer.get();
  connection->stop();
  return {.failure = fmt::format("it did not answer within {} ms", limit.count())};
}

httplib::Request request_of(const char* method, const std::string& path) {
  httplib::Request request;
  request.method = method;
  request.path = path;
  return request;
}

constexpr int kOk = 200;
constexpr int kFirstOther = 300;  // 2xx: done
constexpr int kNotFound = 404;
constexpr int kGone = 410;

std::string words_of_too_large() {
  return fmt::format("an entry has more than {} MiB", kLargestAnswer >> 20U);
}

// Before an entry's contents: what it is, and the hash that they must have.
std::string head_of(const std::string& key, std::string_view contents) {
  return fmt::format("tfaot remote cache 1\n{}\n{}\n", key, sha256_of(contents));
}

// Empty if the entry is not what was stored under the key.
std::optional<std::string> contents_of(const std::string& key, std::string entry) {
  const std::size_t head_size = head_of(key, "").size();  // the same for all contents
  if (entry.size() < head_size) return std::nullopt;
  const std::string head = head_of(key, std::string_view(entry).substr(head_size));
  if (!entry.starts_with(head)) return std::nullopt;
  entry.erase(0, head_size);
  return entry;
}

std::string entry_of(const std::string& key, std::string_view contents) {
  std::string entry = head_of(key, contents);
  entry += contents;
  return entry;
}

// One line of printable ASCII: anything else could add headers.
Result<std::string> read_authorization(const FileSystem& fs, const std::string& file) {
  TFAOT_ASSIGN(const std::string text, fs.read(file));
  std::string value = trim(text);
  for (const char c : value) {
    if (c < ' ' || c > '~') return fail(Error::at({file}, "is not one line of text"));
  }
  if (value.empty()) return fail(Error::at({file}, "is empty"));
  return value;
}

}  // namespace

class HttpServer {
 public:
  // `authorization`: the value of that header, or empty.
  HttpServer(const RemoteCachePlace& place, const std::string& authorization)
      : connection_(std::make_shared<httplib::Client>(place.server)),
        limit_(place.operation_timeout) {
    httplib::Client& client = *connection_;
    client.set_connection_timeout(milliseconds(place.connect_timeout));
    // For the thread that was left behind: the limit as a whole ends before.
    client.set_read_timeout(limit_ + std::chrono::seconds(1));
    client.set_write_timeout(limit_ + std::chrono::seconds(1));
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    httplib::Headers headers = {{"User-Agent", "tfaot"}};
    if (!authorization.empty()) headers.emplace("Authorization", authorization);
    client.set_default_headers(std::move(headers));
  }

  // After an answer with the status 0, nothing more may be asked.
  HttpAnswer get(const std::string& path) {
    return ask_in_time(connection_, limit_, request_of("GET", path));
  }
  HttpAnswer head(const std::string& path) {
    return ask_in_time(connection_, limit_, request_of("HEAD", path));
  }
  HttpAnswer put(const std::string& path, std::string contents) {
    httplib::Request request = request_of("PUT", path);
    request.set_header("Content-Type", "application/octet-stream");
    request.body = std::move(contents);
    return ask_in_time(connection_, limit_, std::move(request));
  }

 private:
  std::shared_ptr<httplib::Client> connection_;  // a request that is given up still uses it
  milliseconds limit_;
};

RemoteCache::RemoteCache(const FileSystem& fs, RemoteCachePlace place, Warn warn)
    : place_(std::move(place)), warn_(std::move(warn)) {
  if (place_.empty()) return;
  std::string authorization;
  if (!place_.authorization_file.empty()) {
    auto value = read_authorization(fs, place_.authorization_file);
    if (!value) {
      give_up("its authorization file cannot be used: " + value.error().text());
      return;
    }
    authorization = *std::move(value);
  }
  server_ = std::make_unique<HttpServer>(place_, authorization);
}

RemoteCache::~RemoteCache() = default;

void RemoteCache::warn_once(const std::string& text) {
  if (warned_.insert(text).second)
    warn_(fmt::format("the code cache {}: {}", place_.address(), text));
}

void RemoteCache::give_up(const std::string& why) {
  warn_once(why + "; going on without it");
  server_.reset();
}

std::optional<std::string> RemoteCache::get(const std::string& key) {
  if (!server_) return std::nullopt;
  HttpAnswer answer = server_->get(entry_path(place_, key));
  if (answer.status == 0) {
    give_up(answer.failure);
    return std::nullopt;
  }
  if (answer.status == kNotFound || answer.status == kGone) return std::nullopt;
  if (answer.status != kOk) {
    give_up(fmt::format("it answers {} when asked for an entry", answer.status));
    return std::nullopt;
  }
  const bool too_large = answer.too_large;
  std::optional<std::string> contents;
  if (!too_large) contents = contents_of(key, std::move(answer.contents));
  if (!contents) {
    refused_.insert(key);
    warn_once((too_large ? words_of_too_large() : "an entry is damaged or another's") +
              "; it is not used, its code is compiled again");
  }
  return contents;
}

void RemoteCache::put(const std::string& key, std::string_view contents) {
  if (!server_ || place_.read_only) return;
  std::string entry = entry_of(key, contents);
  if (entry.size() > kLargestAnswer) return warn_once(words_of_too_large() + "; it is not sent");
  const std::string path = entry_path(place_, key);
  if (!refused_.contains(key)) {
    // While this machine compiled, another one may have been faster.
    const HttpAnswer there = server_->head(path);
    if (there.status == 0) return give_up(there.failure);
    if (there.status == kOk) return;
  }
  const HttpAnswer answer = server_->put(path, std::move(entry));
  if (answer.status == 0) return give_up(answer.failure);
  if (answer.status >= kOk && answer.status < kFirstOther) return;
  warn_once(
      fmt::format("it does not take entries, it answers {}; if it shall only be read, add "
                  "|read-only to its address",
                  answer.status));
  place_.read_only = true;
}

}  // namespace tfaot::toolkit
