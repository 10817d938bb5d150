// SPDX-License-Identifier: Apache-2.0
// Checks that a model keeps the limits of base/limits.h: lengths of names, counts, ranks. Without
// them a model could make a package that no tfaot reads. Pure functions.
#pragma once

#include <vector>

#include "lowering/source_model.h"
#include "tfaot/base/result.h"
#include "xla/service/hlo.pb.h"

namespace tfaot::toolkit::engine {

Status check_signature_limits(const EngineJob& job, const SourceModel& model);
Status check_weight_limits(const std::vector<Variable>& weights);
// Of all tensors in the model. XLA's code for one has a loop for each dimension.
Status check_ranks(const xla::HloModuleProto& module);

}  // namespace tfaot::toolkit::engine
