// SPDX-License-Identifier: Apache-2.0
// Parts of a ModelSection, as records hold them. Pure functions.
#pragma once

#include "tfaot/records/model_spec.h"
#include "tfaot/records/record_json.h"

namespace tfaot::toolkit {

TFAOT_MEMBERS(DimensionSize, name, size);
TFAOT_MEMBERS(ModelConstant, name, shape, values);

}  // namespace tfaot::toolkit
