// SPDX-License-Identifier: Apache-2.0
// Cuts a product into tiles. Rows are taken in blocks that stay in the second-level cache, the
// depth in blocks whose panels stay in the first-level cache; within a block, a few panels meet all
// rows before the next panels do.
#include "gemm.h"

#include "stream.h"
#include "tiles.h"

namespace {

constexpr Int kBlockRows = 480;  // a multiple of every tile's rows
constexpr Int kBlockTaps = 64;
constexpr Int kBlockDepth = 512;

// Counts through the indices of up to four loops, the last fastest, and keeps the offset.
template <int N>
class Odometer {
 public:
  Odometer(const Int (&count)[N], const Int (&step)[N]) : count_(count), step_(step) {}

  // use(i, offset) for the next `count` indices.
  template <typename Use>
  TFAOT_INLINE void next(Int count, const Use& use) {
    for (Int i = 0; i < count;) {
      const Int end = smaller(count, i + count_[N - 1] - at_[N - 1]);
      at_[N - 1] += end - i;
      for (; i < end; ++i, offset_ += step_[N - 1]) use(i, offset_);
      carry();
    }
  }

 private:
  void carry() {
    for (int d = N - 1; d >= 0 && at_[d] == count_[d]; --d) {
      offset_ -= count_[d] * step_[d];
      at_[d] = 0;
      if (d == 0) return;
      offset_ += step_[d - 1];
      ++at_[d - 1];
    }
  }

  const Int (&count_)[N];
  const Int (&step_)[N];
  Int at_[N] = {};
  Int offset_ = 0;
};

// The largest of `parts` equal pieces.
TFAOT_INLINE Int piece_of(Int total, Int parts) {
  return parts == 1 ? total : ceil_div(total, parts);  // a division takes long
}

// The same for all blocks of a product.
struct Target {
  Element* c;
  Int c_row, columns;
  const Element* bias;  // null: none
  Lines lines;
  bool first, last;  // block of the depth
  bool relu;
};

constexpr Element kZeros[kMaxVectors * kLanes<Element>] = {};

// For tiles whose last columns are beyond those of c, where there are no masks.
struct Spill {
  Element bias[kMaxVectors * kLanes<Element>];
  Element c[kMaxSums * kLanes<Element>];
};

void multiply_spilled(int rows, int vectors, Tile<Element> t, Int columns, Spill& spill) {
  Element* const c = t.c;
  const Int c_row = t.c_row;
  t.c = spill.c;
  t.c_row = vectors * kLanes<Element>;
  if (t.start == c) {
    t.start = t.c;
    t.start_row = t.c_row;
    for (Int r = 0; r < rows; ++r) copy_elements(t.c + r * t.c_row, c + r * c_row, columns);
  }
  multiply(rows, vectors, t);
  for (Int r = 0; r < rows; ++r) copy_elements(c + r * c_row, t.c + r * t.c_row, columns);
}

// How rows are cut: `larger` tiles of `rows` rows, then `others` of at most `other_rows`, which
// have `rest` rows together.
struct Cut {
  Int larger, others, rest;
  int rows, other_rows;
};

// As even as it goes.
Cut even_cut(Int rows) {
  const Int tiles = ceil_div(rows, kMaxRows);
  const int small = static_cast<int>(tiles == 1 ? rows : rows / tiles);
  const Int larger = rows - tiles * small;
  if (larger == 0) return {tiles, 0, 0, small, small};
  return {larger, tiles - larger, small * (tiles - larger), small + 1, small};
}

// All tiles that there are of that many rows.
Cut full_cut(Int rows, int tile_rows) {
  const Int rest = rows % tile_rows;
  return {rows / tile_rows, ceil_div(rest, kMaxRows), rest, tile_rows, kMaxRows};
}

// All tiles of some rows and one block of the depth.
void multiply_block(Tile<Element> t, Int rows, const Target& target) {
  const Element* const* const first_row = t.rows;
  const Element* const b = t.b;
  const Int vectors = ceil_div(target.columns, kLanes<Element>);
  const Int last = target.columns - (vectors - 1) * kLanes<Element>;
  const Cut even = even_cut(rows);
  Spill spill;

  t.relu = target.relu && target.last;
  t.c_row = target.c_row;
  t.last = kLanes<Element>;
  int take = 0;
  for (Int v = 0; v < vectors; v += take) {
    take = next_vectors(even.rows, vectors - v);
    const Form form = v + take == vectors ? form_of(rows, target.lines, take, last) : Form{};
    const Cut cut = form.shape == Shape::kPlain ? even : full_cut(rows, form.rows);
    const Int column = v * kLanes<Element>;
    const Int columns = smaller(target.columns - column, take * kLanes<Element>);
    bool spilled = columns < take * kLanes<Element>;
    if (TFAOT_HAS_MASKS) {
      t.last = columns - (take - 1) * kLanes<Element>;
      spilled = false;
    }
    t.b = b + v / kVectorsPerPanel * t.b_panel + v % kVectorsPerPanel * kLanes<Element>;
    t.rows = first_row;
    t.c = target.c + column;
    t.start = target.bias == nullptr ? kZeros : target.bias + column;
    t.start_row = 0;
    if (spilled && target.bias != nullptr) {
      copy_elements(spill.bias, t.start, columns);
      t.start = spill.bias;
    }
    Int rest = cut.rest;
    for (Int i = 0; i < cut.larger + cut.others; ++i) {
      int count = cut.rows;
      if (i >= cut.larger) {
        count = static_cast<int>(smaller(cut.other_rows, rest));
        rest -= count;
      }
      if (!target.first) {
        t.start = t.c;
        t.start_row = t.c_row;
      }
      if (form.shape != Shape::kPlain && i < cut.larger) {
        multiply_formed(form, take, t);
      } else if (spilled) {
        multiply_spilled(count, take, t, columns, spill);
      } else {
        multiply(count, take, t);
      }
      t.rows += count;
      t.c += count * t.c_row;
    }
  }
}

// All blocks of the depth for some rows.
void multiply_depth(const Gemm& g, Tile<Element> t, Int rows, Int first_row) {
  const Int taps = g.tap_count[0] * g.tap_count[1] * g.tap_count[2];
  const Int pieces = larger(1, ceil_div(g.run, kBlockDepth));  // of one tap
  const Int piece = larger(1, piece_of(g.run, pieces));
  const Int most = taps == 1 ? 1 : larger(1, smaller(kBlockTaps, kBlockDepth / piece));
  const Int group = taps <= most ? taps : ceil_div(taps, ceil_div(taps, most));

  Odometer<3> tap(g.tap_count, g.tap_step);
  Int offsets[kBlockTaps];
  const bool one_line = g.row_count[0] * g.row_count[1] * g.row_count[2] == 1;
  Target target = {g.c + first_row * g.c_row,
                   g.c_row,
                   g.columns,
                   g.bias,
                   {one_line ? 0 : g.row_count[3], first_row},
                   true,
                   false,
                   g.relu};
  t.taps = offsets;
  for (Int first = 0; first < taps; first += group) {
    t.tap_count = smaller(group, taps - first);
    tap.next(t.tap_count, [&](Int i, Int offset) { offsets[i] = offset; });
    for (Int k = 0; k < g.run || k == 0; k += piece) {
      t.run = smaller(piece, g.run - k);
      target.last = first + group >= taps && k + piece >= g.run;
      multiply_block(t, rows, target);
      target.first = false;
      t.b += t.tap_count * t.run * t.b_step;
      for (Int i = 0; i < t.tap_count; ++i) offsets[i] += piece * g.a_step;
    }
  }
}

// One or two rows of a plain product by packed panels: all whole panels, which is how many.
Int stream_panels(const Gemm& g, Int rows) {
  const Int panels = g.columns / kPanelColumns<Element>;
  const Int taps = g.tap_count[0] * g.tap_count[1] * g.tap_count[2];
  if (rows > 2 || taps != 1 || g.a_step != 1 || g.b_step != kPanelColumns<Element> ||
      g.b_panel != g.run * g.b_step || panels == 0) {
    return 0;
  }
  Stream<Element> s = {g.a, 0, g.run, g.b, g.bias, g.c, g.c_row, g.relu};
  if (rows == 1) {
    multiply_stream<Element, 1, 1>(s, panels);
  } else {
    for (int d = 0; d < 4; ++d) s.a_row += g.row_count[d] == 2 ? g.row_step[d] : 0;
    multiply_stream<Element, 2, TFAOT_CAN_SPREAD && kVectorsPerPanel == 1 ? 1 : 2>(s, panels);
  }
  return panels;
}

}  // namespace

extern "C" void TFAOT_KERNEL(gemm)(const void* gemm) {
  Gemm g = *static_cast<const Gemm*>(gemm);
  const Int rows = g.row_count[0] * g.row_count[1] * g.row_count[2] * g.row_count[3];
  if (const Int panels = stream_panels(g, rows); panels > 0) {
    const Int columns = panels * kPanelColumns<Element>;
    if (columns == g.columns) return;
    g.columns -= columns;
    g.c += columns;
    g.b += panels * g.b_panel;
    if (g.bias != nullptr) g.bias += columns;
  }
  Odometer<4> row(g.row_count, g.row_step);
  const Element* block[kBlockRows];
  Tile<Element> t = {};
  t.rows = block;
  t.a_step = g.a_step;
  t.b = g.b;
  t.b_step = g.b_step;
  t.b_panel = g.b_panel;
  const Int blocks = ceil_div(rows, kBlockRows);
  for (Int i = 0, first = 0; i < blocks; ++i) {
    const Int count = piece_of(rows - first, blocks - i);
    row.next(count, [&](Int r, Int offset) { block[r] = g.a + offset; });
    multiply_depth(g, t, count, first);
    first += count;
  }
}
