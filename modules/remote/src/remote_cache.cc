// SPDX-License-Identifier: Apache-2.0
#include "tfaot/remote/remote_cache.h"

#include <fmt/format.h>

#include <utility>

#include "request.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

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
