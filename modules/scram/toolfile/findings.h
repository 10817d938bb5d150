// SPDX-License-Identifier: Apache-2.0
// Collects what a check finds. One file; one thread.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tfaot/scram/scram_types.h"

namespace tfaot::toolkit {

// What scram does, and what the author of the file should do.
struct Consequence {
  std::string scram;
  std::string advice;
};

class Findings {
 public:
  void error(int line, std::string what, Consequence consequence) {
    add(Severity::kError, line, std::move(what), std::move(consequence));
  }
  void warning(int line, std::string what, Consequence consequence) {
    add(Severity::kWarning, line, std::move(what), std::move(consequence));
  }
  void missing_attribute(int line, const std::string& element, const std::string& attribute) {
    error(line, fmt::format("<{}> without '{}'", element, attribute),
          {fmt::format("stops with a Python traceback: KeyError: '{}'", attribute),
           fmt::format("write <{} {}=\"...\">", element, attribute)});
  }
  std::vector<ToolFinding> take() { return std::move(list_); }

 private:
  void add(Severity severity, int line, std::string what, Consequence consequence) {
    list_.push_back({severity, line, std::move(what), std::move(consequence.scram),
                     std::move(consequence.advice)});
  }

  std::vector<ToolFinding> list_;
};

}  // namespace tfaot::toolkit
