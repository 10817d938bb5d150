// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/result.h"

#include <fmt/format.h>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// A longer line holds a value that somebody made long on purpose.
constexpr std::size_t kLongestLine = 1000;
constexpr std::size_t kMostNoteLines = 60;

}  // namespace

std::string Error::text() const {
  std::string text;
  if (!where_.file.empty()) {
    text += printable_line(where_.file);
    if (where_.line > 0) text += fmt::format(":{}", where_.line);
    if (where_.line > 0 && where_.column > 0) text += fmt::format(":{}", where_.column);
    text += ": ";
  }
  const std::vector<std::string> message = split_lines(message_);
  for (std::size_t i = 0; i < message.size(); ++i) {
    text += (i == 0 ? "" : "\n  ") + shown(message[i], kLongestLine);
  }
  std::size_t count = 0;
  for (const std::string& note : notes_) {
    for (const std::string& line : split_lines(note)) {
      if (++count <= kMostNoteLines) text += "\n  " + shown(line, kLongestLine);
    }
  }
  if (count > kMostNoteLines) text += fmt::format("\n  and {} more lines", count - kMostNoteLines);
  return text;
}

Status all_or_first(std::vector<Error> errors) {
  if (errors.empty()) return {};
  Error first = std::move(errors.front());
  for (std::size_t i = 1; i < errors.size(); ++i) first.also(std::move(errors[i]));
  return fail(std::move(first));
}

}  // namespace tfaot::toolkit
