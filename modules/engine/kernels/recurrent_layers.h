// SPDX-License-Identifier: Apache-2.0
// A loop whose turns are the steps of one recurrent cell, and nothing else that depends on them,
// becomes one kernel call with all steps. Others stay loops with a call in each turn. Used by one
// thread.
#pragma once

#include "hlo/choices.h"
#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

Status replace_recurrent_layers(xla::HloModule& module, std::int64_t first_weight,
                                const Choices& choices = {});

}  // namespace tfaot::toolkit::engine
