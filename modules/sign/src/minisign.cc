// SPDX-License-Identifier: Apache-2.0
#include "tfaot/sign/minisign.h"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "tfaot/base/hash.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// The parts of minisign's files, in their order; numbers are little-endian.
constexpr std::string_view kOfBytes = "Ed";       // a key, or a signature of the bytes themselves
constexpr std::string_view kOfHash = "ED";        // a signature of the BLAKE2b-512 of the bytes
constexpr std::string_view kScrypt = "Sc";        // a secret key behind a password
constexpr std::string_view kPlain = {"\0\0", 2};  // a secret key without one
constexpr std::string_view kChecksum = "B2";
constexpr std::string_view kUntrusted = "untrusted comment: ";
constexpr std::string_view kTrusted = "trusted comment: ";
constexpr std::size_t kSaltBytes = crypto_pwhash_scryptsalsa208sha256_SALTBYTES;
constexpr std::size_t kKeyBytes = sizeof(KeyId) + 64;  // the number and the key of a secret key
constexpr std::size_t kSumBytes = 32;
constexpr std::size_t kHiddenBytes = kKeyBytes + kSumBytes;
constexpr std::size_t kSecretBytes = 6 + kSaltBytes + 16 + kHiddenBytes;
constexpr std::size_t kSignatureBytes = 2 + sizeof(KeyId) + 64;
// minisign's own keys take 1 GiB; a file that asks for more shall not fill the memory.
constexpr std::uint64_t kMostMemory = std::uint64_t{4} << 30;
constexpr std::uint64_t kMostOperations = std::uint64_t{1} << 28;
constexpr FileLimit kSignatureLimit = {"a signature", std::uint64_t{64} << 10};

using Signature = std::array<unsigned char, 64>;

const unsigned char* as_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Once a process; it cannot fail for what is used here.
void start_library() {
  static const int started = ::sodium_init();
  static_cast<void>(started);
}

std::string to_base64(std::string_view bytes) {
  std::string text(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  ::sodium_bin2base64(text.data(), text.size(), as_bytes(bytes), bytes.size(),
                      sodium_base64_VARIANT_ORIGINAL);
  text.resize(text.size() - 1);  // its end
  return text;
}

// Nothing if the text is not base64 of so many bytes.
std::optional<std::string> from_base64(std::string_view text, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t found = 0;
  const char* end = nullptr;
  const int failed =
      ::sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                          text.size(), nullptr, &found, &end, sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0 || found != size || end != text.data() + text.size()) return std::nullopt;
  return bytes;
}

template <std::size_t kSize>
std::array<unsigned char, kSize> bytes_at(std::string_view bytes, std::size_t place) {
  std::array<unsigned char, kSize> found{};
  std::memcpy(found.data(), bytes.data() + place, kSize);
  return found;
}

std::uint64_t number_at_byte(std::string_view bytes, std::size_t place) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[place + i]);
  }
  return number;
}

// The lines without the ends that other systems write.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split_lines(text);
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  return lines;
}

// A key's line: the only one, or the one after a comment.
std::string key_line(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  if (lines.size() >= 2 && lines[0].starts_with(kUntrusted)) return trim(lines[1]);
  return lines.size() == 1 ? trim(lines[0]) : "";
}

// Wiped at its end, as all that passwords and keys go through.
struct Hidden {
  std::string bytes;
  explicit Hidden(std::string of) : bytes(std::move(of)) {}
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;
  ~Hidden() { ::sodium_memzero(bytes.data(), bytes.size()); }
};

// The part of a secret key that a password hides.
Status reveal(std::string& bytes, const std::string& where, const std::string& password) {
  const std::size_t salt = 6;
  const std::uint64_t operations = number_at_byte(bytes, salt + kSaltBytes);
  const std::uint64_t memory = number_at_byte(bytes, salt + kSaltBytes + 8);
  if (memory > kMostMemory || operations > kMostOperations) {
    return fail(Error::at({where}, "the key's password takes more memory or time than allowed"));
  }
  Hidden stream(std::string(kHiddenBytes, '\0'));
  const int failed = ::crypto_pwhash_scryptsalsa208sha256(
      reinterpret_cast<unsigned char*>(stream.bytes.data()), stream.bytes.size(), password.data(),
      password.size(), as_bytes(bytes) + salt, operations, static_cast<std::size_t>(memory));
  if (failed != 0) {
    return fail(Error::at({where}, fmt::format("the key's password needs {} MB of memory, which "
                                               "this machine does not give",
                                               memory >> 20)));
  }
  for (std::size_t i = 0; i < kHiddenBytes; ++i) {
    bytes[bytes.size() - kHiddenBytes + i] =
        static_cast<char>(bytes[bytes.size() - kHiddenBytes + i] ^ stream.bytes[i]);
  }
  return {};
}

std::string secret_bytes(const std::string& text) {
  const auto bytes = from_base64(key_line(text), kSecretBytes);
  return bytes && bytes->starts_with(kOfBytes) ? *bytes : "";
}

// By which a wrong password is noticed. A key without a password has none.
std::string checksum_of(std::string_view key) {
  const Hidden summed(std::string(kOfBytes) + std::string(key));
  std::string sum(kSumBytes, '\0');
  ::crypto_generichash(reinterpret_cast<unsigned char*>(sum.data()), sum.size(),
                       as_bytes(summed.bytes), summed.bytes.size(), nullptr, 0);
  return sum;
}

// A key's second half follows from the first one.
bool is_whole_key(std::string_view key) {
  std::array<unsigned char, 32> of_seed{};
  Hidden made(std::string(64, '\0'));
  ::crypto_sign_seed_keypair(of_seed.data(), reinterpret_cast<unsigned char*>(made.bytes.data()),
                             as_bytes(key) + sizeof(KeyId));
  return made.bytes == key.substr(sizeof(KeyId));
}

// What a signature is of: a hash by minisign, and one by which the reader knows the bytes again.
struct FileHashes {
  std::string blake2b;
  std::string sha256;
};
Result<FileHashes> hash_file(const FileSystem& files, const Path& file) {
  start_library();
  crypto_generichash_state state;
  ::crypto_generichash_init(&state, nullptr, 0, crypto_generichash_BYTES_MAX);
  Sha256 sha256;
  TFAOT_TRY(files.read_chunks(file, [&](std::string_view piece) -> Status {
    ::crypto_generichash_update(&state, as_bytes(piece), piece.size());
    sha256.update(piece);
    return {};
  }));
  FileHashes hashes{std::string(crypto_generichash_BYTES_MAX, '\0'), sha256.hex_digest()};
  ::crypto_generichash_final(&state, reinterpret_cast<unsigned char*>(hashes.blake2b.data()),
                             hashes.blake2b.size());
  return hashes;
}

std::string text_of(const Signature& signature) {
  return {reinterpret_cast<const char*>(signature.data()), signature.size()};
}

struct SignatureFile {
  KeyId key{};
  Signature signature{};
  std::string trusted_comment;
  Signature whole{};  // of the signature and the comment
};

Result<SignatureFile> parse_signature(const std::string& text, const std::string& where) {
  const auto wrong = [&] {
    return fail(Error::at({where}, "not a signature of minisign")
                    .note("'tfaot sign' and 'minisign -S' make one"));
  };
  const std::vector<std::string> lines = lines_of(text);
  if (lines.size() < 4 || !lines[0].starts_with(kUntrusted) || !lines[2].starts_with(kTrusted)) {
    return wrong();
  }
  const auto bytes = from_base64(trim(lines[1]), kSignatureBytes);
  const auto whole = from_base64(trim(lines[3]), sizeof(Signature));
  if (!bytes || !whole) return wrong();
  if (bytes->starts_with(kOfBytes)) {
    return fail(Error::at({where}, "the signature has minisign's old form, which is not prehashed")
                    .note("sign again with 'tfaot sign', or with minisign 0.10 or newer"));
  }
  if (!bytes->starts_with(kOfHash)) return wrong();
  return SignatureFile{bytes_at<8>(*bytes, 2), bytes_at<64>(*bytes, 10),
                       lines[2].substr(kTrusted.size()), bytes_at<64>(*whole, 0)};
}

bool is_signed(const Signature& signature, const std::string& text, const PublicKey& key) {
  return ::crypto_sign_verify_detached(signature.data(), as_bytes(text), text.size(),
                                       key.key.data()) == 0;
}

}  // namespace

std::string key_id_text(const KeyId& id) {
  std::string text;
  for (std::size_t i = id.size(); i-- > 0;) text += fmt::format("{:02X}", id[i]);
  return text;
}

Result<PublicKey> parse_public_key(const std::string& text, const std::string& where) {
  const auto bytes = from_base64(key_line(text), 2 + sizeof(KeyId) + 32);
  if (bytes && bytes->starts_with(kOfBytes)) {
    return PublicKey{bytes_at<8>(*bytes, 2), bytes_at<32>(*bytes, 10)};
  }
  return fail(Error::at({where}, "not a public key of minisign")
                  .note("it is the file 'minisign.pub' that 'minisign -G' writes, or its second "
                        "line, which begins with RW"));
}

bool SecretKey::is_encrypted(const std::string& text) {
  const Hidden bytes(secret_bytes(text));
  return bytes.bytes.substr(0, 4) == std::string(kOfBytes) + std::string(kScrypt);
}

Result<SecretKey> SecretKey::parse(const std::string& text, const std::string& where,
                                   const std::string& password) {
  start_library();
  Hidden bytes(secret_bytes(text));
  const bool is_hidden = is_encrypted(text);
  const bool is_key = !bytes.bytes.empty() && bytes.bytes.substr(4, 2) == kChecksum &&
                      (is_hidden || bytes.bytes.substr(2, 2) == kPlain);
  if (!is_key) {
    return fail(Error::at({where}, "not a secret key of minisign")
                    .note("'minisign -G' makes one, and 'minisign -G -W' one without a password"));
  }
  if (is_hidden) TFAOT_TRY(reveal(bytes.bytes, where, password));
  const std::string_view key =
      std::string_view(bytes.bytes).substr(kSecretBytes - kHiddenBytes, kKeyBytes);
  if (!is_hidden && !is_whole_key(key)) return fail(Error::at({where}, "the key is damaged"));
  if (is_hidden && checksum_of(key) != bytes.bytes.substr(kSecretBytes - kSumBytes)) {
    return fail(Error::at({where}, "the password is wrong, or the key is damaged"));
  }
  SecretKey secret;
  secret.id_ = bytes_at<8>(key, 0);
  secret.key_ = bytes_at<64>(key, 8);
  return secret;
}

SecretKey::~SecretKey() { ::sodium_memzero(key_.data(), key_.size()); }

Result<std::string> sign_file(const FileSystem& files, const Path& file, const SecretKey& key,
                              const std::string& trusted_comment) {
  TFAOT_ASSIGN(const FileHashes hashes, hash_file(files, file));
  const auto sign = [&](const std::string& text) {
    Signature made{};
    ::crypto_sign_detached(made.data(), nullptr, as_bytes(text), text.size(), key.key_.data());
    return text_of(made);
  };
  const std::string signature = sign(hashes.blake2b);
  const std::string id(reinterpret_cast<const char*>(key.id_.data()), key.id_.size());
  return fmt::format("{}signature from tfaot, key {}\n{}\n{}{}\n{}\n", kUntrusted,
                     key_id_text(key.id_), to_base64(std::string(kOfHash) + id + signature),
                     kTrusted, trusted_comment, to_base64(sign(signature + trusted_comment)));
}

Result<CheckedSignature> check_signature(const FileSystem& files, const Path& file,
                                         const std::vector<PublicKey>& keys) {
  const Path place = signature_of(file);
  TFAOT_ASSIGN(const FileKind kind, files.look(place, Links::kFollow));
  if (kind == FileKind::kMissing) {
    return fail(
        Error::at({file.string()}, "the file has no signature beside it")
            .note(fmt::format("it would be {}; 'tfaot sign' makes it", place.filename().string())));
  }
  TFAOT_ASSIGN(const std::string text, read_limited(files, place, kSignatureLimit));
  TFAOT_ASSIGN(const SignatureFile found, parse_signature(text, place.string()));
  const auto key = std::ranges::find(keys, found.key, &PublicKey::id);
  if (key == keys.end()) {
    const auto ids = mapped(keys, [](const PublicKey& one) { return key_id_text(one.id); });
    return fail(Error::at({place.string()},
                          fmt::format("the signature is by the key {}", key_id_text(found.key)))
                    .note("keys that are allowed: " + join(ids, ", ")));
  }
  TFAOT_ASSIGN(const FileHashes hashes, hash_file(files, file));
  if (!is_signed(found.signature, hashes.blake2b, *key)) {
    return fail(Error::at({file.string()}, fmt::format("its signature by {} is not of these bytes",
                                                       key_id_text(key->id)))
                    .note("the file or the signature was changed; get both again"));
  }
  if (!is_signed(found.whole, text_of(found.signature) + found.trusted_comment, *key)) {
    return fail(Error::at({place.string()}, "the trusted comment was changed"));
  }
  return CheckedSignature{key->id, found.trusted_comment, hashes.sha256};
}

}  // namespace tfaot::toolkit
