// SPDX-License-Identifier: Apache-2.0
// Small text helpers shared by all rooms. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfaot {

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split_lines(std::string_view text);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
std::string trim(std::string_view text);

// A word as a POSIX shell takes it: in quotes when it holds more than letters, digits and
// "_./+-:=@%,". A '$' stays what it is, so that "$CMSSW_BASE/..." is still expanded.
std::string shell_quoted(const std::string& word);

// The candidate a user most likely meant (edit distance at most a third of the length), if there is
// one.
std::optional<std::string> closest_match(std::string_view word,
                                         const std::vector<std::string>& candidates);

// [A-Za-z_][A-Za-z0-9_]* and neither a C++20 keyword nor reserved (leading "__" or "_X").
bool is_cpp_identifier(std::string_view word);
bool is_cpp_keyword(std::string_view word);

// The last `count` lines of a text, for error notes.
std::vector<std::string> last_lines(std::string_view text, std::size_t count);

}  // namespace tfaot
