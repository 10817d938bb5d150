// SPDX-License-Identifier: Apache-2.0
// For a runner of one engine: TFAOT_RUNNER_ENGINE is its function.
#include "runner.h"

namespace tfaot::runner {

std::unique_ptr<Engine> make_engine(const Settings& settings) {
  return TFAOT_RUNNER_ENGINE(settings);
}

}  // namespace tfaot::runner
