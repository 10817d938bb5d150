// SPDX-License-Identifier: Apache-2.0
// Splits a product into tiles. Rows are processed in blocks that stay in the second-level cache. A
// few panels are multiplied with all rows of a block, over their whole depth, before the next ones.
#include "products/few_rows.h"
#include "products/quads.h"

namespace {

// Adds in a pass of its own, while the results are in the first-level cache: in each kind of tile
// it would be much code.
inline void add_rows(Element* c, const Element* addends, Int row, Int rows, Int columns,
                     Rectifier rectifier) {
  for (Int r = 0; r < rows; ++r, c += row, addends += row) {
    along_row<Element>(columns, [&](Int j, Int count) {
      const Vec<Element> sum = load_some(c + j, count) + load_some(addends + j, count);
      store_some(c + j, rectified<Element>(sum, rectifier), count);
    });
  }
}

// For tiles of further taps, which are added to the contents of c: computes them by multiply(tile).
template <typename Multiply>
void multiply_and_add(int rows, Int columns, const Tiles<Element>& tiles, Int row_elements,
                      const Multiply& multiply) {
  Element sums[kMaxTile * kLanes<Element>];
  Tiles<Element> t = tiles;
  t.count = 1;
  t.c = sums;
  t.c_row = row_elements;
  t.rectifier = Rectifier::kNone;
  for (Int i = 0; i < tiles.count; ++i, t.rows += rows) {
    multiply(t);
    for (Int r = 0; r < rows; ++r) {
      add_rows(tiles.c + (i * rows + r) * tiles.c_row, sums + r * t.c_row, 0, 1, columns,
               tiles.rectifier);
    }
  }
}

// A cut of rows into `larger` tiles of `rows` rows, then `others` of `other_rows`, then one of
// `last_rows` if that is not zero.
struct Cut {
  Int larger, others;
  int rows, other_rows, last_rows;
};

// The most even cut.
Cut even_cut(Int rows, bool narrow) {
  const Int tiles = ceil_div(rows, most_rows<Element>(narrow));
  const int small = static_cast<int>(tiles == 1 ? rows : rows / tiles);
  const Int larger = rows - tiles * small;
  if (larger == 0) return {tiles, 0, small, small, 0};
  return {larger, tiles - larger, small + 1, small, 0};
}

// Tiles for quads, then the rest.
Cut quad_cut(Int rows) {
  constexpr int kRest = kNarrowRows<Element>;
  const Int rest = rows % kQuadRows;
  return {rows / kQuadRows, rest / kRest, kQuadRows, kRest, static_cast<int>(rest % kRest)};
}

// Calls next(tiles, rows of each, whether they are quads) for the parts of a cut, in order.
template <typename Next>
TFAOT_INLINE void multiply_cut(const Cut& cut, bool has_quads, const Next& next) {
  next(cut.larger, cut.rows, has_quads);
  next(cut.others, cut.other_rows, false);
  next(cut.last_rows > 0 ? 1 : 0, cut.last_rows, false);
}

__attribute__((noinline)) void multiply_plain(const PlainProduct& p) {
  const Element* row[kBlockRows];
  for (Int r = 0; r < p.rows; ++r) row[r] = p.a + r * p.a_row;
  const Cut even = even_cut(p.rows, p.narrow);
  const Int vectors = vectors_of(p.columns);
  Tiles<Element> t = plain_tiles(p);
  t.row_start = p.row_bias;
  t.last = kLanes<Element>;
  const bool has_quads = p.narrow && pays_for_quads(t, p.rows, p.columns);
  const Cut cut = has_quads ? quad_cut(p.rows) : even;
  int take = 0;
  for (Int v = 0; v < vectors; v += take) {
    take = next_vectors<Element>(even.rows, p.narrow, vectors - v);
    const Int column = v * kLanes<Element>;
    if (v + take == vectors) t.last = p.columns - (vectors - 1) * kLanes<Element>;
    t.rows = row;
    t.b = vector_at(p.b, p.b_panel, v);
    t.start = p.bias != nullptr ? p.bias + column : kZeros;
    t.row_start = p.row_bias;
    t.c = p.c + column;
    multiply_cut(cut, has_quads, [&](Int count, int tile_rows, bool quads) TFAOT_ALWAYS {
      if (count == 0) return;
      t.count = count;
      quads ? multiply_quads(t) : multiply(tile_rows, take, p.narrow, t);
      const Int done = count * tile_rows;
      t.rows += done;
      if (t.row_start != nullptr) t.row_start += done;
      t.c += done * t.c_row;
    });
  }
}

template <int MR>
__attribute__((noinline)) void multiply_rows(const PlainProduct& p) {
  if (MR > kNarrowRows<Element> && p.narrow) return multiply_plain(p);
  multiply_few<MR>(p);
}
// Rows of products with code of their own; float64 is seldom worth it.
constexpr int kFewRows = TFAOT_IS_F32 ? kMaxRows : 1;
template <int... kRowsLessOne>
TFAOT_INLINE void multiply_few_rows(const PlainProduct& p,
                                    std::integer_sequence<int, kRowsLessOne...> /*rows*/) {
  static constexpr void (*kMultiply[])(const PlainProduct&) = {&multiply_rows<kRowsLessOne + 1>...};
  kMultiply[p.rows - 1](p);
}

// True for a product of one run, one block, and nothing to prefetch: so few rows read the right
// side fast enough without. It has code of its own, as setting up what convolutions need takes as
// long as some products of small nets.
TFAOT_INLINE bool is_plain(const Gemm& g, Int rows) {
  return rows <= kBlockRows && rows == g.row_count[3] && g.c_line == 0 && taps_of(g) == 1 &&
         g.addends == nullptr &&
         (rows <= kFewRows || !is_prefetched(vectors_of(g.columns) * g.run * TFAOT_VECTOR_BYTES));
}

// Iterates over the indices of N nested loops, the last fastest, and keeps the offset.
template <int N>
class Odometer {
 public:
  Odometer(const Int (&count)[N], const Int (&step)[N]) : count_(count), step_(step) {}

  // Goes to index number `done`.
  void seek(Int done) {
    for (int d = N - 1; d >= 0; --d) {
      at_[d] = d == 0 ? done : done % count_[d];
      done /= count_[d];
      offset_ += at_[d] * step_[d];
    }
  }

  // Calls use(i, offset) for the next `count` indices.
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

constexpr Int kMaxTaps = 64;

// The results and operands that all blocks of a product share.
struct Target {
  Element* c;
  Int c_row, columns;
  Int line, c_line;         // rows of a line of c, and the step from one line to the next
  const Element* bias;      // null: none
  const Element* row_bias;  // null: none
  const Element* addends;   // null: none
  bool narrow;
  bool first, last;  // first or last of the taps
  Rectifier rectifier;
};

// A range of columns, in vectors. Tiles begin and end at its limits.
struct Columns {
  Int first, end;
};

// Computes all tiles for some lines of rows and some taps.
void multiply_block(Tiles<Element> t, Int lines, const Target& target, const Columns& part) {
  const Int rows = target.line;
  const Element* const* const first_row = t.rows;
  const Element* const b = t.b;
  const Int vectors = vectors_of(target.columns);
  const Cut even = even_cut(rows, target.narrow);

  const Element* const addends = target.last ? target.addends : nullptr;
  t.rectifier = target.last && addends == nullptr ? target.rectifier : Rectifier::kNone;
  t.c_row = target.c_row;
  t.last = kLanes<Element>;
  const Int bytes = (part.end - part.first) * t.tap_count * t.run * TFAOT_VECTOR_BYTES;
  t.ahead = is_prefetched(bytes) ? kStepsAhead : 0;
  int take = 0;
  for (Int v = part.first; v < part.end; v += take) {
    take = next_vectors<Element>(even.rows, target.narrow, vectors - v);
    const bool has_quads =
        target.narrow && target.row_bias == nullptr && pays_for_quads(t, rows, target.columns);
    const Cut cut = has_quads ? quad_cut(rows) : even;
    const Int column = v * kLanes<Element>;
    const Int columns = smaller(target.columns - column, take * kLanes<Element>);
    t.last = columns - (take - 1) * kLanes<Element>;
    t.b = vector_at(b, t.b_panel, v);
    t.start = kZeros;
    if (target.first && target.bias != nullptr) t.start = target.bias + column;
    const auto next = [&](Int count, int tile_rows, bool quads) {
      if (count == 0) return;
      const auto multiply_some = [&](const Tiles<Element>& some) {
        quads ? multiply_quads(some) : multiply(tile_rows, take, target.narrow, some);
      };
      const auto multiply_next = [&](Int tiles) {
        t.count = tiles;
        if (target.row_bias != nullptr && target.first) {
          t.row_start = target.row_bias + (t.rows - first_row);
        }
        if (target.first) return multiply_some(t);
        multiply_and_add(tile_rows, columns, t, take * kLanes<Element>, multiply_some);
      };
      if (addends == nullptr) {
        multiply_next(count);
        t.rows += count * tile_rows;
        t.c += count * tile_rows * t.c_row;
        return;
      }
      for (Int i = 0; i < count; ++i, t.rows += tile_rows, t.c += tile_rows * t.c_row) {
        const Element* const from = addends + (t.c - target.c);
        multiply_next(1);
        add_rows(t.c, from, t.c_row, tile_rows, columns, target.rectifier);
      }
    };
    for (Int line = 0; line < lines; ++line) {
      t.rows = first_row + line * rows;
      t.c = target.c + column + line * target.c_line;
      multiply_cut(cut, has_quads, next);
    }
  }
}

// Rows that are cut into tiles together.
Int line_of(const Gemm& g, Int rows) { return g.c_line != 0 ? g.row_count[3] : rows; }

// Computes all taps for some rows and columns.
void multiply_taps(const Gemm& g, Tiles<Element> t, Int rows, Int first_row, const Columns& part) {
  const Int taps = taps_of(g);
  Odometer<3> tap(g.tap_count, g.tap_step);
  Int offsets[kMaxTaps];
  const bool has_lines = g.c_line != 0;
  const Int line = line_of(g, rows);
  const Int at = has_lines ? first_row / line * g.c_line : first_row * g.c_row;
  Target target = {g.c + at,
                   g.c_row,
                   g.columns,
                   line,
                   g.c_line,
                   g.bias,
                   g.row_bias == nullptr ? nullptr : g.row_bias + first_row,
                   g.addends == nullptr ? nullptr : g.addends + at,
                   g.narrow,
                   true,
                   false,
                   g.rectifier};
  t.taps = offsets;
  t.run = g.run;
  for (Int first = 0; first < taps; first += t.tap_count) {
    t.tap_count = smaller(kMaxTaps, taps - first);
    tap.next(t.tap_count, [&](Int i, Int offset) { offsets[i] = offset; });
    target.last = first + t.tap_count == taps;
    multiply_block(t, has_lines ? rows / line : 1, target, part);
    target.first = false;
    t.b += t.tap_count * t.run * t.b_step;
  }
  if (g.function == nullptr) return;
  const Int column = part.first * kLanes<Element>;
  const Int columns = smaller(g.columns, part.end * kLanes<Element>) - column;
  for (Int i = 0; i < rows; i += line, target.c += g.c_line) {
    activate({target.c + column, g.c_row, line, columns, g.function});
  }
}

// A cut of rows into blocks of whole lines.
struct Blocks {
  Int rows, unit, count;

  // Rows of the block `number`, which begins at the row `first`.
  Int rows_of(Int number, Int first) const {
    return count == 1 ? rows : ceil_div((rows - first) / unit, count - number) * unit;
  }
};

Blocks blocks_of(const Gemm& g, Int rows) {
  const Int unit = g.row_count[3] <= kBlockRows ? larger(1, g.row_count[3]) : 1;
  return {rows, unit, rows <= kBlockRows ? 1 : ceil_div(rows / unit, kBlockRows / unit)};
}

// A piece of a shared product: a block of rows times one of `parts` parts of the columns.
struct Piece {
  Int block, part, parts;
};

// The piece's part of `vectors` vectors of columns, for lines of `rows` rows: whole tiles, about as
// many in each part.
__attribute__((noinline)) Columns part_of_columns(const Piece& piece, Int rows, bool narrow,
                                                  Int vectors) {
  const int tile_rows = even_cut(rows, narrow).rows;
  Int tiles = 0;
  for (Int v = 0; v < vectors; v += next_vectors<Element>(tile_rows, narrow, vectors - v)) ++tiles;
  const Int first = tiles * piece.part / piece.parts;
  const Int end = tiles * (piece.part + 1) / piece.parts;
  Columns columns = {vectors, 0};
  for (Int i = 0; i < end; ++i) {
    if (i == first) columns.first = columns.end;
    columns.end += next_vectors<Element>(tile_rows, narrow, vectors - columns.end);
  }
  return columns;
}

// Computes a piece, or the whole product. A piece has the tiles that the whole has there, so
// results are the same to the last bit. Not inlined: plain products would pay for preparing its
// loops, too.
__attribute__((noinline)) void multiply_blocks(const Gemm& g, Int rows, const Piece* piece) {
  Odometer<4> row(g.row_count, g.row_step);
  const Element* block[kBlockRows];
  Tiles<Element> t = {};
  t.rows = block;
  t.a_step = g.a_step;
  t.b = g.b;
  t.b_step = g.b_step;
  t.b_panel = g.b_panel;
  const Blocks blocks = blocks_of(g, rows);
  Columns columns = {0, vectors_of(g.columns)};
  Int i = 0, first = 0, end = rows;
  if (piece != nullptr) {
    for (; i < piece->block; ++i) first += blocks.rows_of(i, first);
    const Int count = blocks.rows_of(i, first);
    end = first + count;
    columns = part_of_columns(*piece, line_of(g, count), g.narrow, columns.end);
    row.seek(first);
  }
  for (; first < end; ++i) {
    const Int count = blocks.rows_of(i, first);
    row.next(count, [&](Int r, Int offset) { block[r] = g.a + offset; });
    multiply_taps(g, t, count, first, columns);
    first += count;
  }
}

// Multiply-adds that are worth a piece; those of one or two rows wait for memory.
constexpr Int kPieceWork = Int{1} << 18;
constexpr Int kFewRowsPieceWork = Int{1} << 16;

// Returns false if the caller has to compute it alone.
__attribute__((noinline)) bool multiply_shared(const Gemm& g, Int rows) {
  const Int work = rows * g.columns * taps_of(g) * g.run;
  const Int pieces =
      smaller(kLanePieces * g.tasks->lanes, work / (rows <= 2 ? kFewRowsPieceWork : kPieceWork));
  if (pieces < 2) return false;
  const Int blocks = blocks_of(g, rows).count;
  const Int parts = ceil_div(pieces, blocks);
  share(*g.tasks, blocks * parts, [&](Int piece, Int /*lane*/) {
    const Piece which = {piece / parts, piece % parts, parts};
    multiply_blocks(g, rows, &which);
  });
  return true;
}

}  // namespace

extern "C" void TFAOT_KERNEL(plain_product)(const void* product) {
  const PlainProduct& p = *static_cast<const PlainProduct*>(product);
  const bool is_packed =
      p.a_step == 1 && p.b_step == kPanelColumns<Element> && p.row_bias == nullptr;
  if (p.rows <= kFewRows && is_packed) {
    return multiply_few_rows(p, std::make_integer_sequence<int, kFewRows>());
  }
  multiply_plain(p);
}

extern "C" void TFAOT_KERNEL(gemm)(const void* gemm) {
  const Gemm& g = *static_cast<const Gemm*>(gemm);
  if (g.matrices > 0) {
    Gemm one = g;
    one.matrices = 0;
    for (Int i = 0; i < g.matrices; ++i) {
      TFAOT_KERNEL(gemm)(&one);
      one.a += g.a_matrix;
      one.b += g.b_matrix;
      one.c += g.c_matrix;
    }
    return;
  }
  const Int rows = g.row_count[0] * g.row_count[1] * g.row_count[2] * g.row_count[3];
  if (rows == 0) return;  // of a free size
  if (g.tasks != nullptr && multiply_shared(g, rows)) return;
  if (!is_plain(g, rows)) return multiply_blocks(g, rows, nullptr);
  const PlainProduct plain = {g.a, g.row_step[3], g.a_step,  rows,     g.run,
                              g.b, g.b_step,      g.b_panel, g.bias,   g.row_bias,
                              g.c, g.c_row,       g.columns, g.narrow, g.rectifier};
  TFAOT_KERNEL(plain_product)(&plain);
  activate({g.c, g.c_row, rows, g.columns, g.function});
}
