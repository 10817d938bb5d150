// SPDX-License-Identifier: Apache-2.0
#include "tfaot/cli/console.h"

#include <fmt/format.h>

#include <boost/timer/progress_display.hpp>
#include <ostream>

#include "tfaot/base/printable.h"

namespace tfaot::toolkit {

class Console::Bar {
 public:
  Bar(std::ostream& stream, std::size_t total) : display_(total, stream), stream_(stream) {}
  ~Bar() {
    if (!complete()) stream_ << std::endl;
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;

  void advance_to(std::size_t done) {
    if (done > display_.count()) display_ += done - display_.count();
  }
  bool complete() const { return display_.count() >= display_.expected_count(); }

 private:
  boost::timer::progress_display display_;
  std::ostream& stream_;
};

Console::Console(const Streams& streams) : streams_(streams) {}
Console::~Console() = default;

void Console::set_verbosity(Verbosity verbosity) {
  const std::lock_guard lock(mutex_);
  verbosity_ = verbosity;
}

void Console::print(const std::string& text) {
  const std::lock_guard lock(mutex_);
  streams_.out << printable_text(text) << std::flush;
}

void Console::report(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (verbosity_ != Verbosity::kQuiet) streams_.out << printable_text(text) << std::flush;
}

void Console::error(const Error& error) {
  const std::lock_guard lock(mutex_);
  line("tfaot: error: " + error.text());
}

void Console::warning(const std::string& text) {
  const std::lock_guard lock(mutex_);
  line("tfaot: warning: " + Error(text).text());
}

void Console::verbose(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (verbosity_ == Verbosity::kVerbose) line(text);
}

void Console::progress(std::size_t done, std::size_t total, const std::string& step) {
  const std::lock_guard lock(mutex_);
  if (verbosity_ == Verbosity::kQuiet) return;
  // The lines of -v would break up a bar.
  if (!streams_.err_is_terminal || verbosity_ == Verbosity::kVerbose) {
    return line(fmt::format("[{}/{}] {}", done, total, step));
  }
  if (!bar_) bar_ = std::make_unique<Bar>(streams_.err, total);
  bar_->advance_to(done);
  if (bar_->complete()) bar_.reset();
}

void Console::line(const std::string& text) {
  bar_.reset();
  streams_.err << printable_text(text) << std::endl;
}

}  // namespace tfaot::toolkit
