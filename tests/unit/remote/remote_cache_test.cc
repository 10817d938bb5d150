// SPDX-License-Identifier: Apache-2.0
// Beside a server that keeps what it is given, and servers that do not answer as they should.
#include "tfaot/remote/remote_cache.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "tests/support/memory_file_system.h"
#include "tfaot/base/hash.h"

namespace tfaot::toolkit {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Keeps entries; what it says of them can be changed.
class Store {
 public:
  Store() {
    server_.Get(".*", [this](const httplib::Request& request, httplib::Response& response) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request.method + " " + request.get_header_value("Authorization"));
      std::this_thread::sleep_for(delay);
      const auto found = entries.find(request.path);
      response.status = found == entries.end() ? 404 : status;
      if (endless_get) return send_endlessly(response);
      if (!encoding.empty()) response.set_header("Content-Encoding", encoding);
      if (found != entries.end()) response.set_content(found->second, "application/octet-stream");
    });
    server_.Put(".*", [this](const httplib::Request& request, httplib::Response& response) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request.method + " " + request.get_header_value("Authorization"));
      response.status = put_status;
      if (endless_put) send_endlessly(response);
      if (put_status < 300) entries[request.path] = request.body;
    });
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_timeout(1);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() { stop(); }

  void stop() {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  RemoteCachePlace place() const {
    RemoteCachePlace place;
    place.server = fmt::format("http://127.0.0.1:{}", port_);
    place.path = "/c";
    place.operation_timeout = 30000;
    return place;
  }
  // "GET AUTHORIZATION"
  std::vector<std::string> take_requests() {
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }

  std::map<std::string, std::string> entries;
  int status = 200;
  int put_status = 201;
  milliseconds delay{0};
  std::string encoding;
  bool endless_get = false;
  bool endless_put = false;
  std::atomic<std::size_t> sent = 0;  // of an answer without end

 private:
  void send_endlessly(httplib::Response& response) {
    sent = 0;
    response.set_chunked_content_provider("text/plain", [this, piece = std::string(1 << 20, 'x')](
                                                            std::size_t, httplib::DataSink& sink) {
      sent += piece.size();
      return sink.write(piece.data(), piece.size());
    });
  }

  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> requests_;
};

class RemoteCacheTest : public ::testing::Test {
 protected:
  RemoteCache cache(const RemoteCachePlace& place) {
    return {files_, place, [this](const std::string& text) { warnings_.push_back(text); }};
  }
  std::string about(const std::string& text) const {
    return fmt::format("the code cache {}: {}", store_.place().address(), text);
  }

  testing::MemoryFileSystem files_;
  Store store_;
  std::vector<std::string> warnings_;
  const std::string key_ = sha256_of("key");
  const std::string other_key_ = sha256_of("other");
  const std::string contents_ = std::string("code\n\0with a zero", 17);
};

TEST_F(RemoteCacheTest, GivesBackWhatItWasGiven) {
  {
    RemoteCache first = cache(store_.place());
    EXPECT_EQ(first.get(key_), std::nullopt);
    first.put(key_, contents_);
    EXPECT_EQ(first.get(key_), contents_);
  }
  RemoteCache second = cache(store_.place());
  EXPECT_EQ(second.get(key_), contents_);
  second.put(key_, contents_);
  EXPECT_THAT(store_.take_requests(),
              ElementsAre("GET ", "HEAD ", "PUT ", "GET ", "GET ", "HEAD "));
  ASSERT_EQ(store_.entries.size(), 1U);
  EXPECT_EQ(store_.entries.begin()->first, entry_path(store_.place(), key_));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(RemoteCacheTest, AnEmptyPlaceIsNoServer) {
  RemoteCache none = cache({});
  none.put(key_, contents_);
  EXPECT_EQ(none.get(key_), std::nullopt);
  EXPECT_THAT(warnings_, IsEmpty());
}

// Each byte counts: those of the head as well.
TEST_F(RemoteCacheTest, RefusesAndReplacesWhatIsDamaged) {
  cache(store_.place()).put(key_, contents_);
  const std::string path = entry_path(store_.place(), key_);
  const std::string whole = store_.entries[path];
  std::vector<std::string> wrong = {"", whole + "x", "<html>welcome</html>"};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    wrong.push_back(whole.substr(0, i));
    std::string altered = whole;
    altered[i] ^= 1;
    wrong.push_back(altered);
  }
  for (const std::string& entry : wrong) {
    store_.entries[path] = entry;
    warnings_.clear();
    RemoteCache reader = cache(store_.place());
    EXPECT_EQ(reader.get(key_), std::nullopt) << entry;
    EXPECT_EQ(reader.get(key_), std::nullopt) << entry;
    EXPECT_THAT(warnings_, ElementsAre(about("an entry is damaged or another's; it is not used, "
                                             "its code is compiled again")));
    reader.put(key_, contents_);
    EXPECT_EQ(store_.entries[path], whole);
  }
}

TEST_F(RemoteCacheTest, RefusesAnEntryUnderAnotherKey) {
  RemoteCache one = cache(store_.place());
  one.put(key_, contents_);
  store_.entries[entry_path(store_.place(), other_key_)] =
      store_.entries[entry_path(store_.place(), key_)];
  EXPECT_EQ(one.get(other_key_), std::nullopt);
  EXPECT_EQ(one.get(key_), contents_);
  EXPECT_EQ(warnings_.size(), 1U);
}

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kLimit = 64 * kMiB;
// The buffers of a connection hold some more.
constexpr std::size_t kLimitAndBuffers = 2 * kLimit;

TEST_F(RemoteCacheTest, AnEntryHasALimit) {
  const std::size_t head = std::string("tfaot remote cache 1\n").size() + 2 * (64 + 1);
  const std::string largest(kLimit - head, 'x');
  RemoteCache one = cache(store_.place());
  one.put(key_, largest);
  EXPECT_TRUE(one.get(key_) == largest);
  EXPECT_THAT(warnings_, IsEmpty());
  one.put(other_key_, largest + "x");
  EXPECT_EQ(store_.entries.size(), 1U);
  EXPECT_THAT(warnings_, ElementsAre(about("an entry has more than 64 MiB; it is not sent")));
}

TEST_F(RemoteCacheTest, AnAnswerWithoutEndIsAWarningAndAMiss) {
  cache(store_.place()).put(key_, contents_);
  store_.take_requests();
  store_.endless_get = true;
  RemoteCache one = cache(store_.place());
  EXPECT_EQ(one.get(key_), std::nullopt);
  EXPECT_LT(store_.sent, kLimitAndBuffers);
  EXPECT_THAT(warnings_, ElementsAre(about("an entry has more than 64 MiB; it is not used, its "
                                           "code is compiled again")));
  EXPECT_EQ(one.get(other_key_), std::nullopt);  // 404, with a page without end
  EXPECT_LT(store_.sent, kLimitAndBuffers);
  store_.endless_get = false;
  one.put(key_, contents_);
  EXPECT_EQ(one.get(key_), contents_);
  EXPECT_THAT(store_.take_requests(), ElementsAre("GET ", "GET ", "PUT ", "GET "));
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(RemoteCacheTest, TheAnswerToWhatIsSentHasALimitToo) {
  store_.endless_put = true;
  RemoteCache one = cache(store_.place());
  one.put(key_, contents_);
  EXPECT_LT(store_.sent, kLimitAndBuffers);
  EXPECT_EQ(one.get(key_), contents_);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(RemoteCacheTest, TheLimitIsThatOfWhatIsUnpacked) {
  std::string packed;
  httplib::detail::gzip_compressor gzip;
  const std::string zeros(4 * kLimit, '\0');
  ASSERT_TRUE(gzip.compress(zeros.data(), zeros.size(), true,
                            [&packed](const char* bytes, std::size_t size) {
                              packed.append(bytes, size);
                              return true;
                            }));
  ASSERT_LT(packed.size(), kMiB);
  store_.entries[entry_path(store_.place(), key_)] = packed;
  store_.encoding = "gzip";
  RemoteCache one = cache(store_.place());
  EXPECT_EQ(one.get(key_), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(about("an entry has more than 64 MiB; it is not used, its "
                                           "code is compiled again")));
}

TEST_F(RemoteCacheTest, GoesOnWithoutADeadServer) {
  store_.stop();
  RemoteCache one = cache(store_.place());
  EXPECT_EQ(one.get(key_), std::nullopt);
  one.put(key_, contents_);
  EXPECT_EQ(one.get(key_), std::nullopt);
  EXPECT_THAT(warnings_, ElementsAre(about("it cannot be connected to; going on without it")));
}

TEST_F(RemoteCacheTest, GoesOnWhenTheServerDiesInBetween) {
  RemoteCache one = cache(store_.place());
  one.put(key_, contents_);
  store_.stop();
  EXPECT_EQ(one.get(key_), std::nullopt);
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(RemoteCacheTest, WaitsNoLongerThanTheLimit) {
  store_.delay = milliseconds(1000);
  RemoteCachePlace place = store_.place();
  place.operation_timeout = 100;
  RemoteCache one = cache(place);
  const auto start = steady_clock::now();
  EXPECT_EQ(one.get(key_), std::nullopt);
  EXPECT_EQ(one.get(key_), std::nullopt);
  one.put(key_, contents_);
  EXPECT_LT(steady_clock::now() - start, milliseconds(900));
  EXPECT_THAT(warnings_,
              ElementsAre(about("it did not answer within 100 ms; going on without it")));
}

TEST_F(RemoteCacheTest, AServerThatFailsIsNotAskedAgain) {
  cache(store_.place()).put(key_, contents_);
  store_.take_requests();
  store_.status = 503;
  RemoteCache one = cache(store_.place());
  EXPECT_EQ(one.get(key_), std::nullopt);
  EXPECT_EQ(one.get(key_), std::nullopt);
  one.put(other_key_, contents_);
  EXPECT_THAT(store_.take_requests(), ElementsAre("GET "));
  EXPECT_THAT(warnings_, ElementsAre(about("it answers 503 when asked for an entry; going on "
                                           "without it")));
}

TEST_F(RemoteCacheTest, AServerThatTakesNothingIsStillRead) {
  RemoteCache one = cache(store_.place());
  one.put(key_, contents_);
  store_.put_status = 403;
  one.put(other_key_, contents_);
  one.put(other_key_, contents_);
  EXPECT_EQ(one.get(key_), contents_);
  EXPECT_THAT(store_.take_requests(), ElementsAre("HEAD ", "PUT ", "HEAD ", "PUT ", "GET "));
  EXPECT_THAT(warnings_,
              ElementsAre(about("it does not take entries, it answers 403; if it shall only be "
                                "read, add |read-only to its address")));
}

TEST_F(RemoteCacheTest, ReadOnlySendsNothing) {
  RemoteCachePlace place = store_.place();
  place.read_only = true;
  RemoteCache one = cache(place);
  one.put(key_, contents_);
  EXPECT_THAT(store_.take_requests(), IsEmpty());
}

TEST_F(RemoteCacheTest, SendsTheAuthorization) {
  ASSERT_TRUE(files_.replace_atomically("/token", "Bearer abc\n"));
  RemoteCachePlace place = store_.place();
  place.authorization_file = "/token";
  RemoteCache one = cache(place);
  one.put(key_, contents_);
  EXPECT_EQ(one.get(key_), contents_);
  EXPECT_THAT(store_.take_requests(),
              ElementsAre("HEAD Bearer abc", "PUT Bearer abc", "GET Bearer abc"));
}

TEST_F(RemoteCacheTest, AnAuthorizationIsOneLine) {
  for (const char* const text : {"Bearer a\r\nX-Other: b", "", "Bearer \xc3\xa4"}) {
    ASSERT_TRUE(files_.replace_atomically("/token", text));
    warnings_.clear();
    RemoteCachePlace place = store_.place();
    place.authorization_file = "/token";
    RemoteCache one = cache(place);
    EXPECT_EQ(one.get(key_), std::nullopt);
    ASSERT_EQ(warnings_.size(), 1U) << text;
    EXPECT_THAT(warnings_[0], StartsWith(about("its authorization file cannot be used: /token: ")));
  }
  EXPECT_THAT(store_.take_requests(), IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit
