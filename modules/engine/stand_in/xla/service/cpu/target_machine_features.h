// SPDX-License-Identifier: Apache-2.0
// Replaces the wheel's header of this name, which needs LLVM's own; cpu_compiler.h needs only the
// names.
#pragma once
namespace xla::cpu {
class TargetMachineFeatures;
class LLVMTargetMachineFeatures;
}  // namespace xla::cpu
