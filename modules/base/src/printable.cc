// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kCut = "…";

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

std::uint32_t code_point(std::string_view character) {
  const std::size_t size = character.size();
  if (size == 1) return byte_at(character, 0);
  std::uint32_t code = byte_at(character, 0) & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (byte_at(character, i) & 0x3FU);
  return code;
}

// Controls (C0, DEL, C1), line and paragraph separators, and characters that change the direction
// of writing.
bool is_unshowable(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = utf8_character(text);
    if (size == 0) {
      shown += fmt::format("\\x{:02x}", byte_at(text, 0));
      text.remove_prefix(1);
      continue;
    }
    const std::string_view character = text.substr(0, size);
    const std::uint32_t code = code_point(character);
    if (is_unshowable(code) && kept.find(character) == std::string_view::npos) {
      shown += fmt::format("\\u{:04x}", code);
    } else {
      shown += character;
    }
    text.remove_prefix(size);
  }
  return shown;
}

// A position at or before `at` that does not split a character.
std::size_t character_start(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (byte_at(text, at) & 0xC0U) == 0x80U) --at;
  return at;
}

}  // namespace

std::string printable_line(std::string_view text) { return printable(text, "\t"); }
std::string printable_text(std::string_view text) { return printable(text, "\t\n"); }

std::string shown(std::string_view value, std::size_t most) {
  const std::size_t head = character_start(value, most * 2 / 3);
  const std::size_t tail = character_start(value, value.size() - std::min(value.size(), most / 3));
  if (value.size() <= most || tail <= head) return printable_line(value);
  return printable_line(value.substr(0, head)) + std::string(kCut) +
         printable_line(value.substr(tail));
}

std::size_t utf8_character(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned char first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                           : first >= 0xE0 && first <= 0xEF ? 3
                           : first >= 0xF0 && first <= 0xF4 ? 4
                                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80U) return 0;
  }
  const std::uint32_t code = code_point(text.substr(0, size));
  const bool too_long = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool no_character = (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF;
  return too_long || no_character ? 0 : size;
}

std::size_t first_non_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = utf8_character(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

}  // namespace tfaot::toolkit
