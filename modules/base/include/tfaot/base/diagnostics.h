// SPDX-License-Identifier: Apache-2.0
// Where a stage tells what it does, apart from what it returns. The cli shows it (a progress bar on
// a terminal, plain lines otherwise); tests collect it. Implementations must take calls from many
// threads.
#pragma once

#include <cstddef>
#include <string>

namespace tfaot::toolkit {

class Diagnostics {
 public:
  virtual ~Diagnostics() = default;
  // What the user should know although the work goes on.
  virtual void warning(const std::string& text) = 0;
  // Detail for -v.
  virtual void verbose(const std::string& text) = 0;
  // `done` of `total` steps are finished, `step` names the one that just ended ("batch size 4,
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
