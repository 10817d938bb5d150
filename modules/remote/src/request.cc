// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace tfaot::toolkit {
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

}  // namespace

struct HttpServer::Connection {
  explicit Connection(const std::string& server) : client(server) {}
  httplib::Client client;
};

namespace {

using Connection = HttpServer::Connection;

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
HttpAnswer ask_in_time(const std::shared_ptr<Connection>& connection, milliseconds limit,
                       httplib::Request request) {
  std::packaged_task<HttpAnswer()> task(
      [connection, request = std::move(request)] { return ask(connection->client, request); });
  std::future<HttpAnswer> answer = task.get_future();
  std::thread(std::move(task)).detach();
  if (answer.wait_for(limit) == std::future_status::ready) return answer.get();
  connection->client.stop();
  return {.failure = fmt::format("it did not answer within {} ms", limit.count())};
}

httplib::Request request_of(const char* method, const std::string& path) {
  httplib::Request request;
  request.method = method;
  request.path = path;
  return request;
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
  return ask_in_time(connection_, milliseconds(limit_), request_of("GET", path));
}

HttpAnswer HttpServer::head(const std::string& path) {
  return ask_in_time(connection_, milliseconds(limit_), request_of("HEAD", path));
}

HttpAnswer HttpServer::put(const std::string& path, std::string contents) {
  httplib::Request request = request_of("PUT", path);
  request.set_header("Content-Type", "application/octet-stream");
  request.body = std::move(contents);
  return ask_in_time(connection_, milliseconds(limit_), std::move(request));
}

}  // namespace tfaot::toolkit
