// SPDX-License-Identifier: Apache-2.0
// The wheel ships XLA's headers but not LLVM's; cpu_compiler.h needs only these names.
#pragma once
namespace llvm {
class TargetMachine;
class Module;
class LLVMContext;
class DataLayout;
namespace CodeGenOpt {
enum Level : int;
}
}  // namespace llvm
