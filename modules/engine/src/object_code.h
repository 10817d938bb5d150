// SPDX-License-Identifier: Apache-2.0
// XLA computation + CPU level -> object file bytes and their buffer table. Position independent.
// Used by one thread.
#pragma once

#include <string>

#include "lowering.h"
#include "tfaot/compile/compile_types.h"
#include "tfaot/compile/job_types.h"

namespace tfaot::engine {

struct ObjectCode {
  std::string bytes;  // ELF relocatable
  std::vector<BufferSlot> buffers;
  std::uint32_t result_slot = 0;
};

// Inputs are parameters 0..input_count-1 of the computation, all further ones are weights. The
// entry's symbol is kNeutralEntrySymbol (job_types.h).
Result<ObjectCode> make_object_code(xla::CompileOnlyClient& client, const LoweredModel& lowered,
                                    const JobLevel& level, const std::string& target_triple);

}  // namespace tfaot::engine
