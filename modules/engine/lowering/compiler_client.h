// SPDX-License-Identifier: Apache-2.0
// XLA's compiler for CPUs, one for the process.
#pragma once

#include "tfaot/base/result.h"
#include "xla/client/compile_only_client.h"

namespace tfaot::toolkit::engine {

Result<xla::CompileOnlyClient*> compiler_client();

}  // namespace tfaot::toolkit::engine
