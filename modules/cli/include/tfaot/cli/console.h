// SPDX-License-Identifier: Apache-2.0
// What the user sees. Results go to standard output, everything else to standard error: warnings,
// errors, and progress (a bar on a terminal, plain lines otherwise). Safe from many threads.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
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

class Console final : public Diagnostics {
 public:
  struct Streams {
    std::ostream& out;
    std::ostream& err;
    bool err_is_terminal = false;
  };
  explicit Console(const Streams& streams);
  ~Console() override;

  void set_verbosity(Verbosity verbosity);

  // What the user asked for (a table, JSON, a help text): printed at any verbosity. Verbatim, no
  // newline added.
  void print(const std::string& text);
  // What was done; silent when quiet. Verbatim, no newline added.
  void report(const std::string& text);
  void error(const Error& error);

  void warning(const std::string& text) override;
  void verbose(const std::string& text) override;
  void progress(std::size_t done, std::size_t total, const std::string& step) override;

 private:
  class Bar;

  // REQUIRES: mutex_ is held. Writes a separate line below an unfinished bar.
  void line(const std::string& text);

  std::mutex mutex_;
  Streams streams_;
  Verbosity verbosity_ = Verbosity::kNormal;
  std::unique_ptr<Bar> bar_;  // on a terminal, from the first step to the last
};

}  // namespace tfaot::toolkit
