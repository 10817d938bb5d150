// SPDX-License-Identifier: Apache-2.0
// The CPU's intrinsics, no more than the level has: g++ takes as long for the whole of
// <immintrin.h> as for most kernels. A source that needs more of AVX-512 than its foundation
// defines TFAOT_ALL_OF_AVX512 first.
#pragma once

#if defined(__x86_64__)
#if TFAOT_VECTOR_BYTES == 16
#include <emmintrin.h>
#elif defined(__clang__) || __GNUC__ != 12  // other compilers' headers may need others
#include <immintrin.h>
#else
// Each needs the ones before.
// clang-format off
#define _IMMINTRIN_H_INCLUDED  // they refuse to be included without it
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
#if TFAOT_VECTOR_BYTES == 64
#include <avx512fintrin.h>
#if defined(TFAOT_ALL_OF_AVX512)
#include <avx512vlintrin.h>
#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#include <avx512vlbwintrin.h>
#endif
#endif
// clang-format on
#endif
#endif
