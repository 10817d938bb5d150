// SPDX-License-Identifier: Apache-2.0
// Optimized HLO + CPU level -> object file bytes and their buffer table. Position independent.
// Used by one thread.
#pragma once

#include <string>

#include "code/optimize.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

struct ObjectCode {
  std::string bytes;  // ELF relocatable
  std::vector<BufferSlot> buffers;
  std::uint32_t result_slot = 0;
};

// The index of a weight's slot is its position in model.weights. The entry's symbol is
// kNeutralEntrySymbol (records/symbols.h).
Result<ObjectCode> make_object_code(xla::CompileOnlyClient& client, const OptimizedModel& model,
                                    const JobLevel& level, const std::string& target_triple);

}  // namespace tfaot::toolkit::engine
