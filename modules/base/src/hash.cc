// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <new>

namespace tfaot::toolkit {

struct Sha256::Context {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> evp{EVP_MD_CTX_new()};

  // SHA-256 over memory can fail only if memory runs out.
  static void check(int evp_result) {
    if (evp_result != 1) throw std::bad_alloc();
  }
  void start() {
    if (!evp) throw std::bad_alloc();
    check(EVP_DigestInit_ex(evp.get(), EVP_sha256(), nullptr));
  }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { context_->start(); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  Context::check(EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()));
}

std::string Sha256::hex_digest() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  Context::check(EVP_DigestFinal_ex(context_->evp.get(), digest.data(), &size));
  context_->start();
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex_digest();
}

Result<std::string> sha256_of_file(const FileSystem& fs, const Path& path) {
  Sha256 hash;
  TFAOT_TRY(fs.read_chunks(path, [&hash](std::string_view chunk) -> Status {
    hash.update(chunk);
    return {};
  }));
  return hash.hex_digest();
}

Result<std::string> sha256_of_tree(const FileSystem& fs, const Path& path) {
  if (fs.size(path)) return sha256_of_file(fs, path);
  TFAOT_ASSIGN(const auto files, list_files_recursively(fs, path, FolderLinks::kFollow));
  Sha256 hash;
  for (const std::string& file : files) {
    TFAOT_ASSIGN(const auto digest, sha256_of_file(fs, path / file));
    hash.update(fmt::format("{}  {}\n", digest, file));
  }
  return hash.hex_digest();
}

}  // namespace tfaot::toolkit
