// SPDX-License-Identifier: Apache-2.0
#include "build_lists.h"

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// Like gcc -MD: a backslash means itself, except at the end of backslashes before a space or '#'.
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

std::string response_file_text(const std::vector<Path>& paths) {
  std::string text;
  for (const Path& path : paths) {
    const std::string safe = replace_all(path.string(), "\\", "\\\\");
    text += '"' + replace_all(safe, "\"", "\\\"") + "\"\n";
  }
  return text;
}

}  // namespace tfaot::toolkit
