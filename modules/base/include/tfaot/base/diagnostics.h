// SPDX-License-Identifier: Apache-2.0
// Where a stage reports what it is doing, apart from what it returns. The cli shows the reports (a
// progress bar on a terminal, plain lines otherwise); tests collect them. Implementations must
// accept calls from many threads.
#pragma once

#include <cstddef>
#include <string>

namespace tfaot::toolkit {

class Diagnostics {
 public:
  virtual ~Diagnostics() = default;
  // Something the user should know; the work goes on.
  virtual void warning(const std::string& text) = 0;
  // Detail for -v.
  virtual void verbose(const std::string& text) = 0;
  // `done` of `total` steps are finished; `step` names the one that just ended ("batch size 4,
  // x86-64-v3").
  virtual void progress(std::size_t done, std::size_t total, const std::string& step) = 0;
};

// Says nothing.
class SilentDiagnostics final : public Diagnostics {
 public:
  void warning(const std::string&) override {}
  void verbose(const std::string&) override {}
  void progress(std::size_t, std::size_t, const std::string&) override {}
};

}  // namespace tfaot::toolkit
