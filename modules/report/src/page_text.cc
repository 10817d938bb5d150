// SPDX-License-Identifier: Apache-2.0
#include "page_text.h"

#include <algorithm>
#include <cstdint>

#include "tfaot/base/hash.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit::report {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t hex_value(char digit) {
  return static_cast<std::uint32_t>(is_digit(digit) ? digit - '0' : digit - 'a' + 10);
}

// Of 2 hexadecimal digits a byte.
std::string base64_of_hex(std::string_view hex) {
  std::string text;
  for (std::size_t at = 0; at < hex.size(); at += 6) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      bits = bits << 4 | (at + i < hex.size() ? hex_value(hex[at + i]) : 0);
    }
    const std::size_t bytes = std::min<std::size_t>(6, hex.size() - at) / 2;
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= bytes ? kBase64[bits >> (18 - 6 * i) & 0x3F] : '=';
    }
  }
  return text;
}

}  // namespace

std::string slug_of(std::string_view text) {
  std::string slug;
  for (const char c : text) {
    if (is_letter_or_digit(c)) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  if (!slug.empty() && slug.back() == '-') slug.pop_back();
  return lower_case(slug);
}

std::string json_in_html(std::string json) { return replace_all(std::move(json), "<", "\\u003c"); }

std::string policy_hash(std::string_view script) {
  return "sha256-" + base64_of_hex(sha256_of(script));
}

std::string svg_element(std::string_view text) {
  constexpr std::string_view kEnd = "</svg>";
  const std::size_t begin = text.find("<svg");
  const std::size_t end = text.rfind(kEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return "";
  return std::string(text.substr(begin, end + kEnd.size() - begin));
}

std::string escaped(std::string_view text) {
  return render("{{text}}", TemplateObject{{"text", printable_line(text)}}, Escaping::kXml);
}

}  // namespace tfaot::toolkit::report
