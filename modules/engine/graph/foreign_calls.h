// SPDX-License-Identifier: Apache-2.0
// A model may bring code of its own language for XLA (StableHLO in XlaCallModule), which can call
// functions of the process by name and wait for what a host sends. Neither is compiled, nor tried.
// Pure functions.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "xla/service/hlo.pb.h"

namespace tfaot::toolkit::engine {

// Error: names the first instruction that calls a function other than XLA's own, or that talks to a
// host. `label`: ModelGraph::label().
Status check_calls(const xla::HloModuleProto& module, const std::string& label);

}  // namespace tfaot::toolkit::engine
