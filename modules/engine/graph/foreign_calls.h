// SPDX-License-Identifier: Apache-2.0
// A model may contain code in XLA's own language (StableHLO in XlaCallModule). That code can call
// functions of the process by name and wait for data from a host. tfaot neither compiles nor runs
// either. Pure functions.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "xla/service/hlo.pb.h"

namespace tfaot::toolkit::engine {

// Error: names the first instruction that calls a function other than XLA's own, or that exchanges
// data with a host. `label`: ModelGraph::label().
Status check_calls(const xla::HloModuleProto& module, const std::string& label);

}  // namespace tfaot::toolkit::engine
