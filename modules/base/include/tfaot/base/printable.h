// SPDX-License-Identifier: Apache-2.0
// Makes text from outside (archives, manifests, configs, models, programs) safe to print: nothing
// in it moves the cursor, changes colours or hides. Everything that tfaot prints passes through
// here: Error::text(), and the cli's Console. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tfaot::toolkit {

// One line: control characters and direction marks become \u001b, bytes that are not UTF-8 become
// \xff. Tabs stay.
std::string printable_line(std::string_view text);

// The same, but keeps line ends too. JSON keeps its meaning.
std::string printable_text(std::string_view text);

// A value for a message: printable, and with its middle left out if it is longer than `most` bytes.
std::string shown(std::string_view value, std::size_t most = 100);

// Length in bytes of the character at the start of the text; 0 if the text is empty or does not
// start with valid UTF-8.
std::size_t utf8_character(std::string_view text);

// Where the text stops being valid UTF-8; npos if all of it is valid.
std::size_t first_non_utf8(std::string_view text);

}  // namespace tfaot::toolkit
