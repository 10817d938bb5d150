// SPDX-License-Identifier: Apache-2.0
// --html, for every verb that can write its report as a page:
//
//   options->html.add_to(app);                                 // where the options are declared
//   TFAOT_TRY(options.html.check(program));                    // before the work
//   if (options.html.given()) {                                // after it, also if it found faults
//     TFAOT_TRY(options.html.write(program, page_of(...), json));
//   }
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/cli/run_program.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit {

class HtmlOption {
 public:
  void add_to(CLI::App& app);
  bool given() const { return !file_.empty(); }
  // Usage error if a page cannot be put there, or if the file is something else than a page.
  Status check(const Program& program) const;
  // REQUIRES: given(). Adds the command line and the version. `data`: what --json prints.
  Status write(Program& program, report::Page page, const nlohmann::ordered_json& data) const;

 private:
  std::string file_;
};

}  // namespace tfaot::toolkit
