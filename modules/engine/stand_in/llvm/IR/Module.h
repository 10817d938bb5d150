// SPDX-License-Identifier: Apache-2.0
// The wheel ships XLA's headers but not LLVM's; xla/service/cpu/cpu_compiler.h needs only the name.
#pragma once
namespace llvm {
class Module;
}
