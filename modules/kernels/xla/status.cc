// SPDX-License-Identifier: Apache-2.0
// Loops and branches ask after each turn whether a kernel in them failed. Ours cannot fail, and the
// runtime hands compiled code no status: the pointer is null, which XLA's own function would read.
extern "C" bool __xla_cpu_runtime_StatusIsSuccess(const void* /*status*/) { return true; }
