// SPDX-License-Identifier: Apache-2.0
// Optimized HLO + CPU level -> object file bytes and their buffer table. Position independent.
// Used by one thread.
#pragma once

#include <string>

#include "compiler/code/optimize.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/counted_code.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

struct ObjectCode {
  std::string bytes;  // ELF relocatable
  std::vector<BufferSlot> buffers;
  std::uint32_t result_slot = 0;
  CountedCode counted = {};  // of code that counts; without batch size and level
};

// Where XLA writes what its steps made; see its flag --xla_dump_to.
struct CodeDump {
  std::string folder;   // empty: nowhere
  bool passes = false;  // also after each pass
};
enum class Counting { kNone, kOperations };

// The index of a weight's slot is its position in model.weights. The entry's symbol is
// kNeutralEntrySymbol (records/symbols.h).
Result<ObjectCode> make_object_code(const OptimizedModel& model, const JobLevel& level,
                                    const std::string& target_triple, Counting counting,
                                    const CodeDump& dump = {});

}  // namespace tfaot::toolkit::engine
