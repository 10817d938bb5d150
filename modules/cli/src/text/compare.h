// SPDX-License-Identifier: Apache-2.0
// Two packages -> what differs between them: what `tfaot diff` prints. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

enum class DifferenceKind { kFact, kTensor, kFile };

// A value that differs; empty: the package has none.
struct Difference {
  DifferenceKind kind = DifferenceKind::kFact;
  std::string what;  // "batch sizes", "input x", "lib/tagger_bs4.o"
  std::string first;
  std::string second;
};

// In the order of `tfaot info`: facts, tensors, files. Two packages without a difference have the
// same contents.
std::vector<Difference> differences(const Manifest& first, const Manifest& second);

// "same code, other weights"
std::string contents_verdict(const Manifest& first, const Manifest& second);

// `names`: of the two packages, for the head of the table.
std::string differences_text(const std::vector<Difference>& found, const std::string& verdict,
                             const std::vector<std::string>& names);
nlohmann::ordered_json differences_to_json(const std::vector<Difference>& found,
                                           const std::string& verdict);

}  // namespace tfaot::toolkit
