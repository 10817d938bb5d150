// SPDX-License-Identifier: Apache-2.0
#include "command.h"

namespace tfaot::toolkit {

void VerbosityOption::add_to(CLI::App& app) {
  auto* quiet_flag = app.add_flag("-q,--quiet", quiet, "say nothing but warnings and errors");
  auto* verbose_flag = app.add_flag("-v,--verbose", verbose, "say more of what is done");
  verbose_flag->excludes(quiet_flag);
  for (auto* flag : {quiet_flag, verbose_flag}) flag->option_text(" ");
}

void VerbosityOption::apply(Console& console) const {
  console.set_verbosity(quiet     ? Verbosity::kQuiet
                        : verbose ? Verbosity::kVerbose
                                  : Verbosity::kNormal);
}

}  // namespace tfaot::toolkit
