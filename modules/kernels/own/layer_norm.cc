// SPDX-License-Identifier: Apache-2.0
// tfaot_layer_norm of rows.h: a row at a time, which stays in the first-level cache.
#include "gemm.h"
#include "row_registers.h"
#include "share_rows.h"
#include "tfaot/kernels/rows.h"

namespace {

using tfaot::kernels::LayerNormCall;

struct Columns {
  Int count;
  float part;  // 1 / count
  const float* scale;
  const float* bias;
};

template <int kVectors>
void normalise_short(const Columns& columns, float* y, const float* x, Int rows, float epsilon) {
  using Row = RowInRegisters<kVectors>;
  const Int last = columns.count - (kVectors - 1) * kLanes<float>;
  for (Int r = 0; r < rows; ++r, x += columns.count, y += columns.count) {
    Row row = Row::from(x, last);
    const float mean = columns.part * row.template over<SumOfLanes>();
    row.each([&](Floats v, int /*place*/) { return v - mean; });
    row.end_with(0, last);
    Row squares = row;
    squares.each([](Floats v, int /*place*/) { return v * v; });
    const float variance = columns.part * squares.template over<SumOfLanes>();
    const float factor = 1.0F / __builtin_sqrtf(variance + epsilon);
    const Row scale = Row::from(columns.scale, last);
    const Row bias = Row::from(columns.bias, last);
    row.each([&](Floats v, int place) { return v * factor * scale.v[place] + bias.v[place]; });
    row.to(y, last);
  }
}

void normalise_long(float* y, const float* x, const Columns& columns, float epsilon) {
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

void normalise(float* y, const float* x, Int rows, const Columns& columns, float epsilon) {
  if (in_registers(columns.count, [&](auto vectors) {
        normalise_short<decltype(vectors)::kCount>(columns, y, x, rows, epsilon);
      })) {
    return;
  }
  for (Int r = 0; r < rows; ++r, x += columns.count, y += columns.count) {
    normalise_long(y, x, columns, epsilon);
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(layer_norm)(void* out, const void** in) {
  const auto& call = *static_cast<const LayerNormCall*>(in[0]);
  const auto* const x = static_cast<const float*>(in[1]);
  auto* const y = static_cast<float*>(out);
  const Columns columns = {call.columns, 1.0F / static_cast<float>(call.columns),
                           static_cast<const float*>(in[2]), static_cast<const float*>(in[3])};
  share_rows(call.rows, 1, call.shared, in + 4, [&](Int first, Int end) {
    normalise(y + first * call.columns, x + first * call.columns, end - first, columns,
              static_cast<float>(call.epsilon));
  });
}
