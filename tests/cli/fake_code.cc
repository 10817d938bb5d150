// SPDX-License-Identifier: Apache-2.0
// What the fake engine claims to have compiled. It needs a function of the runtime, and calls it
// for an address that nobody gives.
extern "C" int __xla_cpu_runtime_KeyValueSort();
extern "C" int tfaot_entry(const char* instance) {
  return instance == reinterpret_cast<const char*>(1) ? __xla_cpu_runtime_KeyValueSort() : 0;
}
