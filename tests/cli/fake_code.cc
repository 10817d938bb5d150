// SPDX-License-Identifier: Apache-2.0
// What the fake engine claims to have compiled. Never run.
extern "C" int __xla_cpu_runtime_KeyValueSort();
extern "C" int tfaot_entry() { return __xla_cpu_runtime_KeyValueSort(); }
