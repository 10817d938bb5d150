// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/result.h"

#include <fmt/format.h>

#include "tfaot/base/text.h"

namespace tfaot {

std::string Error::text() const {
  std::string text;
  if (!where_.file.empty()) {
    text += where_.file;
    if (where_.line > 0) text += fmt::format(":{}", where_.line);
    if (where_.line > 0 && where_.column > 0) text += fmt::format(":{}", where_.column);
    text += ": ";
  }
  text += message_;
  for (const std::string& note : notes_) {
    for (const std::string& line : split_lines(note)) text += "\n  " + line;
  }
  return text;
}

}  // namespace tfaot
