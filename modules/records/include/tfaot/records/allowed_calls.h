// SPDX-License-Identifier: Apache-2.0
// The symbols that the code of a model may import: the only list of them. `tfaot compile` refuses
// code that calls anything else or libm, which older packages do, and `tfaot verify` looks for it
// in the objects of packages. Pure functions, safe from many threads.
#pragma once

#include <string>

#include "tfaot/records/words.h"

namespace tfaot::toolkit {

enum class CallKind {
  kRuntime,      // kernels, functions and conversions of numbers in libtfaot_runtime.a
  kAllocating,   // XLA's FFT, products and convolutions there: they ask for memory in a call, so
                 // only older packages and those of other compilers call them
  kMemory,       // memcpy, memset, memmove, memcmp
  kCompiler,     // arithmetic of wide integers in libgcc, which every program has
  kMathematics,  // functions of the node's libm: their last bits depend on it
  kForbidden,    // anything else
};

// In the order in which they are shown.
template <>
inline constexpr auto kWords<CallKind> = std::to_array<Word<CallKind>>({
    {CallKind::kRuntime, "runtime"},
    {CallKind::kAllocating, "allocating"},
    {CallKind::kMemory, "memory"},
    {CallKind::kCompiler, "compiler"},
    {CallKind::kMathematics, "libm"},
    {CallKind::kForbidden, "forbidden"},
});

// A kernel of any version counts as the runtime's: kernels get new names, and a linker refuses one
// that the runtime of its package lacks.
CallKind kind_of_call(const std::string& symbol);

// True for symbols that libtfaot_runtime.a offers to compiled code
// (cmake/build/TfaotKernelTable.cmake). The runtime for other processors than x86-64 is built
// elsewhere, so it is assumed to have them all.
bool runtime_offers(const std::string& symbol, const std::string& target_triple);

}  // namespace tfaot::toolkit
