// SPDX-License-Identifier: Apache-2.0
#include "command.h"

namespace tfaot {

void VerbosityOption::add_to(CLI::App& app) {
  auto* quiet_flag = app.add_flag("-q,--quiet", quiet, "say nothing but warnings and errors");
  app.add_flag("-v,--verbose", verbose, "say more of what is done")->excludes(quiet_flag);
}

void VerbosityOption::apply(Console& console) const {
  console.set_verbosity(quiet     ? Verbosity::kQuiet
                        : verbose ? Verbosity::kVerbose
                                  : Verbosity::kNormal);
}

}  // namespace tfaot
