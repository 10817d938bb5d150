// SPDX-License-Identifier: Apache-2.0
// The lines that the hook adds to a Python file, recognized by their first and last line. Pure
// functions.
#pragma once

#include <optional>
#include <string>

namespace tfaot::toolkit {

struct HookBlock {
  std::size_t start = 0;  // of what with_block() added
  std::size_t size = 0;
  std::string version{};
};

// None, too, if only one of the two lines is there.
std::optional<HookBlock> find_block(const std::string& text);
// The text with the block of this version at its end, in place of an existing block.
std::string with_block(const std::string& text, const std::string& version);
// Undoes with_block(), to the byte.
std::string without_block(const std::string& text);
// True if part of a block is there, but no complete one.
bool has_broken_block(const std::string& text);

}  // namespace tfaot::toolkit
