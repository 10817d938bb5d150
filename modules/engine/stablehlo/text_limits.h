// SPDX-License-Identifier: Apache-2.0
// Limits for the text of a module: what is beyond them would end XLA, or the machine's memory. Pure
// functions; `file` is for their errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tfaot/base/limits.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// Limits of this text alone; those of all formats are in base/limits.h.
// Of constants that repeat one number, in all.
inline constexpr std::int64_t kMostRepeatedElements = std::int64_t{1} << 25;
inline constexpr std::int64_t kMostWrittenOperations = 100'000;  // with calls written out
inline constexpr int kMostBrackets = 200;                        // in each other

// For any text, before XLA parses it: nested brackets and sizes of tensors.
Status check_sizes(const std::string& file, std::string_view text);

// For the text that XLA printed: large constants of one number, and functions that call each other.
Status check_contents(const std::string& file, std::string_view text);

}  // namespace tfaot::toolkit::engine
