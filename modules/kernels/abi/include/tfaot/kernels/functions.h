// SPDX-License-Identifier: Apache-2.0
// Declares the functions of functions.def. They do what the C library's do, but set no errno and
// raise no flags that count.
#pragma once

#define TFAOT_OF_ONE(T, name) T name(T x);
#define TFAOT_OF_TWO(T, name) T name(T x, T y);
#define TFAOT_OF_THREE(T, name) T name(T x, T y, T z);
#define TFAOT_OF_ONE_AND_INT(T, name) T name(T x, int n);
#define TFAOT_TO_TWO(T, name) void name(T x, T* first, T* second);

extern "C" {
#define TFAOT_FUNCTION_ROW(name, form) \
  form(float, tfaot_##name##_f32) form(double, tfaot_##name##_f64)
#include "tfaot/kernels/functions.def"
}

#undef TFAOT_OF_ONE
#undef TFAOT_OF_TWO
#undef TFAOT_OF_THREE
#undef TFAOT_OF_ONE_AND_INT
#undef TFAOT_TO_TWO
