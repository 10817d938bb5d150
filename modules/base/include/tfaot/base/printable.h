// SPDX-License-Identifier: Apache-2.0
// What others wrote (archives, manifests, configs, models, programs) as a terminal may show it:
// nothing in it moves the cursor, changes colours or hides. All that tfaot prints passes through
// here: Error::text(), and the cli's Console. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tfaot::toolkit {

// One line: control characters and direction marks as \u001b, bytes that are no UTF-8 as \xff. Tabs
// stay.
std::string printable_line(std::string_view text);

// The same, but line ends stay, too. JSON keeps its meaning.
std::string printable_text(std::string_view text);

// A value for a message: printable, and without its middle when it is longer than `most` bytes.
std::string shown(std::string_view value, std::size_t most = 100);

// Bytes of the character that a text begins with; 0 when it begins with none, or is no UTF-8 there.
std::size_t utf8_character(std::string_view text);

// Where a text stops being UTF-8; npos when it does not.
std::size_t first_non_utf8(std::string_view text);

}  // namespace tfaot::toolkit
