// SPDX-License-Identifier: Apache-2.0
// What the fake engine says it compiled. Never run.
extern "C" int __xla_cpu_runtime_fake_kernel();
extern "C" int tfaot_fake_code() { return __xla_cpu_runtime_fake_kernel(); }
