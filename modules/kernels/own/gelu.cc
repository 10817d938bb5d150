// SPDX-License-Identifier: Apache-2.0
// tfaot_gelu of rows.h.
#include "gemm.h"
#include "lanes.h"
#include "share_rows.h"
#include "tfaot/kernels/rows.h"

namespace {

// erf(x / sqrt(2)) / (2 x) for |x| <= 5.55, as a fraction of polynomials of x^2. Beyond, erf is 1
// to all bits of a float32.
constexpr float kErfAbove[] = {0.398941607F, 0.0595491128F, 0.00624866625F, 0.000425031405F,
                               7.58949762e-6F};
constexpr float kErfBelow[] = {1.0F,           0.315922854F,    0.0433377156F,
                               0.00334925857F, 0.000152627402F, 6.19747604e-7F};

template <int kCount>
TFAOT_INLINE Floats polynomial(const float (&of)[kCount], Floats t) {
  Floats sum = t * of[kCount - 1] + of[kCount - 2];
  TFAOT_UNROLL
  for (int i = kCount - 3; i >= 0; --i) sum = sum * t + of[i];
  return sum;
}

// x * (1 + erf(x / sqrt(2))) / 2
TFAOT_INLINE Floats gelu_of(Floats x) {
  constexpr float kEnd = 5.55F;
  const Floats zero = {};
  x = larger_of<float>(zero - kEnd, x);
  const Floats near = smaller_of<float>(zero + kEnd, x);
  const Floats t = near * near;
  return x * (near * polynomial(kErfAbove, t) / polynomial(kErfBelow, t) + 0.5F);
}

}  // namespace

extern "C" void TFAOT_KERNEL(gelu)(void* out, const void** in) {
  const auto& call = *static_cast<const tfaot::kernels::GeluCall*>(in[0]);
  const auto* const x = static_cast<const float*>(in[1]);
  auto* const y = static_cast<float*>(out);
  constexpr Int kUnit = 64;  // whole vectors, and whole lines of the caches
  share_rows(call.size, kUnit, call.shared, in + 2, [x, y](Int first, Int end) {
    along_row(end - first, [from = x + first, to = y + first](Int j, Int count) {
      store_some(to + j, gelu_of(load_some(from + j, count)), count);
    });
  });
}
