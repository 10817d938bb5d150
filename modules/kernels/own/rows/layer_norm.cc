// SPDX-License-Identifier: Apache-2.0
// tfaot_layer_norm of abi.h: a row or a few at a time, which stay in the first-level cache. The
// error of a mean is relative to its size. In a flat row, whose numbers are nearly equal, it is
// larger than their differences, so flat rows are computed again with a mean of two parts.
#include "simd/kernel.h"
#include "simd/row_groups.h"

namespace {

// A row is flat if its variance times this is below the square of its mean.
constexpr float kFlat = 1024;

// A bit for each lane of RowNumbers.
TFAOT_INLINE int flat_rows(Floats variances, Floats means) {
  const Floats a = variances * kFlat, b = means * means;
#if TFAOT_VECTOR_BYTES == 64
  return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
#elif TFAOT_VECTOR_BYTES == 32
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
#elif defined(__SSE2__)
  return _mm_movemask_ps(_mm_cmplt_ps(a, b));
#else
  return int{a[0] < b[0]} | int{a[1] < b[1]} << 1 | int{a[2] < b[2]} << 2 | int{a[3] < b[3]} << 3;
#endif
}

struct Columns {
  Int count;
  float part;  // 1 / count
  const float* scale;
  const float* bias;
  float epsilon;
};

// Sums a row, whose vectors are of(place, count).
template <typename Op = SumOfLanes, typename Of>
TFAOT_INLINE float sum_of(Int columns, const Of& of) {
  return over_row<Op>(columns, [&](Int j, Int count) { return first_or(of(j, count), count, 0); });
}

template <typename Of>
TFAOT_INLINE float variance_of(const Columns& columns, const Of& from_mean) {
  return columns.part * sum_of<SumOfSquares>(columns.count, from_mean);
}

template <typename Of>
TFAOT_INLINE void scale_row(float* y, const Columns& columns, float variance, const Of& from_mean) {
  const float factor = 1.0F / __builtin_sqrtf(variance + columns.epsilon);
  along_row(columns.count, [&](Int j, Int count) {
    const Floats scale = load_some(columns.scale + j, count);
    const Floats bias = load_some(columns.bias + j, count);
    store_some(y + j, multiply_add(from_mean(j, count) * factor, scale, bias), count);
  });
}

__attribute__((noinline, cold)) void normalise_flat(float* y, const float* x,
                                                    const Columns& columns) {
  const auto of = [&](Int j, Int count) { return load_some(x + j, count); };
  const auto count_of_all = static_cast<float>(columns.count);
  const float mean = sum_of(columns.count, of) / count_of_all;
  const auto shifted = [&](Int j, Int count) { return of(j, count) - mean; };
  const float rest = sum_of(columns.count, shifted) / count_of_all;
  const auto from_mean = [&](Int j, Int count) { return shifted(j, count) - rest; };
  scale_row(y, columns, variance_of(columns, from_mean), from_mean);
}

// Computes whole groups of kRows rows. Arguments are in registers, as a struct would be waited for.
template <int kRows, int kVectors>
TFAOT_ONE_COPY void normalise_groups(float* y, const float* x, Int rows, Int columns,
                                     const float* scales, const float* biases, float part,
                                     float epsilon) {
  const Int last = columns - (kVectors - 1) * kLanes<float>;
  for (; rows >= kRows; rows -= kRows, x += kRows * columns, y += kRows * columns) {
    auto group = RowGroup<kRows, kVectors>::from(x, columns, last);
    const RowNumbers means = {part * group.template over<SumOfLanes>().lanes};
    group.each([&](Floats v, int r, int /*i*/) { return v - means.of(r); });
    group.end_with(0, last);
    const Floats variances = part * group.template over<SumOfSquares>().lanes;
    const int flat = flat_rows(variances, means.lanes);
    const RowNumbers factors = {1.0F / roots_of(variances + epsilon)};
    const auto scale = RowGroup<1, kVectors>::from(scales, 0, last);
    const auto bias = RowGroup<1, kVectors>::from(biases, 0, last);
    group.each([&](Floats v, int r, int i) {
      return multiply_add(v * factors.of(r), scale.v[0][i], bias.v[0][i]);
    });
    group.to(y, columns, last);
    if (__builtin_expect(flat != 0, 0)) {
      for (int r = 0; r < kRows; ++r) {
        if ((flat >> RowNumbers::lane_of(r) & 1) == 0) continue;
        normalise_flat(y + r * columns, x + r * columns, {columns, part, scales, biases, epsilon});
      }
    }
  }
}

TFAOT_ONE_COPY void normalise_long(float* y, const float* x, Int rows, const Columns& columns) {
  for (; rows > 0; --rows, x += columns.count, y += columns.count) {
    const auto of = [&](Int j, Int count) { return load_some(x + j, count); };
    const float mean = columns.part * sum_of(columns.count, of);
    const auto from_mean = [&](Int j, Int count) { return of(j, count) - mean; };
    const float variance = variance_of(columns, from_mean);
    if (__builtin_expect(variance * kFlat < mean * mean, 0)) {
      normalise_flat(y, x, columns);
    } else {
      scale_row(y, columns, variance, from_mean);
    }
  }
}

void normalise(float* y, const float* x, Int all, const Columns& c) {
  const bool is_done =
      in_registers(all, c.count, [&](auto of_group, auto vectors, Int first, Int rows) {
        normalise_groups<of_group, vectors>(y + first * c.count, x + first * c.count, rows, c.count,
                                            c.scale, c.bias, c.part, c.epsilon);
      });
  if (!is_done) normalise_long(y, x, all, c);
}

}  // namespace

extern "C" void TFAOT_KERNEL(layer_norm)(void* out, const void** in) {
  const auto& call = call_of<LayerNormCall>(in);
  const auto* const x = operand(in, 1);
  auto* const y = static_cast<float*>(out);
  const Columns columns = {call.columns, 1.0F / static_cast<float>(call.columns), operand(in, 2),
                           operand(in, 3), static_cast<float>(call.epsilon)};
  share_rows(call.rows, rows_together(call.columns), call.shared, in + 4, [&](Int first, Int end) {
    normalise(y + first * call.columns, x + first * call.columns, end - first, columns);
  });
}
