// SPDX-License-Identifier: Apache-2.0
// Whether packages are as they were made: what `tfaot verify` does. Changes nothing, takes no lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What the objects of a package hold, if its files are right. What they should not hold is a
/// fault.
struct CodeCheck {
  std::string why_not{};               ///< nothing was read; else empty
  std::size_t objects = 0;             ///< that were read
  std::vector<std::string> imports{};  ///< symbols that they need from outside, sorted
  std::uint64_t instructions = 0;      ///< that were read
  std::string why_no_instructions{};   ///< none were read; else empty
};

/// What the code of a package did with its stored check (records/stored_check.h), if it is right.
struct DeepCheck {
  std::string why_not{};               ///< it was not run; else empty
  std::size_t calls = 0;               ///< at each level
  std::vector<std::string> same{};     ///< levels that gave the stored bits
  std::vector<std::string> close{};    ///< levels without stored bits, or those of another machine
  double share = 0;                    ///< of these, the largest difference by what is allowed
  std::vector<std::string> skipped{};  ///< levels that this CPU cannot run
};

/// A package, or what is around the packages of an area.
struct VerifiedItem {
  Path path;                ///< of the tree, the archive or the area
  std::string tool_name{};  ///< empty for an area, and for what cannot be read
  std::string version{};
  std::size_t files = 0;    ///< that were compared with their SHA-256
  std::uint64_t bytes = 0;  ///< in these
  std::vector<Error> faults{};
  std::string signed_by{};          ///< the key's number, if keys were given
  std::optional<CodeCheck> code{};  ///< of a package whose files are right
  std::optional<DeepCheck> deep{};  ///< of a package whose files are right, if asked
};

struct VerifyRequest {
  Path path;                        ///< absolute
  bool deep = false;                ///< also run the stored checks
  bool allow_large = false;         ///< unpack an archive with far larger files for that
  std::vector<std::string> keys{};  ///< public keys: one of them must have signed an archive
};

/// Verifies an area with all its packages, a package tree or an archive. Error: the path is none of
/// them.
Result<std::vector<VerifiedItem>> verify_packages(Context& context, const VerifyRequest& request);

}  // namespace tfaot::toolkit
