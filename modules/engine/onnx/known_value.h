// SPDX-License-Identifier: Apache-2.0
// Values that are known while compiling: shapes and all that is computed from them.
#pragma once

#include <optional>

#include "tfaot/base/result.h"
#include "xla/client/xla_builder.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

// Computes it; nothing if it depends on parameters, or if more than kMostKnownElements would have
// to be computed.
Result<std::optional<xla::Literal>> known_value(xla::XlaOp op);
// Does not depend on parameters.
bool is_computed_of_constants(xla::XlaOp op);
// The same for a whole computation. REQUIRES: it has no parameters.
Result<xla::Literal> value_of_constants(const xla::XlaComputation& computation);

}  // namespace tfaot::toolkit::engine
