// SPDX-License-Identifier: Apache-2.0
// A package's check.json: what its code predicted for fixed inputs when the package was made.
// `tfaot verify --deep` runs the code again and compares. Plain values and their JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/validation.h"

namespace tfaot::toolkit {

inline constexpr std::string_view kCheckName = "check.json";

// Some numbers of an output of a call, for machines and levels that may round otherwise.
struct StoredOutput {
  double scale = 0;     // the largest absolute value of all its finite numbers
  std::string numbers;  // those at stored_places(), their bytes as hexadecimal digits
};

// All outputs of a call at one level.
struct StoredBits {
  std::string cpu_level;
  std::string sha256;  // of their bytes in the model's order; every NaN counts as one and the same
};

// A call of one compiled batch size, with the first rows of the inputs.
struct StoredCall {
  std::int64_t rows = 0;
  std::vector<StoredOutput> outputs;  // at StoredCheck::cpu_level, in the model's order
  std::vector<StoredBits> bits;       // of each level that the machine could run
};

struct StoredCheck {
  int schema_version = 1;
  InputKind inputs = InputKind::kRandom;
  std::uint64_t seed = 1;
  std::string inputs_sha256;      // of the largest call's inputs
  std::string machine;            // on which other code gave the same bits: CPU, caches, C library
  std::string cpu_level;          // whose numbers are stored
  std::vector<StoredCall> calls;  // by batch size
};

// Which numbers of an output with `elements` are kept, if `kept` are: evenly spread, ascending.
std::vector<std::size_t> stored_places(std::size_t elements, std::size_t kept);

std::string stored_check_to_json(const StoredCheck& check);
// Error: it is not a check of the package with this manifest. `where` names the text.
Result<StoredCheck> stored_check_from_json(const Manifest& manifest, const std::string& text,
                                           const std::string& where);

}  // namespace tfaot::toolkit
