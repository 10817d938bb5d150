// SPDX-License-Identifier: Apache-2.0
// After each turn, loops and branches ask whether a kernel in them failed. Ours cannot fail, and
// the runtime passes no status to compiled code: the pointer is null, and XLA's own function would
// read it.
extern "C" bool __xla_cpu_runtime_StatusIsSuccess(const void* /*status*/) { return true; }
