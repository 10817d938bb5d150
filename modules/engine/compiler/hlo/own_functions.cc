// SPDX-License-Identifier: Apache-2.0
// XLA's evaluator computes functions of weights ahead, by the C library's functions. Their last
// bits depend on the library and the CPU, so weights would depend on the machine that compiles. The
// loader looks into the executable first, so XLA's library calls these.
#include "tfaot/kernels/functions.h"

#define TFAOT_OF_ONE(name)                                         \
  double name(double x) noexcept { return tfaot_##name##_f64(x); } \
  float name##f(float x) noexcept { return tfaot_##name##_f32(x); }
#define TFAOT_OF_TWO(name)                                                      \
  double name(double x, double y) noexcept { return tfaot_##name##_f64(x, y); } \
  float name##f(float x, float y) noexcept { return tfaot_##name##_f32(x, y); }

extern "C" {
TFAOT_OF_TWO(atan2)
TFAOT_OF_ONE(cos)
TFAOT_OF_ONE(erf)
TFAOT_OF_ONE(exp)
TFAOT_OF_ONE(exp2)
TFAOT_OF_ONE(log)
TFAOT_OF_TWO(pow)
TFAOT_OF_ONE(sin)
TFAOT_OF_ONE(tanh)
void sincos(double x, double* sine, double* cosine) noexcept { tfaot_sincos_f64(x, sine, cosine); }
void sincosf(float x, float* sine, float* cosine) noexcept { tfaot_sincos_f32(x, sine, cosine); }
}

#undef TFAOT_OF_ONE
#undef TFAOT_OF_TWO
