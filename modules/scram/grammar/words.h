// SPDX-License-Identifier: Apache-2.0
// Lists in the values of attributes. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfaot::toolkit {

// What can stand between the words of a BuildFile's flags, and of its lists with commas too.
constexpr std::string_view kBlanks = " \t\r\n\f\v";
constexpr std::string_view kCommasAndBlanks = ", \t\r\n\f\v";

// The parts of `text` between characters of `separators`, without the empty ones.
std::vector<std::string> words_of(std::string_view text, std::string_view separators);

}  // namespace tfaot::toolkit
