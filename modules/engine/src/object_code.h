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

// Inputs are parameters 0..input_count-1 of the computation, all further ones are weights.
Result<ObjectCode> make_object_code(xla::CompileOnlyClient& client, const LoweredModel& lowered,
                                    const JobLevel& level, const std::string& target_triple,
                                    const std::string& entry_symbol);

// SHA-256 of the unoptimised HLO, the same for the same model and batch size in every run.
Result<std::string> hlo_sha256(const LoweredModel& lowered);

}  // namespace tfaot::engine
