// SPDX-License-Identifier: Apache-2.0
// Only the single-threaded instance: the wheel's convolution_thunk_f32.cc also makes the thread
// pool's, in ten times the time and size.
#include "xla/backends/cpu/runtime/convolution_thunk_internal.h"

CONV3D_INSTANTIATE_TEMPLATE(Eigen::DefaultDevice, float);
