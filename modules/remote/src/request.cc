// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>

namespace tfaot::toolkit {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLargestEntry = std::size_t{1} << 30U;

std::string words_of_failure(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
      return "it cannot be connected to";
    case httplib::Error::ConnectionTimeout:
      return "it cannot be connected to in time";
    case httplib::Error::Read:
    case httplib::Error::Write:
      return "the connection broke";
    case httplib::Error::Canceled:
      return "it sends more than any entry has";
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return "its certificate is not accepted (SSL_CERT_FILE names those to trust)";
    default:
      return httplib::to_string(error);
  }
}

}  // namespace

struct HttpServer::Connection {
  explicit Connection(const std::string& server) : client(server) {}
  httplib::Client client;
};

namespace {

using Connection = HttpServer::Connection;

// A server may close a connection that was kept open, just when it is used again.
HttpAnswer ask(Connection& connection, const std::function<httplib::Result(HttpAnswer&)>& request) {
  const bool reused = connection.client.is_socket_open() != 0;
  HttpAnswer answer;
  httplib::Result result = request(answer);
  const bool broke =
      result.error() == httplib::Error::Read || result.error() == httplib::Error::Write;
  if (!result && reused && broke) {
    answer = {};
    result = request(answer);
  }
  if (result) {
    answer.status = result->status;
  } else {
    answer.failure = words_of_failure(result.error());
  }
  return answer;
}

// In a thread of its own, which is left behind if it takes too long.
HttpAnswer ask_in_time(const std::shared_ptr<Connection>& connection, milliseconds limit,
                       std::function<httplib::Result(httplib::Client&, HttpAnswer&)> request) {
  std::packaged_task<HttpAnswer()> task([connection, request = std::move(request)] {
    return ask(*connection,
               [&](HttpAnswer& answer) { return request(connection->client, answer); });
  });
  std::future<HttpAnswer> answer = task.get_future();
  std::thread(std::move(task)).detach();
  if (answer.wait_for(limit) == std::future_status::ready) return answer.get();
  connection->client.stop();
  return {0, fmt::format("it did not answer within {} ms", limit.count()), ""};
}

}  // namespace

HttpServer::HttpServer(const RemoteCachePlace& place, const std::string& authorization)
    : connection_(std::make_shared<Connection>(place.server)), limit_(place.operation_timeout) {
  httplib::Client& client = connection_->client;
  client.set_connection_timeout(milliseconds(place.connect_timeout));
  // For the thread that was left behind: the limit as a whole ends before.
  client.set_read_timeout(milliseconds(limit_) + std::chrono::seconds(1));
  client.set_write_timeout(milliseconds(limit_) + std::chrono::seconds(1));
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  httplib::Headers headers = {{"User-Agent", "tfaot"}};
  if (!authorization.empty()) headers.emplace("Authorization", authorization);
  client.set_default_headers(std::move(headers));
}

HttpAnswer HttpServer::get(const std::string& path) {
  return ask_in_time(connection_, milliseconds(limit_),
                     [path](httplib::Client& client, HttpAnswer& answer) {
                       return client.Get(path, [&answer](const char* bytes, std::size_t size) {
                         if (size > kLargestEntry - answer.contents.size()) return false;
                         answer.contents.append(bytes, size);
                         return true;
                       });
                     });
}

HttpAnswer HttpServer::head(const std::string& path) {
  return ask_in_time(connection_, milliseconds(limit_),
                     [path](httplib::Client& client, HttpAnswer&) { return client.Head(path); });
}

HttpAnswer HttpServer::put(const std::string& path, std::string contents) {
  return ask_in_time(connection_, milliseconds(limit_),
                     [path, contents = std::move(contents)](httplib::Client& client, HttpAnswer&) {
                       return client.Put(path, contents, "application/octet-stream");
                     });
}

}  // namespace tfaot::toolkit
