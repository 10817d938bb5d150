// SPDX-License-Identifier: Apache-2.0
// Prints for the user. Results go to standard output, everything else to standard error: warnings,
// errors, and progress (one line that is rewritten on a terminal, else a line a step). Safe from
// many threads.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <mutex>
#include <string>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

enum class Verbosity {
  kQuiet,   // only warnings and errors
  kNormal,  // also results and progress
  kVerbose  // also details
};

enum class Tone { kNone, kGood, kBad };

class Console final : public Diagnostics {
 public:
  struct Streams {
    std::ostream& out;
    std::ostream& err;
    std::size_t progress_columns = 0;  // of the terminal that `err` is; 0: a line a step
    bool colours_out = false;
    bool colours_err = false;
  };
  explicit Console(const Streams& streams);
  ~Console() override;

  void set_verbosity(Verbosity verbosity);
  bool is_quiet() const { return verbosity_ == Verbosity::kQuiet; }

  // What the user asked for (a table, JSON, a help text): printed at any verbosity. Verbatim, no
  // newline added. With colours, a tone paints what the first line says after its first colon.
  void print(const std::string& text, Tone tone = Tone::kNone);
  // What was done; silent when quiet. Verbatim, no newline added.
  void report(const std::string& text);
  void error(const Error& error);

  void warning(const std::string& text) override;
  void verbose(const std::string& text) override;
  void progress(std::size_t done, std::size_t total, const std::string& step) override;

 private:
  // REQUIRES: mutex_ is held. `label`, such as "error: ", is painted.
  void line(const std::string& text, const std::string& label = "", const char* colour = "");
  void erase_progress();

  std::mutex mutex_;
  Streams streams_;
  Verbosity verbosity_ = Verbosity::kNormal;
  bool progress_shown_ = false;
};

}  // namespace tfaot::toolkit
