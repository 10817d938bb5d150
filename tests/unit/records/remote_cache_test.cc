// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/remote_cache.h"

#include <gtest/gtest.h>

#include "tfaot/base/hash.h"

namespace tfaot::toolkit {
namespace {

std::string refusal_of(const std::string& text) {
  const auto place = parse_remote_cache(text);
  return place ? "accepted" : place.error().text();
}

TEST(RemoteCachePlace, IsAnAddressAlone) {
  const auto place = parse_remote_cache(" http://cache.example:8080/tfaot/ ");
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_EQ(place->server, "http://cache.example:8080");
  EXPECT_EQ(place->path, "/tfaot");
  EXPECT_EQ(place->address(), "http://cache.example:8080/tfaot");
  EXPECT_EQ(place->layout, CacheLayout::kSubdirs);
  EXPECT_FALSE(place->read_only);
  EXPECT_TRUE(place->authorization_file.empty());
  EXPECT_EQ(place->connect_timeout, 1000);
  EXPECT_EQ(place->operation_timeout, 10000);
  EXPECT_TRUE(parse_remote_cache("")->empty());
}

TEST(RemoteCachePlace, HasAttributes) {
  const auto place = parse_remote_cache(
      "https://[::1]:443|layout=bazel|read-only|authorization-file=/a=b|connect-timeout=50|"
      "operation-timeout=3600000");
  ASSERT_TRUE(place) << place.error().text();
  EXPECT_EQ(place->address(), "https://[::1]:443");
  EXPECT_EQ(place->layout, CacheLayout::kBazel);
  EXPECT_TRUE(place->read_only);
  EXPECT_EQ(place->authorization_file, "/a=b");
  EXPECT_EQ(place->connect_timeout, 50);
  EXPECT_EQ(place->operation_timeout, 3600000);
  EXPECT_FALSE(parse_remote_cache("http://h|read-only=false")->read_only);
}

TEST(RemoteCachePlace, SaysWhatIsWrong) {
  EXPECT_EQ(refusal_of("cache.example:8080"),
            "the remote cache: 'cache.example:8080' is not the address of an HTTP server\n"
            "  such as http://host:8080/cache");
  EXPECT_EQ(refusal_of("redis://host"),
            "the remote cache: 'redis://host' is not the address of an HTTP server\n"
            "  such as http://host:8080/cache");
  EXPECT_EQ(refusal_of("http://me:secret@host/"),
            "the remote cache: a password does not belong into the address, which others can see\n"
            "  put 'Basic ...' or 'Bearer TOKEN' into a file and add |authorization-file=FILE");
  for (const char* const host : {"", "host:", "host:0", "host:99999", "ho st", "[::1"}) {
    EXPECT_EQ(refusal_of(std::string("http://") + host + "/c"),
              std::string("the remote cache: '") + host + "' is not HOST or HOST:PORT");
  }
  EXPECT_EQ(refusal_of("http://host/a b"),
            "the remote cache: the path '/a b' has a blank, a '?' or a '#'\n"
            "  write such a character as %20, %3F or %23");
  EXPECT_EQ(refusal_of("http://host|layuot=flat"),
            "the remote cache: unknown attribute 'layuot' (did you mean 'layout'?)\n"
            "  allowed: layout, read-only, authorization-file, connect-timeout, operation-timeout");
  EXPECT_EQ(refusal_of("http://host|layout=tree"),
            "the remote cache: layout: expected 'subdirs', 'flat' or 'bazel', not 'tree'");
  EXPECT_EQ(refusal_of("http://host|read-only=yes"),
            "the remote cache: read-only: 'yes' is neither 'true' nor 'false'");
  EXPECT_EQ(refusal_of("http://host|authorization-file"),
            "the remote cache: authorization-file: the file's path is missing");
  for (const char* const time : {"", "0", "-1", "1s", "3600001"}) {
    EXPECT_EQ(refusal_of(std::string("http://host|connect-timeout=") + time),
              std::string("the remote cache: connect-timeout: '") + time +
                  "' is not a number of milliseconds from 1 to 3600000");
  }
}

// As ccache's; of Bazel's two parts, that whose keys are not the hash of the entry.
TEST(RemoteCachePlace, LaysEntriesOut) {
  const std::string key = sha256_of("");
  RemoteCachePlace place = *parse_remote_cache("http://host/c");
  EXPECT_EQ(entry_path(place, key),
            "/c/e3/b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  place.layout = CacheLayout::kFlat;
  EXPECT_EQ(entry_path(place, key), "/c/" + key);
  place.layout = CacheLayout::kBazel;
  EXPECT_EQ(entry_path(place, key), "/c/ac/" + key);
}

}  // namespace
}  // namespace tfaot::toolkit
