// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/sign_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>

#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/config/area_policy.h"
#include "tfaot/install/install.h"

namespace tfaot::toolkit {
namespace {

// A key is a base64 text without dots, and no path that anybody has begins so.
bool looks_like_key(const std::string& text) { return text.starts_with("RW") && text.size() == 56; }

Result<AreaPolicy> read_policy(const FileSystem& files, const Path& area) {
  const Path file = policy_file(area);
  TFAOT_ASSIGN(const FileKind kind, files.look(file));
  if (kind == FileKind::kMissing) return AreaPolicy();
  TFAOT_ASSIGN(const std::string text, read_limited(files, file, kConfigLimit));
  return parse_area_policy(text, file.string());
}

Result<std::vector<PublicKey>> policy_keys(const AreaPolicy& policy, const Path& file) {
  std::vector<PublicKey> keys;
  for (const std::string& text : policy.keys) {
    TFAOT_ASSIGN(const PublicKey key, parse_public_key(text, file.string()));
    keys.push_back(key);
  }
  return keys;
}

}  // namespace

Result<std::vector<PublicKey>> read_public_keys(const Context& context,
                                                const std::vector<std::string>& keys) {
  std::vector<PublicKey> found;
  for (const std::string& key : keys) {
    if (looks_like_key(key)) {
      TFAOT_ASSIGN(const PublicKey parsed, parse_public_key(key, key));
      found.push_back(parsed);
      continue;
    }
    const Path file = context.absolute(key);
    TFAOT_ASSIGN(const std::string text, read_limited(context.files, file, kConfigLimit));
    TFAOT_ASSIGN(const PublicKey parsed, parse_public_key(text, file.string()));
    found.push_back(parsed);
  }
  return found;
}

Result<Path> secret_key_file(const Context& context, const Path& named) {
  if (!named.empty()) return named;
  const std::string home = context.environment.variable("HOME");
  if (!home.empty()) return Path(home) / ".minisign" / "minisign.key";
  return fail(Error("no secret key is known").note("name its file with --secret-key"));
}

Result<bool> needs_password(const Context& context, const Path& secret_key) {
  TFAOT_ASSIGN(const FileKind kind, context.files.look(secret_key, Links::kFollow));
  if (kind == FileKind::kMissing) {
    return fail(Error::at({secret_key.string()}, "no such file")
                    .note(fmt::format("'minisign -G -s {}' makes one there (Debian: minisign); "
                                      "--secret-key names another file",
                                      shell_quoted(secret_key.string()))));
  }
  TFAOT_ASSIGN(const std::string text, read_limited(context.files, secret_key, kConfigLimit));
  return SecretKey::is_encrypted(text);
}

Result<std::vector<SignedFile>> sign_files(Context& context, const SignRequest& request,
                                           const std::string& password) {
  TFAOT_ASSIGN(const Path place, secret_key_file(context, request.secret_key));
  TFAOT_ASSIGN(const std::string text, read_limited(context.files, place, kConfigLimit));
  TFAOT_ASSIGN(const SecretKey key, SecretKey::parse(text, place.string(), password));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::vector<std::string> signatures;
  for (const Path& file : request.files) {
    const std::string comment =
        fmt::format("timestamp:{}\tfile:{}\thashed",
                    std::chrono::duration_cast<std::chrono::seconds>(now).count(),
                    shown(file.filename().string(), NAME_MAX));
    TFAOT_ASSIGN(std::string signature, sign_file(context.files, file, key, comment));
    signatures.push_back(std::move(signature));
  }
  std::vector<SignedFile> made;
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    const Path& file = request.files[i];
    TFAOT_TRY(write_named_file(context.files, signature_of(file), signatures[i]));
    made.push_back({file, signature_of(file), key_id_text(key.id())});
  }
  return made;
}

Result<std::vector<PublicKey>> keys_for_area(const Context& context, const Path& area,
                                             const SignatureRequest& request) {
  TFAOT_ASSIGN(const AreaPolicy policy, read_policy(context.files, area));
  TFAOT_ASSIGN(const auto of_policy, policy_keys(policy, policy_file(area)));
  TFAOT_ASSIGN(const auto asked, read_public_keys(context, request.keys));
  const bool is_asked = request.required || !asked.empty();
  if (!policy.require_signature && !is_asked) return std::vector<PublicKey>();
  std::vector<PublicKey> allowed = asked.empty() ? of_policy : asked;
  if (policy.require_signature) {
    std::erase_if(allowed, [&](const PublicKey& key) {
      return std::ranges::none_of(
          of_policy, [&](const PublicKey& one) { return one.id == key.id && one.key == key.key; });
    });
  }
  if (!allowed.empty()) return allowed;
  if (asked.empty()) {
    return fail(
        Error::usage("--require-signature needs to know whose")
            .note("name public keys with --public-key, or in " + policy_file(area).string()));
  }
  return fail(
      Error::at({policy_file(area).string()}, "the policy allows none of these keys")
          .note("it allows: " +
                join(mapped(of_policy, [](const PublicKey& key) { return key_id_text(key.id); }),
                     ", ")));
}

}  // namespace tfaot::toolkit
