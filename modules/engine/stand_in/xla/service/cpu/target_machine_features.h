// SPDX-License-Identifier: Apache-2.0
// Shadows the wheel's header of this name, which needs LLVM's own; cpu_compiler.h needs the names
// only.
#pragma once
namespace xla::cpu {
class TargetMachineFeatures;
class LLVMTargetMachineFeatures;
}  // namespace xla::cpu
