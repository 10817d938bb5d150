// SPDX-License-Identifier: Apache-2.0
// Signatures in minisign's format: Ed25519 of the BLAKE2b-512 of a file ("ED", prehashed), and a
// trusted comment. What `minisign -S` and `minisign -G` write is read here, and `minisign -V` reads
// what is written here. The only user of libsodium. One call per file at a time; secrets are wiped.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// The name of the signature beside a file.
inline constexpr std::string_view kSignatureSuffix = ".minisig";
inline Path signature_of(const Path& file) { return file.string() + std::string(kSignatureSuffix); }

using KeyId = std::array<unsigned char, 8>;
// As minisign shows it: "1D6A3CEBC48B65E8".
std::string key_id_text(const KeyId& id);

struct PublicKey {
  KeyId id{};
  std::array<unsigned char, 32> key{};
};
// The line with the key, or a file's two lines. `where` names it in errors.
Result<PublicKey> parse_public_key(const std::string& text, const std::string& where);

class SecretKey {
 public:
  // The text of a file that `minisign -G` wrote. Error: it is none, or the password is wrong.
  static Result<SecretKey> parse(const std::string& text, const std::string& where,
                                 const std::string& password);
  // True if the key needs a password. False for what is no key.
  static bool is_encrypted(const std::string& text);
  SecretKey(SecretKey&&) = default;
  SecretKey& operator=(SecretKey&&) = delete;
  ~SecretKey();

  const KeyId& id() const { return id_; }

 private:
  friend Result<std::string> sign_file(const FileSystem&, const Path&, const SecretKey&,
                                       const std::string&);
  SecretKey() = default;
  KeyId id_{};
  std::array<unsigned char, 64> key_{};
};

// The text of the file's signature. `trusted_comment`: one line, which is signed too.
Result<std::string> sign_file(const FileSystem& files, const Path& file, const SecretKey& key,
                              const std::string& trusted_comment);

struct CheckedSignature {
  KeyId key{};                  // one of those that were asked for
  std::string trusted_comment;  // may hold anything but a line's end
  std::string sha256;           // of the file's bytes, which were read once
};
// Reads the file and the signature beside it. Error: there is none, it is not by one of the keys,
// or it is of other bytes.
Result<CheckedSignature> check_signature(const FileSystem& files, const Path& file,
                                         const std::vector<PublicKey>& keys);

}  // namespace tfaot::toolkit
