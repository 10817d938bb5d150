// SPDX-License-Identifier: Apache-2.0
#include "tfaot/cli/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "tfaot/base/printable.h"

namespace tfaot::toolkit {

namespace {

constexpr const char* kRed = "\x1b[1;31m";
constexpr const char* kGreen = "\x1b[1;32m";
constexpr const char* kYellow = "\x1b[1;33m";
constexpr const char* kPlain = "\x1b[0m";
constexpr const char* kEraseLine = "\r\x1b[K";

std::string painted(const std::string& text, const char* colour) { return colour + text + kPlain; }

// At most `columns` characters, cut at a space where there is one.
std::string fitted_line(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  std::size_t last_space = 0;
  for (std::size_t used = 0; end < text.size(); ++used) {
    if (used + 4 > columns) {
      return text.substr(0, last_space > 0 ? last_space : end) + " ...";
    }
    if (text[end] == ' ') last_space = end;
    end += std::max<std::size_t>(utf8_character(std::string_view(text).substr(end)), 1);
  }
  return text;
}

}  // namespace

Console::Console(const Streams& streams) : streams_(streams) {}

Console::~Console() { erase_progress(); }

void Console::set_verbosity(Verbosity verbosity) {
  const std::lock_guard lock(mutex_);
  verbosity_ = verbosity;
}

void Console::print(const std::string& text, Tone tone) {
  const std::lock_guard lock(mutex_);
  erase_progress();
  const std::string shown = printable_text(text);
  const std::size_t start = shown.find(": ");
  const std::size_t end = shown.find('\n');
  if (tone == Tone::kNone || !streams_.colours_out || start >= end) {
    streams_.out << shown << std::flush;
    return;
  }
  streams_.out << shown.substr(0, start + 2)
               << painted(shown.substr(start + 2, end - start - 2),
                          tone == Tone::kGood ? kGreen : kRed)
               << shown.substr(end) << std::flush;
}

void Console::report(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (verbosity_ == Verbosity::kQuiet) return;
  erase_progress();
  streams_.out << printable_text(text) << std::flush;
}

void Console::error(const Error& error) {
  const std::lock_guard lock(mutex_);
  line(error.text(), "error: ", kRed);
}

void Console::warning(const std::string& text) {
  const std::lock_guard lock(mutex_);
  line(Error(text).text(), "warning: ", kYellow);
}

void Console::verbose(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (verbosity_ == Verbosity::kVerbose) line(text);
}

void Console::progress(std::size_t done, std::size_t total, const std::string& step) {
  const std::lock_guard lock(mutex_);
  if (verbosity_ == Verbosity::kQuiet) return;
  const std::string text = fmt::format("[{}/{}] {}", done, total, step);
  // The lines of -v would come between.
  if (streams_.progress_columns == 0 || verbosity_ == Verbosity::kVerbose) return line(text);
  erase_progress();
  if (done >= total) return;
  // A terminal wraps a line that fills it.
  streams_.err << fitted_line(printable_line(text), streams_.progress_columns - 1) << std::flush;
  progress_shown_ = true;
}

void Console::erase_progress() {
  if (progress_shown_) streams_.err << kEraseLine << std::flush;
  progress_shown_ = false;
}

void Console::line(const std::string& text, const std::string& label, const char* colour) {
  erase_progress();
  if (!label.empty()) {
    streams_.err << "tfaot: " << (streams_.colours_err ? painted(label, colour) : label);
  }
  streams_.err << printable_text(text) << std::endl;
}

}  // namespace tfaot::toolkit
