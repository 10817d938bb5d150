// SPDX-License-Identifier: Apache-2.0
// tfaot_narrow_matmul of abi.h. A few rows wait for their weights, so they take them as they are
// stored, and widen them in registers. For many rows some panels are widened first.
#include "products/gemm.h"
#include "products/narrow_product.h"
#include "products/rounded_product.h"
#include "products/tile.h"

namespace {

using tfaot::kernels::NarrowMatMulCall;

// Rows whose sums fit into registers, beside what is widened.
template <typename Narrow>
constexpr int kMostNarrowRows = TFAOT_VECTOR_BYTES == 64       ? 8
                                : TFAOT_VECTOR_BYTES == 32     ? 4
                                : TFAOT_VECTOR_REGISTERS == 16 ? 2
                                : Narrow::kSteps == 4          ? 2
                                                               : 4;

// MR rows from `first_row` on by NP panels, which end at most NP - 1 before c's columns do.
template <typename Narrow, int MR, int NP>
__attribute__((noinline)) void stream_panels(const NarrowProduct& p, Int first_row, Int panel) {
  constexpr int kVectors = NP * kVectorsPerPanel;
  constexpr int kSums = sums_per_element(MR * kVectors);
  constexpr int kGroups = kSums > Narrow::kSteps ? kSums / Narrow::kSteps : 1;
  const Int depth = p.call.depth;
  const Int panel_bytes = narrow_panel_bytes<Narrow>(depth);
  const unsigned char* b = p.panels + panel * panel_bytes;
  const float* a[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) a[r] = p.a + (first_row + r) * p.call.lhs_row_stride;
  Vec<float> sums[kSums][MR][kVectors] = {};
  const auto add_group = [&](int first, Int k, int steps) __attribute__((always_inline)) {
    typename Narrow::Group group[kVectors];
    TFAOT_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      group[v] = Narrow::load(b + v / kVectorsPerPanel * panel_bytes, v % kVectorsPerPanel);
    }
    TFAOT_UNROLL
    for (int i = 0; i < Narrow::kSteps; ++i) {
      if (i >= steps) break;
      Vec<float> right[kVectors];
      TFAOT_UNROLL
      for (int v = 0; v < kVectors; ++v) right[v] = Narrow::step(group[v], i);
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) {
        TFAOT_UNROLL
        for (int v = 0; v < kVectors; ++v)
          sums[(first + i) % kSums][r][v] += right[v] * a[r][k + i];
      }
    }
    b += Narrow::kGroupBytes;
  };
  constexpr Int kTurn = kGroups * Narrow::kSteps;
  Int k = 0;
  for (; k + kTurn <= depth; k += kTurn) {
    TFAOT_UNROLL
    for (int g = 0; g < kGroups; ++g) {
      add_group(g * Narrow::kSteps, k + g * Narrow::kSteps, Narrow::kSteps);
    }
  }
  for (; k + Narrow::kSteps <= depth; k += Narrow::kSteps) add_group(0, k, Narrow::kSteps);
  if (k < depth) add_group(0, k, static_cast<int>(depth - k));

  TFAOT_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const Int at = panel * kColumns + v * kLanes<float>;
    const Int count = columns_of(p.call.columns - panel * kColumns, v);
    if (count <= 0) return;
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int half = kSums / 2; half > 0; half /= 2) {
        TFAOT_UNROLL
        for (int i = 0; i < half; ++i) sums[i][r][v] += sums[i + half][r][v];
      }
      Vec<float> sum = sums[0][r][v];
      if (p.scale != nullptr) sum *= load_first(p.scale + at, count);
      finish_sums(p, sum, first_row + r, at, count);
    }
  }
}

// As many blocks of MR rows as there are, by NP panels; returns the rows that are done.
template <typename Narrow, int MR, int NP>
TFAOT_INLINE Int stream_rows(const NarrowProduct& p, Int done, Int panel) {
  constexpr bool kIsTail = NP < kRowsPanels;  // one panel at most, so it need not be the fastest
  constexpr int kMost = NP > kRowsPanels ? 1 : kIsTail ? 2 : kMostNarrowRows<Narrow>;
  if constexpr (MR <= kMost) {
    for (; p.call.rows - done >= MR; done += MR) stream_panels<Narrow, MR, NP>(p, done, panel);
  }
  return done;
}

// All rows by as many blocks of NP panels as there are; returns the next panel.
template <typename Narrow, int NP>
TFAOT_INLINE Int stream_blocks(const NarrowProduct& p, Int panel, Int panels) {
  for (; panel + NP <= panels; panel += NP) {
    Int done = stream_rows<Narrow, 8, NP>(p, 0, panel);
    done = stream_rows<Narrow, 4, NP>(p, done, panel);
    done = stream_rows<Narrow, 2, NP>(p, done, panel);
    stream_rows<Narrow, 1, NP>(p, done, panel);
  }
  return panel;
}

// Panels nearly in memory order; each meets all rows. Weights that come from the third-level cache
// are waited for, so a row alone takes them in that order.
template <typename Narrow>
void multiply_stream(const NarrowProduct& p) {
  const Int panels = ceil_div(p.call.columns, kColumns);
  Int panel = 0;
  if (p.call.rows == 1 && p.is_near) panel = stream_blocks<Narrow, kRowPanels>(p, panel, panels);
  if constexpr (kRowsPanels > 1) {
    if (p.call.rows > 1 || p.is_near) panel = stream_blocks<Narrow, kRowsPanels>(p, panel, panels);
  }
  stream_blocks<Narrow, 1>(p, panel, panels);
}

// The panel of columns [column, column + columns) as float.
template <typename Narrow>
TFAOT_INLINE void widen_panel(const NarrowProduct& p, Int panel, float* to) {
  const Int depth = p.call.depth;
  const unsigned char* b = p.panels + panel * narrow_panel_bytes<Narrow>(depth);
  float scale[kColumns];
  for (Int j = 0; j < kColumns; ++j) {
    const Int column = panel * kColumns + j;
    scale[j] = p.scale == nullptr || column >= p.call.columns ? 1 : p.scale[column];
  }
  for (Int k = 0; k < depth; k += Narrow::kSteps, b += Narrow::kGroupBytes) {
    const int steps = static_cast<int>(smaller(Narrow::kSteps, depth - k));
    TFAOT_UNROLL
    for (int v = 0; v < kVectorsPerPanel; ++v) {
      const auto group = Narrow::load(b, v);
      for (int i = 0; i < steps; ++i) {
        store(to + (k + i) * kColumns + v * kLanes<float>,
              Narrow::step(group, i) * load(scale + v * kLanes<float>));
      }
    }
  }
}

template <typename Narrow>
void multiply_widened(const NarrowProduct& p) {
  const MatMulCall& call = p.call;
  Gemm g = plain_product(call.rows, call.lhs_row_stride, call.depth);
  g.a_step = call.lhs_depth_stride;
  g.b = p.scratch;
  g.c_row = p.c_row;
  g.rectifier = p.rectifier;
  const Int step = tfaot::kernels::widened_panels(call) * kColumns;
  for (Int column = 0; column < call.columns; column += step) {
    g.columns = smaller(step, call.columns - column);
    for (Int j = 0; j < g.columns; j += kColumns) {
      widen_panel<Narrow>(p, (column + j) / kColumns, p.scratch + j * call.depth);
    }
    if (p.bias != nullptr) g.bias = p.bias + column;
    for (Int b = 0; b < call.batch; ++b) {
      g.a = p.a + b * call.lhs_batch_stride;
      g.c = p.c + b * call.rows * p.c_row + column;
      TFAOT_KERNEL(gemm)(&g);
    }
  }
}

// How rows in memory order meet weights. Only int8 is worth rounding them: it has fewer bits
// itself.
template <typename Narrow>
struct RowsInOrder {
  static constexpr bool kAny = false;  // any number of rows
  static void multiply(const NarrowProduct& p) { multiply_stream<Narrow>(p); }
};
#if TFAOT_CAN_ROUND_ROWS
template <>
struct RowsInOrder<Int8> {
  static constexpr bool kAny = true;
  static void multiply(const NarrowProduct& p) { multiply_by_rounding(p); }
};
#endif

template <typename Narrow>
TFAOT_ONE_COPY void multiply(const NarrowProduct& p) {
  const bool in_order = RowsInOrder<Narrow>::kAny && p.call.lhs_depth_stride == 1;
  if (!in_order && tfaot::kernels::is_widened_first(p.call)) return multiply_widened<Narrow>(p);
  if (p.call.batch == 1) return RowsInOrder<Narrow>::multiply(p);  // without a copy to wait for
  for (Int b = 0; b < p.call.batch; ++b) {
    NarrowProduct one = p;
    one.a += b * p.call.lhs_batch_stride;
    one.c += b * p.call.rows * p.c_row;
    RowsInOrder<Narrow>::multiply(one);
  }
}

struct SharedPanels {
  const NarrowProduct& product;
  const tfaot::Tasks& tasks;
  Int panels, parts;
};

// Where a piece begins: as without pieces, a row meets the same panels together.
TFAOT_INLINE Int first_panel(const SharedPanels& shared, Int piece) {
  if (piece == shared.parts) return shared.panels;
  const Int panel = shared.panels * piece / shared.parts;
  return panel - panel % kRowPanels;
}

// Some of the columns.
template <typename Narrow>
void panels_piece(void* context, Int piece, Int lane) {
  const auto& shared = *static_cast<const SharedPanels*>(context);
  const NarrowProduct& all = shared.product;
  const Int panel = first_panel(shared, piece);
  const Int column = panel * kColumns;
  const Int end = first_panel(shared, piece + 1) * kColumns;
  MatMulCall call = all.call;
  call.columns = smaller(call.columns, end) - column;
  multiply<Narrow>({call, all.a, all.panels + panel * narrow_panel_bytes<Narrow>(call.depth),
                    all.scale != nullptr ? all.scale + column : nullptr,
                    all.bias != nullptr ? all.bias + column : nullptr, all.c + column, all.c_row,
                    scratch_of(shared.tasks, lane), all.rectifier, all.is_near});
}

// False: it is to be computed alone.
template <typename Narrow>
bool multiply_shared(const NarrowProduct& p, tfaot::Tasks& tasks) {
  constexpr Int kPieceWork = Int{1} << 17;  // multiply-adds that are worth a piece
  constexpr Int kPiecePanels = 4;           // each piece rounds all rows for itself
  const MatMulCall& call = p.call;
  const Int panels = ceil_div(call.columns, kColumns);
  const Int work = call.batch * call.rows * call.columns * call.depth;
  const Int most = smaller(panels / kPiecePanels, work / kPieceWork);
  SharedPanels shared = {p, tasks, panels, smaller(most, kLanePieces * tasks.lanes)};
  if (shared.parts < 2) return false;
  tasks.run(tasks, shared.parts, &panels_piece<Narrow>, &shared);
  return true;
}

template <typename Narrow>
void multiply_by(const NarrowProduct& p, tfaot::Tasks* tasks) {
  if (tasks == nullptr || !multiply_shared<Narrow>(p, *tasks)) multiply<Narrow>(p);
}

}  // namespace

extern "C" void TFAOT_KERNEL(narrow_matmul)(void* out, const void** in) {
  constexpr Int kNearBytes = 192 << 10;
  const auto& narrow = *static_cast<const NarrowMatMulCall*>(in[0]);
  auto* const* const results = static_cast<void* const*>(out);
  const MatMulCall& call = narrow.product;
  const void** next = in + 3;
  const auto* const scale =
      narrow.rhs_type == tfaot::kernels::kInt8 ? static_cast<const float*>(*next++) : nullptr;
  const auto* const bias = (call.epilogue & tfaot::kernels::kEpilogueBias) != 0
                               ? static_cast<const float*>(*next++)
                               : nullptr;
  MatMulCall of_live;
  if (call.live_rows != 0) {
    of_live = call;
    of_live.rows = call.live_rows * *static_cast<const Int*>(*next++);
  }
  const bool shares = (call.epilogue & tfaot::kernels::kEpilogueShared) != 0;
  tfaot::Tasks* const tasks = shares ? tasks_at(*next) : nullptr;
  const NarrowProduct p = {
      call.live_rows != 0 ? of_live : call,
      static_cast<const float*>(in[1]),
      static_cast<const unsigned char*>(in[2]),
      scale,
      bias,
      static_cast<float*>(results[0]),
      call.columns,
      static_cast<float*>(results[1]),
      rectifier_of(call.epilogue),
      tfaot::kernels::narrow_bytes(narrow.rhs_type) * call.columns * call.depth < kNearBytes};
  switch (narrow.rhs_type) {
    case tfaot::kernels::kBfloat16:
      return multiply_by<Bfloat16>(p, tasks);
    case tfaot::kernels::kFloat16:
      return multiply_by<Float16>(p, tasks);
    default:
      return multiply_by<Int8>(p, tasks);
  }
}
