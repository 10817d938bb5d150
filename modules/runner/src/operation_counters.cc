// SPDX-License-Identifier: Apache-2.0
#include "operation_counters.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace tfaot::runner {
namespace {

constexpr std::size_t kMostEntries = 64;

struct CountedEntry {
  std::int64_t batch_size = 0;
  EntryFunction entry = nullptr;
  std::vector<std::int64_t> counters;
};

// A function of XLA's convention has no room for a pointer to these.
std::array<CountedEntry, kMostEntries> entries;
std::size_t used = 0;

template <std::size_t Number>
void call_counted(void* result, const void* options, const void** arguments, void** buffers,
                  void* status, std::int64_t*) {
  CountedEntry& counted = entries[Number];
  counted.entry(result, options, arguments, buffers, status, counted.counters.data());
}

template <std::size_t... Numbers>
constexpr std::array<EntryFunction, kMostEntries> functions_of(std::index_sequence<Numbers...>) {
  return {&call_counted<Numbers>...};
}
constexpr auto kFunctions = functions_of(std::make_index_sequence<kMostEntries>());

}  // namespace

EntryFunction counted_entry(std::int64_t batch_size, EntryFunction entry, std::size_t counters) {
  if (used == kMostEntries) throw std::runtime_error("too many batch sizes and levels to count");
  entries[used] = {batch_size, entry, std::vector<std::int64_t>(counters)};
  return kFunctions[used++];
}

std::vector<std::int64_t> counters_of(std::int64_t batch_size) {
  for (const CountedEntry& counted : entries) {
    if (counted.batch_size == batch_size) return counted.counters;
  }
  return {};
}

}  // namespace tfaot::runner
