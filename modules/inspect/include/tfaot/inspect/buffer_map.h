// SPDX-License-Identifier: Apache-2.0
// The memory of a program: which values XLA put where, and when each of them is alive. Read from
// the text of its buffer assignment. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

enum class BufferUse { kInput, kOutput, kConstant, kTemporary, kStack, kOther };
template <>
inline constexpr auto kWords<BufferUse> = std::to_array<Word<BufferUse>>({
    {BufferUse::kInput, "input"},  // or a weight: a parameter of the program
    {BufferUse::kOutput, "output"},
    {BufferUse::kConstant, "constant"},
    {BufferUse::kTemporary, "temporary"},
    {BufferUse::kStack, "stack"},
    {BufferUse::kOther, "other"},
});

// A value inside of an allocation. Moments count the instructions in the order in which they run;
// -1: not known.
struct PlacedValue {
  std::string name = {};  // "dot.3", "custom-call.4{0}"
  std::string shape = {};
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::int64_t first = -1;  // moment
  std::int64_t last = -1;
};

struct Allocation {
  std::int64_t number = 0;
  BufferUse use = BufferUse::kOther;
  std::int64_t parameter = -1;  // its number, if it is one
  std::uint64_t size = 0;
  std::vector<PlacedValue> values;
};

struct BufferMap {
  std::vector<Allocation> allocations;
  std::vector<std::string> moments;  // the instruction that runs at each of them
};

// `where` names the file in errors.
Result<BufferMap> read_buffer_map(const std::string& text, const std::string& where);

// Bytes of buffers of one use that hold a value at a moment, and the moment with the most of them.
// Never more than bytes_of(): values in the same place count once.
struct Peak {
  std::uint64_t bytes = 0;
  std::int64_t moment = -1;  // -1: there are none
};
Peak peak_of(const BufferMap& map, BufferUse use);
// All bytes of the allocations of one use.
std::uint64_t bytes_of(const BufferMap& map, BufferUse use);

}  // namespace tfaot::toolkit
