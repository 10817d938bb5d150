// SPDX-License-Identifier: Apache-2.0
// tfaot_layer_norm of rows.h: a row or a few at a time, which stay in the first-level cache.
#include "gemm.h"
#include "row_groups.h"
#include "share_rows.h"
#include "tfaot/kernels/rows.h"

namespace {

using tfaot::kernels::LayerNormCall;

TFAOT_INLINE Floats roots_of(Floats v) {
#if TFAOT_VECTOR_BYTES == 64
  return _mm512_maskz_sqrt_ps(0xFFFF, v);
#elif TFAOT_VECTOR_BYTES == 32
  return _mm256_sqrt_ps(v);
#elif defined(__SSE2__)
  return _mm_sqrt_ps(v);
#else
  TFAOT_UNROLL
  for (int i = 0; i < kLanes<float>; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
#endif
}

struct Columns {
  Int count;
  float part;  // 1 / count
  const float* scale;
  const float* bias;
};

// The sum of a row's squares. Each addition meets one product alone: of two, the compiler would
// fuse the one or the other, and rows of other groups would be rounded in another way.
template <int kVectors>
TFAOT_INLINE Floats sum_of_squares(const Floats (&row)[kVectors]) {
  Floats even = row[0] * row[0];
  keep(even);
  if constexpr (kVectors == 1) return even;
  Floats odd = row[kVectors > 1] * row[kVectors > 1];
  keep(odd);
  TFAOT_UNROLL
  for (int i = 2; i < kVectors; ++i) (i % 2 == 0 ? even : odd) += row[i] * row[i];
  return even + odd;
}

template <int kRows, int kVectors>
TFAOT_INLINE RowNumbers over_squares(const RowGroup<kRows, kVectors>& group) {
  Floats sums[4];
  TFAOT_UNROLL
  for (int r = 0; r < 4; ++r) sums[r] = sum_of_squares(group.v[r % kRows]);
  return over_rows<SumOfLanes>(sums);
}

// Whole groups of kRows rows. The arguments in registers: a struct would be waited for.
template <int kRows, int kVectors>
TFAOT_ONE_COPY void normalise_groups(float* y, const float* x, Int rows, Int columns,
                                     const float* scales, const float* biases, float part,
                                     float epsilon) {
  const Int last = columns - (kVectors - 1) * kLanes<float>;
  for (; rows >= kRows; rows -= kRows, x += kRows * columns, y += kRows * columns) {
    auto group = RowGroup<kRows, kVectors>::from(x, columns, last);
    const RowNumbers means = {part * group.template over<SumOfLanes>().quads};
    group.each([&](Floats v, int r, int /*i*/) { return v - means.of(r); });
    group.end_with(0, last);
    const Floats variances = part * over_squares(group).quads;
    const RowNumbers factors = {1.0F / roots_of(variances + epsilon)};
    const auto scale = RowGroup<1, kVectors>::from(scales, 0, last);
    const auto bias = RowGroup<1, kVectors>::from(biases, 0, last);
    group.each(
        [&](Floats v, int r, int i) { return v * factors.of(r) * scale.v[0][i] + bias.v[0][i]; });
    group.to(y, columns, last);
  }
}

TFAOT_ONE_COPY void normalise_long(float* y, const float* x, Int rows, const Columns& columns,
                                   float epsilon) {
  for (; rows > 0; --rows, x += columns.count, y += columns.count) {
    const float mean = columns.part * over_row<SumOfLanes>(columns.count, 0, [&](Int j, Int count) {
                         return load_some(x + j, count);
                       });
    const float squares = over_row<SumOfLanes>(columns.count, 0, [&](Int j, Int count) {
      const Floats from_mean = first_or(load_some(x + j, count) - mean, count, 0);
      return from_mean * from_mean;
    });
    const float factor = 1.0F / __builtin_sqrtf(columns.part * squares + epsilon);
    along_row(columns.count, [&](Int j, Int count) {
      const Floats from_mean = load_some(x + j, count) - mean;
      const Floats scale = load_some(columns.scale + j, count) * factor;
      store_some(y + j, from_mean * scale + load_some(columns.bias + j, count), count);
    });
  }
}

void normalise(float* y, const float* x, Int all, const Columns& c, float epsilon) {
  const bool is_done = in_registers(all, c.count, [&](auto size, Int first, Int rows) {
    normalise_groups<size.kRows, size.kVectors>(y + first * c.count, x + first * c.count, rows,
                                                c.count, c.scale, c.bias, c.part, epsilon);
  });
  if (!is_done) normalise_long(y, x, all, c, epsilon);
}

}  // namespace

extern "C" void TFAOT_KERNEL(layer_norm)(void* out, const void** in) {
  const auto& call = *static_cast<const LayerNormCall*>(in[0]);
  const auto* const x = static_cast<const float*>(in[1]);
  auto* const y = static_cast<float*>(out);
  const Columns columns = {call.columns, 1.0F / static_cast<float>(call.columns),
                           static_cast<const float*>(in[2]), static_cast<const float*>(in[3])};
  share_rows(call.rows, rows_together(call.columns), call.shared, in + 4, [&](Int first, Int end) {
    normalise(y + first * call.columns, x + first * call.columns, end - first, columns,
              static_cast<float>(call.epsilon));
  });
}
