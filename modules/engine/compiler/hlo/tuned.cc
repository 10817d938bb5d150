// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/tuned.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"

namespace tfaot::toolkit::engine {
namespace {

Tuned& numbers() {
  static Tuned of_process;
  return of_process;
}

constexpr auto kTunedMembers = std::to_array<std::pair<std::string_view, std::int64_t Tuned::*>>({
#define TFAOT_TUNED(name, value, unit, commit, choice) {#name, &Tuned::name},
#include "compiler/hlo/tuned.def"
});

}  // namespace

const Tuned& tuned() { return numbers(); }

Status set_tuned(std::string_view assignment) {
  const std::pair<std::string_view, std::string_view> words =
      absl::StrSplit(assignment, absl::MaxSplits('=', 1));
  if (const auto number = parse_number<std::int64_t>(words.second)) {
    for (const auto& [name, member] : kTunedMembers) {
      if (name != words.first) continue;
      numbers().*member = *number;
      return {};
    }
  }
  Error error("'" + std::string(assignment) + "' is not NAME=NUMBER of a tuned number");
  for (const auto& [name, member] : kTunedMembers) {
    error.note(std::string(name) + "=" + std::to_string(numbers().*member));
  }
  return fail(std::move(error));
}

}  // namespace tfaot::toolkit::engine
