// SPDX-License-Identifier: Apache-2.0
// Only the single-threaded instance: the wheel's convolution_thunk_f16.cc also makes the thread
// pool's, in ten times the time and size.
#include "xla/backends/cpu/runtime/convolution_thunk_internal.h"

CONV2D_INSTANTIATE_TEMPLATE(Eigen::DefaultDevice, Eigen::half);
