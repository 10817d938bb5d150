// SPDX-License-Identifier: Apache-2.0
// Instructions that no CPU level promises, and that tfaot_low_precision uses where the machine has
// them. What it computes is said in tfaot/kernels/abi.h.
#pragma once

#include <cstdint>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
namespace detail {

enum MachineWay : std::uint64_t {
  kByteWords = 1,       // avx512vnni: words of bytes
  kBfloat16Words = 2,   // avx512bf16: words of bfloat16
  kByteTiles = 4,       // amx-int8: tiles of words of bytes
  kBfloat16Tiles = 8,   // amx-bf16: tiles of words of bfloat16
  kByteTables = 16,     // avx512vbmi: bytes of a table
  kHalfByteWords = 32,  // avxvnni: words of bytes, at x86-64-v3
};

}  // namespace detail
}  // namespace tfaot

// The ways of this machine, of MachineWay, or-ed: asked for once, when the code is loaded, and not
// changed but by tests. TFAOT_CPU_WITHOUT forbids some (docs/runtime.md).
extern "C" __attribute__((visibility("hidden"))) std::uint64_t tfaot_machine_ways;
// The same as the names of LLVM's features, separated by spaces: those that x86-64-v4 uses, and
// those of x86-64-v3.
extern "C" __attribute__((visibility("hidden"))) const char* tfaot_machine_instructions[2];
