// SPDX-License-Identifier: Apache-2.0
// Checks that a compilation record is consistent before headers are made from it: a wrong table
// would let the code write outside its buffers. Every finding is an internal Error. Pure.
#pragma once

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit {

Status check_compiled_model(const CompiledModel& compiled);

}  // namespace tfaot::toolkit
