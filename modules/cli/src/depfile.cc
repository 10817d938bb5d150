// SPDX-License-Identifier: Apache-2.0
#include "depfile.h"

namespace tfaot {
namespace {

// As gcc -MD writes: a backslash means itself, unless backslashes end in front of a blank or '#'.
std::string escaped(const std::string& path) {
  std::string text;
  std::size_t backslashes = 0;
  for (const char c : path) {
    if (c == ' ' || c == '#') text.append(backslashes + 1, '\\');
    if (c == '$') text += '$';
    backslashes = c == '\\' ? backslashes + 1 : 0;
    text += c;
  }
  return text;
}

}  // namespace

std::string depfile_text(const Path& target, const std::vector<Path>& prerequisites) {
  std::string text = escaped(target.string()) + ":";
  for (const Path& path : prerequisites) text += " \\\n  " + escaped(path.string());
  return text + "\n";
}

}  // namespace tfaot
