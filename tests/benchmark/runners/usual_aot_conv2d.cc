// SPDX-License-Identifier: Apache-2.0
// The wheel's own convolution, instantiated for one thread alone: its convolution_thunk_f*.cc make
// the thread pool's too, in ten times the time.
#include "xla/backends/cpu/runtime/convolution_thunk_internal.h"

CONV2D_INSTANTIATE_TEMPLATE(Eigen::DefaultDevice, Eigen::half);
CONV2D_INSTANTIATE_TEMPLATE(Eigen::DefaultDevice, float);
