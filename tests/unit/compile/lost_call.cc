// SPDX-License-Identifier: Apache-2.0
// Calls a kernel that does not exist. Never run.
extern "C" int tfaot_lost_by_every_runtime_there_is_f32_x86_64();
extern "C" int tfaot_test_code() { return tfaot_lost_by_every_runtime_there_is_f32_x86_64(); }
