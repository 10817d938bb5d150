// SPDX-License-Identifier: Apache-2.0
// Lists in the values of attributes. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfaot::toolkit {

// Characters that separate the words of a BuildFile's flags, and also of its comma lists.
constexpr std::string_view kBlanks = " \t\r\n\f\v";
constexpr std::string_view kCommasAndBlanks = ", \t\r\n\f\v";

// The parts of `text` between characters of `separators`, without empty parts.
std::vector<std::string> words_of(std::string_view text, std::string_view separators);

}  // namespace tfaot::toolkit
