// SPDX-License-Identifier: Apache-2.0
#include "escape.h"

#include <fmt/format.h>

#include "tfaot/base/text.h"
#include "tfaot/records/json_text.h"

namespace tfaot::toolkit {
namespace {

// Direction marks can make a comment look like code; compilers warn about them.
std::string without_direction_marks(std::string text) {
  for (const char* mark : {"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D",
                           "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    text = replace_all(std::move(text), mark, "");
  }
  return text;
}

bool continues_comment(const std::string& line) {
  return line.ends_with('\\') || line.ends_with("\?\?/");
}

}  // namespace

std::string cpp_string(const std::string& text) {
  std::string literal;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '?') {  // '?': no trigraphs
      literal += '\\';
      literal += c;
    } else if (c >= ' ' && c <= '~') {
      literal += c;
    } else {
      literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return literal;
}

std::vector<std::string> comment_lines(const std::string& text) {
  std::string clean = without_direction_marks(valid_utf8(text));
  for (const char* newline : {"\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"}) {
    clean = replace_all(std::move(clean), newline, "\n");
  }
  for (char& c : clean) {
    if (c != '\n' && (static_cast<unsigned char>(c) < ' ' || c == '\x7f')) c = ' ';
  }
  std::vector<std::string> lines = split_lines(trim(clean));
  for (std::string& line : lines) {
    line = trim(line);
    if (continues_comment(line)) line += '.';
  }
  return lines;
}

std::string comment_line(const std::string& text) { return join(comment_lines(text), " "); }

}  // namespace tfaot::toolkit
