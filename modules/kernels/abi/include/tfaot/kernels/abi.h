// SPDX-License-Identifier: Apache-2.0
// How compiled code calls our kernels: the engine writes these calls into the HLO, and the kernels
// read them. A kernel is
//
//   extern "C" void tfaot_<kernel>_<f32|f64>_<level>(void* out, const void** in);
//
// (XLA's original custom-call convention); kernels.def is the table of kernels, levels.def that of
// levels. in[0] points to the call's struct below, a constant s64 array in the HLO; in[1] and the
// following are the tensors, all dense and row-major. `out` is the result, or, for kernels with
// scratch, an array of pointers to the results (mostly one) and to scratch memory. Buffers are
// aligned to 16 bytes, packed weights and scratch to 64. Kernels keep no state, allocate nothing
// and are safe from many threads.
//
// A call that shares gets the address of a tfaot::Tasks (tfaot/runtime/detail/tasks.h) as a number,
// or 0 if it is to be computed by the caller alone. Each lane of the tasks has at least as much
// scratch memory as the call. Results are the same to the last bit, whoever computes them.
#pragma once

#include "tfaot/kernels/attention.h"
#include "tfaot/kernels/forest.h"
#include "tfaot/kernels/panels.h"
#include "tfaot/kernels/products.h"
#include "tfaot/kernels/recurrent.h"
#include "tfaot/kernels/rows.h"
#include "tfaot/kernels/selection.h"
#include "tfaot/kernels/window.h"
