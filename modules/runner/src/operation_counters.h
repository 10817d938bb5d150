// SPDX-License-Identifier: Apache-2.0
// Counters of instrumented code (tfaot/records/counted_code.h). The runtime calls an entry without
// counters, so each entry is replaced by a function that adds them. For one thread and the life of
// the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tfaot/runtime/detail/description.h"

namespace tfaot::runner {

// The function that calls `entry` with `counters` counters of its own. Throws after some dozens.
EntryFunction counted_entry(std::int64_t batch_size, EntryFunction entry, std::size_t counters);

// Of the code of a batch size, added up since the start; empty if there is none.
std::vector<std::int64_t> counters_of(std::int64_t batch_size);

}  // namespace tfaot::runner
