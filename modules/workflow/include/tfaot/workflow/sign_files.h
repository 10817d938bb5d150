// SPDX-License-Identifier: Apache-2.0
// Signatures of archives and other files, in minisign's format (modules/sign): makes them, and
// decides which keys may have signed what is installed.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/sign/minisign.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// Public keys, each a file or the key itself. Error: one is neither.
Result<std::vector<PublicKey>> read_public_keys(const Context& context,
                                                const std::vector<std::string>& keys);

struct SignRequest {
  std::vector<Path> files;  ///< absolute
  Path secret_key;          ///< absolute; empty: ~/.minisign/minisign.key, as minisign has it
};
/// The secret key's file. Error: none is named, and the home folder is not known.
Result<Path> secret_key_file(const Context& context, const Path& named);
/// True if the key needs a password. Error: the file cannot be read.
Result<bool> needs_password(const Context& context, const Path& secret_key);

struct SignedFile {
  Path file;
  Path signature;
  std::string key;  ///< the key's number, as minisign shows it
};
/// Writes FILE.minisig beside each file. Error: the password is wrong, or a file is missing; then
/// no signature was written.
Result<std::vector<SignedFile>> sign_files(Context& context, const SignRequest& request,
                                           const std::string& password);

/// What the user asks of the signatures of archives.
struct SignatureRequest {
  bool required = false;
  std::vector<std::string> keys{};  ///< as read_public_keys() takes them; if any, required too
};
/// The keys of which one must have signed an archive for the area; empty: no signature is needed.
/// The area's policy (AREA/.tfaot/policy.yaml) holds whatever the request says. Error: the policy
/// or a key is wrong, no key is known, or the policy allows none of the request's keys.
Result<std::vector<PublicKey>> keys_for_area(const Context& context, const Path& area,
                                             const SignatureRequest& request);

}  // namespace tfaot::toolkit
