// SPDX-License-Identifier: Apache-2.0
// Makes any text harmless when a generated file quotes it. Pure functions, for any bytes.
#pragma once

#include <string>
#include <vector>

namespace tfaot::toolkit {

// The text between the quotes of a C++ string literal: plain ASCII, everything else as octal
// escapes.
std::string cpp_string(const std::string& text);

// The lines of a text in a form that can follow "// " in a C++ source: no control or
// direction-changing character, valid UTF-8, no line end that would continue the comment. A text of
// only spaces has no lines.
std::vector<std::string> comment_lines(const std::string& text);
// The same in one line.
std::string comment_line(const std::string& text);

}  // namespace tfaot::toolkit
