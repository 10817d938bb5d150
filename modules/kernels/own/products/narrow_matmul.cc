// SPDX-License-Identifier: Apache-2.0
// tfaot_narrow_matmul of abi.h. Weights are read as they are stored, and widened in registers.
#include "products/gemm.h"
#include "products/microkernel.h"
#include "products/pairs.h"

namespace {

// Weights in fewer bits, widened to vectors of float: load() reads vector v of a group, step()
// returns its numbers for step i.
using Words = Vec<std::uint32_t>;

struct GroupsOfWords {
  using Group = Words;
  static constexpr Int kGroupBytes = kPanelBytes;
  static TFAOT_INLINE Group load(const unsigned char* group, int v) {
    auto words = read_as<Words>(group + v * TFAOT_VECTOR_BYTES);
    keep(words);
    return words;
  }
};

struct Bfloat16 : GroupsOfWords {
  static constexpr int kSteps = 2;
  static TFAOT_INLINE Vec<float> step(Group words, int i) {
    return Vec<float>(i == 0 ? words << 16 : words & 0xFFFF0000U);
  }
};

struct Int8 : GroupsOfWords {
  static constexpr int kSteps = 4;
  static TFAOT_INLINE Vec<float> step(Group words, int i) {
    return __builtin_convertvector(SignedWords(words << (24 - 8 * i)) >> 24, Vec<float>);
  }
};

struct Float16 {
  using Group = Vec<float>;
  static constexpr int kSteps = 1;
  static constexpr Int kGroupBytes = kPanelBytes / 2;

  static TFAOT_INLINE Vec<float> step(Group wide, int /*i*/) { return wide; }
  static TFAOT_INLINE Group load(const unsigned char* group, int v) {
    const unsigned char* const from = group + v * (TFAOT_VECTOR_BYTES / 2);
#if defined(__AVX512F__)
    return _mm512_maskz_cvtph_ps(0xFFFF, read_as<__m256i>(from));
#elif defined(__F16C__)
    return _mm256_cvtph_ps(read_as<__m128i>(from));
#elif defined(__aarch64__)
    using HalfFloats = VecOf<__fp16, TFAOT_VECTOR_BYTES / 2>::Type;
    return __builtin_convertvector(read_as<HalfFloats>(from), Vec<float>);
#else
    using HalfFloats = VecOf<std::uint16_t, TFAOT_VECTOR_BYTES / 2>::Type;
    const Words words = __builtin_convertvector(read_as<HalfFloats>(from), Words);
    const Words exponent = words & 0x7C00U;
    // Normal numbers, with the other bias of the exponent; subnormal ones, multiples of 2^-24; and
    // infinities and NaN.
    const Words normal = ((words & 0x7FFFU) << 13) + (112U << 23);
    const Vec<float> small =
        __builtin_convertvector(SignedWords(words & 0x03FFU), Vec<float>) * 0x1p-24F;
    const Words is_small = Words(exponent == 0U);
    const Words is_large = Words(exponent == 0x7C00U);
    return Vec<float>((Words(small) & is_small) | (normal & ~is_small) | (is_large & 0x7F800000U) |
                      ((words & 0x8000U) << 16));
#endif
  }
};

// A product with weights in fewer bits.
struct NarrowProduct {
  const MatMulCall& call;  // with the rows that count
  const float* a;
  const unsigned char* panels;
  const float* scale;  // null: none
  const float* bias;   // null: none
  float* c;
  Int c_row;  // from one row of c to the next
  float* scratch;
  Rectifier rectifier;
};

constexpr Int kColumns = kPanelColumns<float>;

// Panels that a row alone, or several rows, are multiplied with at a time: loading one of their
// numbers takes as long as loading a vector of weights.
constexpr int kPanelsOfRow = TFAOT_VECTOR_BYTES == 64 ? 4 : TFAOT_VECTOR_BYTES == 32 ? 2 : 1;
constexpr int kPanelsOfRows = TFAOT_VECTOR_BYTES == 64 ? 2 : 1;

template <typename Narrow>
constexpr Int narrow_panel_bytes(Int depth) {
  return ceil_div(depth, Narrow::kSteps) * Narrow::kGroupBytes;
}

// Calls use(v, first column, columns) for each vector of columns from a panel on.
template <int kVectors, typename Use>
TFAOT_INLINE void each_vector(const NarrowProduct& p, Int panel, const Use& use) {
  TFAOT_EACH (v, kVectors) {
    const Int at = panel * kColumns + v * kLanes<float>;
    if (at < p.call.columns) use(v, at, smaller(kLanes<float>, p.call.columns - at));
  }
}

// Calls use(block, row) for blocks of kMost rows while they last, then of 4, 2 and 1.
template <int kMost, typename Use>
TFAOT_INLINE void for_blocks(Int rows, const Use& use, Int done = 0) {
  for (; rows - done >= kMost; done += kMost) use(Number<kMost>(), done);
  if constexpr (kMost > 1) for_blocks<(kMost > 4 ? 4 : kMost / 2)>(rows, use, done);
}

// Stores `count` results of a row from its scaled sums. bias: null if the sums began with it.
TFAOT_INLINE void finish_sums(const NarrowProduct& p, const float* bias, Vec<float> sum, Int row,
                              Int at, Int count) {
  if (bias != nullptr) sum += load_first(bias + at, count);
  store_first(p.c + row * p.c_row + at, rectified<float>(sum, p.rectifier), count);
}

// Only int8 weights are worth rounding the rows that they are multiplied with (multiply_rounded()):
// they have fewer bits themselves.
template <typename Narrow>
constexpr bool kRoundsRows = std::is_same_v<Narrow, Int8>;
// Only rows in memory order are rounded.
TFAOT_INLINE bool is_in_order(const NarrowProduct& p) { return p.call.lhs_depth_stride == 1; }

// Rows whose sums fit into registers with the widened weights.
constexpr int kMostNarrowRows = TFAOT_VECTOR_BYTES == 64       ? 6
                                : TFAOT_VECTOR_BYTES == 32     ? 2
                                : TFAOT_VECTOR_REGISTERS == 16 ? 1
                                                               : 2;

// Multiplies MR rows from `first_row` on by NP panels, the last of which may lie beyond c's
// columns.
template <typename Narrow, int MR, int NP, int kSums>
__attribute__((noinline)) void stream_panels(const NarrowProduct& p, Int first_row, Int panel) {
  constexpr int kVectors = NP * kVectorsPerPanel;
  constexpr int kGroups = kSums > Narrow::kSteps ? kSums / Narrow::kSteps : 1;
  const Int depth = p.call.depth, a_step = p.call.lhs_depth_stride;
  const Int panel_bytes = narrow_panel_bytes<Narrow>(depth);
  const unsigned char* b = p.panels + panel * panel_bytes;
  const float* a[MR];
  TFAOT_EACH (r, MR) a[r] = p.a + (first_row + r) * p.call.lhs_row_stride;
  Vec<float> sums[kSums][MR][kVectors] = {};
  // A sum of rounded rows ends with it.
  const bool begins_with_bias = !kRoundsRows<Narrow> || !is_in_order(p);
  if (begins_with_bias && p.bias != nullptr) {
    each_vector<kVectors>(p, panel, [&](int v, Int at, Int count) TFAOT_ALWAYS {
      const Vec<float> bias = load_first(p.bias + at, count);
      TFAOT_EACH (r, MR) sums[0][r][v] = bias;
    });
  }
  // Int8 rows that could not be rounded: the sums of a large one may overflow before they are
  // scaled.
  [[maybe_unused]] Vec<float> scale[kVectors] = {};
  if constexpr (kRoundsRows<Narrow>) {
    each_vector<kVectors>(p, panel, [&](int v, Int at, Int count) TFAOT_ALWAYS {
      scale[v] = load_first(p.scale + at, count);
    });
  }
  const auto add_group = [&](int first, Int k, int steps) TFAOT_ALWAYS {
    typename Narrow::Group group[kVectors];
    TFAOT_EACH (v, kVectors) {
      group[v] = Narrow::load(b + v / kVectorsPerPanel * panel_bytes, v % kVectorsPerPanel);
    }
    TFAOT_EACH (i, Narrow::kSteps) {
      if (i >= steps) break;
      Vec<float> right[kVectors];
      TFAOT_EACH (v, kVectors) {
        right[v] = Narrow::step(group[v], i);
        if constexpr (kRoundsRows<Narrow>) right[v] *= scale[v];
      }
      TFAOT_EACH (r, MR) {
        TFAOT_EACH (v, kVectors) {
          Vec<float>& sum = sums[(first + i) % kSums][r][v];
          sum = multiply_add(right[v], a[r][(k + i) * a_step], sum);
        }
      }
    }
    b += Narrow::kGroupBytes;
  };
  constexpr Int kTurn = kGroups * Narrow::kSteps;
  Int k = 0;
  for (; k + kTurn <= depth; k += kTurn) {
    TFAOT_EACH (g, kGroups) {
      add_group(g * Narrow::kSteps, k + g * Narrow::kSteps, Narrow::kSteps);
    }
  }
  TFAOT_EACH (g, kGroups) {
    const Int left = depth - k;
    if (left <= 0) break;
    add_group(g * Narrow::kSteps, k, static_cast<int>(smaller(left, Narrow::kSteps)));
    k += Narrow::kSteps;
  }

  each_vector<kVectors>(p, panel, [&](int v, Int at, Int count) TFAOT_ALWAYS {
    TFAOT_EACH (r, MR) {
      finish_sums(p, begins_with_bias ? nullptr : p.bias, join_sums(sums, r, v), first_row + r, at,
                  count);
    }
  });
}

// Multiplies all rows by blocks of NP panels while they last; returns the next panel.
template <typename Narrow, int NP>
TFAOT_INLINE Int stream_blocks(const NarrowProduct& p, Int panel, Int panels) {
  constexpr bool kIsTail = NP < kPanelsOfRows;  // one panel at most, so it need not be the fastest
  constexpr bool kIsAlone = NP > kPanelsOfRows || kRoundsRows<Narrow>;
  constexpr int kMost = kIsAlone ? 1 : kIsTail ? 2 : kMostNarrowRows;
  for (; panel + NP <= panels; panel += NP) {
    for_blocks<kMost>(p.call.rows, [&](auto block, Int row) {
      stream_panels<Narrow, block, NP, kWideSums>(p, row, panel);
    });
  }
  return panel;
}

// Takes the panels nearly in memory order, each with all rows. Rows that are rounded elsewhere are
// rare here: they take one panel at a time.
template <typename Narrow>
void multiply_stream(const NarrowProduct& p) {
  if (is_narrow(p.call.columns)) {
    for (Int row = 0; row < p.call.rows; ++row) stream_panels<Narrow, 1, 1, kNarrowSums>(p, row, 0);
    return;
  }
  const Int panels = ceil_div(p.call.columns, kColumns);
  Int panel = 0;
  if constexpr (!kRoundsRows<Narrow>) {
    if (p.call.rows == 1) panel = stream_blocks<Narrow, kPanelsOfRow>(p, panel, panels);
    if constexpr (kPanelsOfRows > 1) panel = stream_blocks<Narrow, kPanelsOfRows>(p, panel, panels);
  }
  stream_blocks<Narrow, 1>(p, panel, panels);
}

// Rows that are rounded to whole numbers of 16 bits for int8 weights, times a number for each row:
// 1 / 32767 of its largest. Then a multiply-add takes two steps of the depth, and their sums are
// exact. Rows that hold NaN or infinities, or are too large or too small for that, are multiplied
// as they are.
constexpr int kRoundedSteps = Int8::kSteps;
// The products of this many groups, of 16 bits by 8, fit into a sum of 32 bits.
constexpr Int kGroupsPerSum = 128;
static_assert(kRoundedSteps * 32767 * 128 * kGroupsPerSum <= INT32_MAX, "sums overflow");
// Rows of a tile, by the registers that hold its sums.
constexpr int kMostRoundedRows = TFAOT_VECTOR_BYTES == 64                                   ? 8
                                 : TFAOT_VECTOR_BYTES == 16 && TFAOT_VECTOR_REGISTERS == 16 ? 1
                                                                                            : 2;

// The largest of a vector's lanes.
TFAOT_INLINE std::int32_t largest_lane(SignedWords largest) {
  const auto meet = [&](auto other) TFAOT_ALWAYS { largest = other > largest ? other : largest; };
  if constexpr (sizeof largest == 64) meet(shuffle<MovedLanes<8>>(largest, largest));
  if constexpr (sizeof largest >= 32) meet(shuffle<MovedLanes<4>>(largest, largest));
  meet(shuffle<MovedLanes<2>>(largest, largest));
  meet(shuffle<MovedLanes<1>>(largest, largest));
  return largest[0];
}

// The bits of a row's largest magnitude; those of a NaN are larger than all others.
TFAOT_INLINE std::int32_t largest_bits(const float* row, Int count) {
  SignedWords largest = {};
  along_row(count, [&](Int k, Int some) TFAOT_ALWAYS {
    const SignedWords bits = SignedWords(load_some(row + k, some)) & INT32_MAX;
    largest = bits > largest ? bits : largest;
  });
  return largest_lane(largest);
}

TFAOT_INLINE void round_vector(std::int16_t* to, Vec<float> v) {
  constexpr float kRounder = 12582912.0F;  // leaves whole numbers in the last bits
  const SignedWords words = SignedWords(v + kRounder) - SignedWords(Vec<float>{} + kRounder);
  const auto halves =
      __builtin_convertvector(words, VecOf<std::int16_t, TFAOT_VECTOR_BYTES / 2>::Type);
  __builtin_memcpy(to, &halves, sizeof halves);
}

// Writes the rounded row with zeros up to a whole vector, and returns its scale; negative if it
// cannot be rounded.
TFAOT_INLINE float round_row(std::int16_t* to, const float* row, Int count) {
  constexpr float kSmallest = 1e-20F, kLargestRounded = 1e27F;
  const std::int32_t bits = largest_bits(row, count);
  const auto largest = read_as<float>(&bits);
  if (bits != 0 && !(largest >= kSmallest && largest <= kLargestRounded)) return -1;
  const float inverse = bits == 0 ? 0.0F : 32767.0F / largest;
  along_row(count, [&](Int k, Int some)
                       TFAOT_ALWAYS { round_vector(to + k, load_some(row + k, some) * inverse); });
  return largest * (1.0F / 32767.0F);
}

// Some rows of the product, rounded.
struct RoundedRows {
  const std::int16_t* first;
  Int stride;
  const float* scale;  // of each row; negative: it is not rounded
  Int at;              // the first one's number in the product
};

// Multiplies MR rows by NP panels; columns of the last one may lie beyond c's.
template <int MR, int NP>
__attribute__((noinline)) void multiply_rounded(const NarrowProduct& p, const RoundedRows& rows,
                                                Int first_row, Int panel) {
  constexpr int kVectors = NP * kVectorsPerPanel;
  const Int groups = ceil_div(p.call.depth, kRoundedSteps);
  const Int panel_bytes = narrow_panel_bytes<Int8>(p.call.depth);
  const unsigned char* b = p.panels + panel * panel_bytes;
  const std::int16_t* a[MR];
  TFAOT_EACH (r, MR) a[r] = rows.first + (first_row + r) * rows.stride;
  Vec<float> totals[MR][kVectors] = {};
  for (Int done = 0; done < groups; done += kGroupsPerSum) {
    SignedWords sums[MR][NP * kParts] = {};
    const Int end = smaller(groups, done + kGroupsPerSum);
    const auto add_group = [&](Int group) TFAOT_ALWAYS {
      Halves left[MR];
      TFAOT_EACH (r, MR) left[r] = spread_steps(a[r] + group * kRoundedSteps);
      TFAOT_EACH (part, NP * kParts) {
        const Halves right = widen_part(b + part / kParts * panel_bytes, part % kParts);
        TFAOT_EACH (r, MR) sums[r][part] += multiply_pairs(right, left[r]);
      }
      b += Int8::kGroupBytes;
    };
    constexpr Int kTurn = MR == 1 ? 4 : 1;
    Int group = done;
    for (; group + kTurn <= end; group += kTurn) {
      TFAOT_EACH (i, kTurn) add_group(group + i);
    }
    for (; group < end; ++group) add_group(group);
    TFAOT_EACH (i, MR * kVectors) {
      const int r = i / kVectors, v = i % kVectors;
      totals[r][v] +=
          __builtin_convertvector(join_pairs(sums[r][2 * v], sums[r][2 * v + 1]), Floats);
    }
  }
  each_vector<kVectors>(p, panel, [&](int v, Int at, Int count) TFAOT_ALWAYS {
    const Vec<float> scale = load_first(p.scale + at, count);
    TFAOT_EACH (r, MR) {
      const Int row = first_row + r;
      finish_sums(p, p.bias, totals[r][v] * (scale * rows.scale[row]), rows.at + row, at, count);
    }
  });
}

// Multiplies all rows.
void multiply_by_rounding(const NarrowProduct& p) {
  auto* const rounded = static_cast<std::int16_t*>(static_cast<void*>(p.scratch));
  float scale[kRoundedRows];
  const Int stride = rounded_row_bytes(p.call.depth) / 2;
  for (Int first = 0; first < p.call.rows; first += kRoundedRows) {
    const Int count = smaller(kRoundedRows, p.call.rows - first);
    bool all = true;
    for (Int r = 0; r < count; ++r) {
      const float* const row = p.a + (first + r) * p.call.lhs_row_stride;
      scale[r] = round_row(rounded + r * stride, row, p.call.depth);
      all = all && scale[r] >= 0;
    }
    const RoundedRows rows = {rounded, stride, scale, first};
    const Int panels = ceil_div(p.call.columns, kColumns);
    Int panel = 0;
    if (count == 1) {
      for (; panel + kPanelsOfRow <= panels; panel += kPanelsOfRow) {
        multiply_rounded<1, kPanelsOfRow>(p, rows, 0, panel);
      }
    }
    for (; panel < panels; ++panel) {
      for_blocks<kMostRoundedRows>(
          count, [&](auto block, Int row) { multiply_rounded<block, 1>(p, rows, row, panel); });
    }
    for (Int r = 0; !all && r < count; ++r) {
      if (scale[r] >= 0) continue;
      for (panel = 0; panel < panels; ++panel) {
        stream_panels<Int8, 1, 1, kWideSums>(p, first + r, panel);
      }
    }
  }
}

template <typename Narrow>
TFAOT_ONE_COPY void multiply(const NarrowProduct& p) {
  NarrowProduct one = p;
  for (Int b = 0; b < p.call.batch; ++b) {
    if (kRoundsRows<Narrow> && is_in_order(p)) {
      multiply_by_rounding(one);
    } else {
      multiply_stream<Narrow>(one);
    }
    one.a += p.call.lhs_batch_stride;
    one.c += p.call.rows * p.c_row;
  }
}

// Returns false if the caller has to compute it alone.
template <typename Narrow>
bool multiply_shared(const NarrowProduct& p, tfaot::Tasks& tasks) {
  constexpr Int kPieceWork = Int{1} << 17;  // multiply-adds that are worth a piece
  constexpr Int kPiecePanels = 4;           // each piece rounds all rows for itself
  const MatMulCall& call = p.call;
  const Int panels = ceil_div(call.columns, kColumns);
  const Int work = call.batch * call.rows * call.columns * call.depth;
  const Int most = smaller(panels / kPiecePanels, work / kPieceWork);
  const Int parts = smaller(most, kLanePieces * tasks.lanes);
  if (parts < 2) return false;
  // A piece takes the panels together that are taken together without pieces.
  const auto first_panel = [&](Int piece) {
    const Int panel = panels * piece / parts;
    return piece == parts ? panels : panel - panel % kPanelsOfRow;
  };
  share(tasks, parts, [&](Int piece, Int lane) {
    const Int panel = first_panel(piece), column = panel * kColumns;
    MatMulCall some = call;
    some.columns = smaller(call.columns, first_panel(piece + 1) * kColumns) - column;
    multiply<Narrow>({some, p.a, p.panels + panel * narrow_panel_bytes<Narrow>(call.depth),
                      p.scale != nullptr ? p.scale + column : nullptr,
                      p.bias != nullptr ? p.bias + column : nullptr, p.c + column, p.c_row,
                      scratch_of(tasks, lane), p.rectifier});
  });
  return true;
}

template <typename Narrow>
void multiply_by(const NarrowProduct& p, tfaot::Tasks* tasks) {
  if (tasks == nullptr || !multiply_shared<Narrow>(p, *tasks)) multiply<Narrow>(p);
}

}  // namespace

extern "C" void TFAOT_KERNEL(narrow_matmul)(void* out, const void** in) {
  const auto& narrow = call_of<NarrowMatMulCall>(in);
  const MatMulCall& call = narrow.product;
  const bool is_scaled = narrow.rhs_type == kInt8;
  const EpilogueOperands more =
      epilogue_operands(call.epilogue, call.rows, call.live_rows, in + (is_scaled ? 4 : 3));
  MatMulCall of_live;
  if (call.live_rows != 0) {
    of_live = call;
    of_live.rows = more.rows;
  }
  const NarrowProduct p = {call.live_rows != 0 ? of_live : call,
                           operand(in, 1),
                           operand<unsigned char>(in, 2),
                           is_scaled ? operand(in, 3) : nullptr,
                           more.bias,
                           result(out, 0),
                           call.columns,
                           result(out, 1),
                           rectifier_of(call.epilogue)};
  switch (narrow.rhs_type) {
    case kBfloat16:
      return multiply_by<Bfloat16>(p, more.tasks);
    case kFloat16:
      return multiply_by<Float16>(p, more.tasks);
    default:
      return multiply_by<Int8>(p, more.tasks);
  }
}
