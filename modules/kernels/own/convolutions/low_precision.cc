// SPDX-License-Identifier: Apache-2.0
// tfaot_low_precision of abi.h. The numbers of some windows are written side by side, in the form
// that the machine's instructions take; tiles of them are multiplied by panels of the filter.
#include "convolutions/image.h"
#include "products/pairs.h"
#include "products/tiles.h"
#include "tfaot/runtime/detail/machine_ways.h"

namespace {

using Bytes = const unsigned char*;

// What limits results of 8 bits, less the least number of their type: as instructions take them.
struct ByteRange {
  std::int16_t zero;
  unsigned char least, most, low;
};

// A group's product.
struct LowProduct {
  const LowPrecisionCall* call;
  Int words;  // of a row and of a column
  Bytes panels;
  const float* offset;  // with whole numbers: the bits of one
  const float* scale;
  const float* bias;     // null: none
  const float* addends;  // null: none
  Bytes added;           // addends of 8 bits; null: none
  const float* scales;   // of a sum with them
  Bytes table;           // null: none
  Bytes table_steps;     // of it (steps_of_table())
  ByteRange range;       // of results of 8 bits, after the addends
  void* c;
  Int columns, c_row;
  Rectifier rectifier;
};

// Calls one(vector) for pieces of `count` elements, and stores what it returns. kWidth: the most
// elements of a piece.
template <int kWidth, typename To, typename From, typename One>
TFAOT_INLINE void in_pieces(To* to, const From* from, Int count, const One& one) {
  const auto do_piece = [&](Int i) TFAOT_ALWAYS {
    const auto made = one(read_as<typename VecOf<From, kWidth * sizeof(From)>::Type>(from + i));
    static_assert(sizeof made == kWidth * sizeof(To));
    __builtin_memcpy(to + i, &made, sizeof made);
  };
  Int i = 0;
  for (; i + kWidth <= count; i += kWidth) do_piece(i);
  if constexpr (kWidth > 1) {
    if (i < count) in_pieces<kWidth / 2>(to + i, from + i, count - i, one);
  }
}

// The bits of float32 with those that bfloat16 has no room for rounded away, to nearest, ties to
// even. NaN stays NaN.
template <typename Bits32>
TFAOT_INLINE Bits32 round_to_bfloat16(Bits32 bits) {
  const Bits32 rounded = bits + 0x7FFFU + (bits >> 16 & 1U);
  const Bits32 nan = Bits32((bits & 0x7FFFFFFFU) > 0x7F800000U);
  return ((rounded & ~nan) | ((bits | 0x400000U) & nan)) & 0xFFFF0000U;
}

// ---- Ways to multiply. A way says what numbers of a row are written as (Number, by write(), which
// ways with the same Written share), and how a word of each row is multiplied with those of panels
// (add_word()), or words of channels with those of a panel (add_words()). A tile has kRows rows and
// kPanels panels.

struct Whole {
  using Written = Whole;
  using Input = unsigned char;
  using Number = unsigned char;
  static constexpr int kSteps = 4;

  static TFAOT_ONE_COPY void write(Number* to, const Input* from, Int count, unsigned char flip) {
    in_pieces<TFAOT_VECTOR_BYTES>(to, from, count, [&](auto v) TFAOT_ALWAYS { return v ^ flip; });
  }
};

// As 16 bits, on every machine: of four bytes, the first and the third, and the others.
struct ByPairs : Whole {
  using Sum = SignedWords;
  static constexpr int kPanels = TFAOT_VECTOR_BYTES == 64 ? 2 : 1;
  static constexpr int kRows = TFAOT_VECTOR_BYTES == 64       ? 8
                               : TFAOT_VECTOR_REGISTERS == 32 ? 4
                               : TFAOT_VECTOR_BYTES == 32     ? 4
                                                              : 1;

  struct Pairs {
    Halves even, odd;
  };
  static TFAOT_INLINE Pairs pairs_of_weights(Bytes from) {
    const auto words = read_as<Halves>(from);
    return {words << 8 >> 8, words >> 8};
  }
  static TFAOT_INLINE Pairs pairs_of(Vec<std::uint16_t> words) {
    return {Halves(words & 0xFF), Halves(words >> 8)};
  }
  static TFAOT_INLINE void add(Sum& sum, const Pairs& a, const Pairs& b) {
    sum += multiply_pairs(a.even, b.even);
    keep(sum);  // in this order, which needs the fewest registers
    sum += multiply_pairs(a.odd, b.odd);
    keep(sum);
  }
  template <int kRows, int kAll>
  static TFAOT_INLINE void add_word(Sum (&sums)[kRows][kAll], Bytes b, Int panel_bytes,
                                    const Number* const (&a)[kRows], Int at) {
    Pairs right[kAll];
    TFAOT_EACH (i, kAll) {
      right[i] = pairs_of_weights(b + i / kVectorsPerPanel * panel_bytes +
                                  i % kVectorsPerPanel * TFAOT_VECTOR_BYTES);
    }
    TFAOT_EACH (r, kRows) {
      const auto words = Vec<std::uint32_t>{} + read_as<std::uint32_t>(a[r] + at);
      const Pairs left = pairs_of(Vec<std::uint16_t>(words));
      TFAOT_EACH (i, kAll) add(sums[r][i], right[i], left);
    }
  }
  static TFAOT_INLINE void add_words(Sum* sums, int step, int rows, Bytes b, const Bytes* a,
                                     Int at) {
    const Pairs right = pairs_of_weights(b);
    TFAOT_EACH (r, rows) {
      add(sums[r * step], right, pairs_of(read_as<Vec<std::uint16_t>>(a[r] + at)));
    }
  }
};

struct OfFloats {
  using Input = std::uint32_t;
  static constexpr int kSteps = 2;
};

// bfloat16 as float32, on every machine.
struct ByFloats : OfFloats {
  using Written = ByFloats;
  using Number = float;
  using Sum = Floats;
  static constexpr int kPanels = TFAOT_VECTOR_BYTES == 64 ? 2 : 1;
  static constexpr int kRows = TFAOT_VECTOR_BYTES == 64       ? 6
                               : TFAOT_VECTOR_BYTES == 32     ? 4
                               : TFAOT_VECTOR_REGISTERS == 32 ? 4
                                                              : 2;

  static TFAOT_INLINE void write(Number* to, const Input* from, Int count, unsigned char /*flip*/) {
    in_pieces<kLanes<float>>(to, from, count,
                             [](auto bits) TFAOT_ALWAYS { return round_to_bfloat16(bits); });
  }
  template <int kRows, int kAll>
  static TFAOT_INLINE void add_word(Sum (&sums)[kRows][kAll], Bytes b, Int panel_bytes,
                                    const Number* const (&a)[kRows], Int at) {
    using Words = Vec<std::uint32_t>;
    Words right[kAll];
    TFAOT_EACH (i, kAll) {
      right[i] = read_as<Words>(b + i / kVectorsPerPanel * panel_bytes +
                                i % kVectorsPerPanel * TFAOT_VECTOR_BYTES);
      keep(right[i]);
    }
    TFAOT_EACH (step, kSteps) {
      TFAOT_EACH (i, kAll) {
        const auto wide = Floats(step == 0 ? right[i] << 16 : right[i] & 0xFFFF0000U);
        TFAOT_EACH (r, kRows) {
          sums[r][i] = multiply_add(wide, a[r][at + step], sums[r][i]);
        }
      }
    }
  }
};

#if TFAOT_VECTOR_BYTES >= 32 && defined(__x86_64__)
// Written as the words that instructions beyond the level take.
template <typename Operands>
struct AsWords;

#if TFAOT_VECTOR_BYTES == 32
template <>
struct AsWords<Whole> : Whole {
  using Sum = SignedWords;

  // sum + the four products of each word's bytes, those of `a` without a sign.
  static TFAOT_INLINE void add(Sum& sum, Sum a, Sum b) {
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  }
};
#else
// Those of the first `count`.
TFAOT_INLINE std::uint64_t first_bits(Int count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// Written by whole vectors, as masked stores are slow. What lies behind is written later, or is not
// read.
template <>
struct AsWords<Whole> : Whole {
  using Written = AsWords;
  using Sum = SignedWords;

  static TFAOT_INLINE void write(Number* to, const Input* from, Int count, unsigned char flip) {
    const __m512i flips = _mm512_set1_epi8(static_cast<char>(flip));
    for (Int i = 0; i < count; i += 64) {
      const auto mask = static_cast<__mmask64>(first_bits(count - i));
      const auto bytes = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, from + i), flips);
      __builtin_memcpy(to + i, &bytes, sizeof bytes);
    }
  }
  static TFAOT_INLINE void add(Sum& sum, Sum a, Sum b) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
};

template <>
struct AsWords<OfFloats> : OfFloats {
  using Written = AsWords;
  using Number = std::uint16_t;
  using Sum = Floats;

  static TFAOT_INLINE void write(Number* to, const Input* from, Int count, unsigned char /*flip*/) {
    for (Int i = 0; i < count; i += 16) {
      const auto mask = static_cast<__mmask16>(first_bits(count - i));
      const __m512 v = _mm512_maskz_loadu_ps(mask, from + i);
#if defined(TFAOT_EMULATED_TILES)
      const auto bits = round_to_bfloat16(Vec<std::uint32_t>(v));
      const auto narrow = __builtin_convertvector(bits >> 16, VecOf<Number, 32>::Type);
#else
      __m256i narrow;
      asm("vcvtneps2bf16 %1, %0" : "=v"(narrow) : "v"(v));
#endif
      __builtin_memcpy(to + i, &narrow, sizeof narrow);
    }
  }
  // sum + the two products of each word's bfloat16.
  static TFAOT_INLINE void add(Sum& sum, SignedWords a, SignedWords b) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
};

// Written in the same way, and multiplied by whole tiles of the machine.
template <typename Operands>
struct ByTiles : AsWords<Operands> {};
#endif

template <typename Operands>
struct ByWords : AsWords<Operands> {
  using typename AsWords<Operands>::Number;
  using typename AsWords<Operands>::Sum;
  static constexpr int kPanels = TFAOT_VECTOR_BYTES == 64 ? 4 : 1;
  static constexpr int kRows = 6;

  template <int kRows, int kAll>
  static TFAOT_INLINE void add_word(Sum (&sums)[kRows][kAll], Bytes b, Int panel_bytes,
                                    const Number* const (&a)[kRows], Int at) {
    SignedWords right[kAll];
    TFAOT_EACH (i, kAll) {
      right[i] = read_as<SignedWords>(b + i / kVectorsPerPanel * panel_bytes +
                                      i % kVectorsPerPanel * TFAOT_VECTOR_BYTES);
    }
    TFAOT_EACH (r, kRows) {
      const auto left = SignedWords{} + read_as<std::int32_t>(a[r] + at);
      TFAOT_EACH (i, kAll) AsWords<Operands>::add(sums[r][i], left, right[i]);
    }
  }
  static TFAOT_INLINE void add_words(Sum* sums, int step, int rows, Bytes b, const Bytes* a,
                                     Int at) {
    const auto right = read_as<SignedWords>(b);
    TFAOT_EACH (r, rows) {
      AsWords<Operands>::add(sums[r * step], read_as<SignedWords>(a[r] + at), right);
    }
  }
};
#endif

template <typename Way>
constexpr bool kByTiles = false;
// Rows take half of the scratch memory: their words are as they are.
template <typename Way>
constexpr bool kHasHalf = Way::kSteps * sizeof(typename Way::Number) == 4;
#if TFAOT_VECTOR_BYTES == 64 && defined(__x86_64__)
template <typename Operands>
constexpr bool kByTiles<ByTiles<Operands>> = true;
#endif

// ---- What becomes of a sum.

constexpr float kRounder = 12582912.0F;  // leaves whole numbers in the last bits

// The nearest whole numbers, ties to even. Beyond 16 bits they may be others that are beyond, too,
// and NaN is one of the least.
TFAOT_INLINE SignedWords nearest(Floats value) {
  constexpr float kMost = 32767;  // larger ones would become negative
  value = smaller_of<float>(Floats{} + kMost, value);
#if TFAOT_VECTOR_BYTES == 64
  return SignedWords(_mm512_maskz_cvtps_epi32(0xFFFF, value));
#elif TFAOT_VECTOR_BYTES == 32
  return SignedWords(_mm256_cvtps_epi32(value));
#elif defined(__SSE2__)
  return SignedWords(_mm_cvtps_epi32(value));
#else
  value = larger_of<float>(value, Floats{} - kMost);
  return SignedWords(value + kRounder) - SignedWords(Floats{} + kRounder);
#endif
}

using ByteVector = Vec<unsigned char>;

// The order of packed words: instructions take 16 bytes of each vector at a time.
struct LanesOfFour {
  static constexpr int at(int l) {
    constexpr int kQuads = TFAOT_VECTOR_BYTES / 16;
    return l % kQuads * 4 + l / kQuads;
  }
};

// The bytes of four vectors and `zero`: negative numbers are 0, and those above 255 are 255.
TFAOT_INLINE ByteVector bytes_of(const SignedWords (&words)[4], Halves zero) {
#if defined(TFAOT_INSTRUCTION)
  using Any = Vec<long long>;
  const auto pack = [](Any a, Any b) TFAOT_ALWAYS { return TFAOT_INSTRUCTION(packs_epi32, ~0U); };
  const auto halves = [&](int i) TFAOT_ALWAYS {
    const Any a = pack(Any(words[i]), Any(words[i + 1])), b = Any(zero);
    return TFAOT_INSTRUCTION(adds_epi16, ~0U);
  };
  const Any a = halves(0), b = halves(2);
  const auto bytes = SignedWords(TFAOT_INSTRUCTION(packus_epi16, ~0UL));
  return ByteVector(shuffle<LanesOfFour>(bytes, bytes));
#else
  VecOf<unsigned char, kLanes<float>>::Type bytes[4];
  TFAOT_EACH (v, 4) {
    SignedWords word = words[v] + std::int32_t{zero[0]};
    word = word > 0 ? word : SignedWords{};
    word = word < 255 ? word : SignedWords{} + 255;
    bytes[v] = __builtin_convertvector(word, VecOf<unsigned char, kLanes<float>>::Type);
  }
  return read_as<ByteVector>(bytes);
#endif
}

// Copies at most as many bytes as a vector has words.
TFAOT_INLINE void copy_bytes(unsigned char* to, Bytes from, Int count) {
  TFAOT_FOR (Int piece = kLanes<float>; piece > 0; piece /= 2) {
    if ((count & piece) == 0) continue;
    __builtin_memcpy(to, from, static_cast<unsigned long>(piece));
    to += piece;
    from += piece;
  }
}

// Bytes as words.
TFAOT_INLINE SignedWords words_of(Bytes from) {
#if TFAOT_VECTOR_BYTES == 64
  return SignedWords(_mm512_maskz_cvtepu8_epi32(0xFFFF, read_as<__m128i>(from)));
#elif TFAOT_VECTOR_BYTES == 32
  return SignedWords(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  using Some = VecOf<unsigned char, kLanes<float>>::Type;
  return __builtin_convertvector(read_as<Some>(from), SignedWords);
#endif
}

// The first ones, of which alone there is memory.
TFAOT_INLINE SignedWords words_of_first(Bytes from, Int count) {
#if TFAOT_VECTOR_BYTES == 64
  const auto mask = static_cast<__mmask16>((1U << count) - 1);
  return SignedWords(_mm512_maskz_cvtepu8_epi32(mask, _mm_maskz_loadu_epi8(mask, from)));
#else
  unsigned char some[kLanes<float>];
  copy_bytes(some, from, count);
  return words_of(some);
#endif
}

TFAOT_ONE_COPY void look_up(Bytes table, unsigned char* bytes, Int count) {
  for (Int i = 0; i < count; ++i) bytes[i] = table[bytes[i]];
}

// Pieces of 16 bytes of a table, less the one before, bit by bit, in each half of it.
TFAOT_INLINE void steps_of_table(Bytes table, unsigned char* steps) {
  using Piece = VecOf<unsigned char, 16>::Type;
  Piece before{};
  for (Int i = 0; i < 256; i += 16) {
    if (i == 128) before = Piece{};
    const auto piece = read_as<Piece>(table + i);
    const Piece step = piece ^ before;
    __builtin_memcpy(steps + i, &step, sizeof step);
    before = piece;
  }
}

// What happens to sums before they are bytes: nothing, a bias and a sum with bytes, or anything, in
// vectors that may not be whole.
enum class Steps { kNone, kBytes, kAny };

// Results of 8 bits, four vectors at a time, NP of a row: they are limited by instructions for all
// of them. What all rows need is in registers.
template <int NP, Steps kSteps>
class ByteRows {
 public:
  explicit TFAOT_INLINE ByteRows(const LowProduct& p) : p_(p) {
    const LowPrecisionCall& call = *p.call;
    if (has_sum()) {
      first_low_ = Floats{} + static_cast<float>(call.least - call.zero_point);
      first_high_ = Floats{} + static_cast<float>(call.most - call.zero_point);
      TFAOT_EACH (i, 3) scales_[i] = Floats{} + p.scales[i];
      const std::int32_t flip = call.addend_type == kElementInt8 ? 128 : 0;
      flip_ = SignedWords{} + flip;
      addend_zero_ = SignedWords{} + (static_cast<std::int32_t>(call.addend_zero_point) + flip);
    }
#if TFAOT_VECTOR_BYTES == 64
    if (has_table_) {
      TFAOT_EACH (i, 4) table_[i] = read_as<__m512i>(p.table + 64 * i);
    }
#endif
  }

  // Stores `rows` of `product`, of the sums that from[i] points to.
  template <int kRows>
  TFAOT_INLINE void store(const SignedWords* const (&from)[kRows], const Int (&rows)[kRows],
                          Int column) const {
    constexpr Int kAll = NP * kLanes<float>;
    const Int all = kIsWhole ? kAll : smaller(kAll, p_.columns - column);
    SignedWords words[4];
    TFAOT_EACH (r, kRows) {
      const Int at = rows[r] * p_.c_row + column;
      TFAOT_EACH (v, NP) {
        const Int first = v * kLanes<float>;
        const Int count = smaller(kLanes<float>, larger(0, all - first));
        const auto load_of = [&](const float* of) TFAOT_ALWAYS {
          return load_part<!kIsWhole>(of + column + first, count);
        };
        Floats value =
            __builtin_convertvector(from[r][v] + SignedWords(load_of(p_.offset)), Floats) *
            load_of(p_.scale);
        if (kSteps != Steps::kNone && p_.bias != nullptr) value += load_of(p_.bias);
        if constexpr (!kIsWhole) {
          if (p_.addends != nullptr) value += load_first(p_.addends + at + first, count);
          value = rectified<float>(value, p_.rectifier);
        }
        if (has_sum()) value = sum_of(value, p_.added + at + first, count);
        words[r * NP + v] = nearest(value);
      }
    }
    TFAOT_EACH (v, 4 - kRows * NP) words[kRows * NP + v] = words[kRows * NP - 1];
    ByteVector bytes = bytes_of(words, zero_);
    bytes = bytes > least_ ? bytes : least_;
    bytes = (bytes < most_ ? bytes : most_) ^ low_;
#if TFAOT_VECTOR_BYTES >= 32
    if (has_table_) bytes = looked_up(bytes);
#endif
    unsigned char stored[TFAOT_VECTOR_BYTES];
    __builtin_memcpy(stored, &bytes, sizeof bytes);
    TFAOT_EACH (r, kRows) {
      auto* const to = static_cast<unsigned char*>(p_.c) + rows[r] * p_.c_row + column;
      if constexpr (kIsWhole) {
        __builtin_memcpy(to, stored + r * kAll, kAll);
      } else {
        copy_bytes(to, stored + r * kAll, all);
      }
      if (p_.table != nullptr && !has_table_) look_up(p_.table, to, all);
    }
  }

 private:
  static constexpr bool kIsWhole = kSteps != Steps::kAny;

  TFAOT_INLINE bool has_sum() const { return kSteps != Steps::kNone && p_.added != nullptr; }

  // The sum of a result of 8 bits and an addend.
  TFAOT_INLINE Floats sum_of(Floats value, Bytes addends, Int count) const {
    value = smaller_of<float>(larger_of<float>(value, first_low_), first_high_);
    value = value + kRounder - kRounder;
    const SignedWords bytes = kIsWhole ? words_of(addends) : words_of_first(addends, count);
    const SignedWords words = (bytes ^ flip_) - addend_zero_;
    const Floats added = __builtin_convertvector(words, Floats);
    return (value * scales_[0] + added * scales_[1]) / scales_[2];
  }

#if TFAOT_VECTOR_BYTES == 64
  // The table's bytes at these places: of each half of the table, and then one of both.
  TFAOT_INLINE ByteVector looked_up(ByteVector places) const {
    const auto of_half = [&](__m512i first, __m512i second) TFAOT_ALWAYS {
      auto chosen = __m512i(places);
      asm("vpermi2b %2, %1, %0" : "+v"(chosen) : "v"(first), "v"(second));
      return chosen;
    };
    return ByteVector(_mm512_mask_blend_epi8(_mm512_movepi8_mask(__m512i(places)),
                                             of_half(table_[0], table_[1]),
                                             of_half(table_[2], table_[3])));
  }

  __m512i table_[4];
#elif TFAOT_VECTOR_BYTES == 32
  // The table's bytes at these places. Every piece of 16 bytes up to the one of a place adds its
  // step. Behind that the place is negative, and is shuffled to zero, as in the other half.
  TFAOT_INLINE ByteVector looked_up(ByteVector places) const {
    auto found = __m256i{};
    TFAOT_EACH (half, 2) {
      auto place = __m256i(places ^ static_cast<unsigned char>(half * 0x80));
      TFAOT_EACH (piece, 8) {
        const auto step =
            _mm256_broadcastsi128_si256(read_as<__m128i>(p_.table_steps + 128 * half + 16 * piece));
        found ^= _mm256_shuffle_epi8(step, place);
        place = _mm256_subs_epi8(place, __m256i(ByteVector{} + 16));
      }
    }
    return ByteVector(found);
  }
#endif
  const LowProduct& p_;
  const bool has_table_ =
      p_.table != nullptr &&
      (TFAOT_VECTOR_BYTES == 64   ? (tfaot_machine_ways & tfaot::detail::kByteTables) != 0
       : TFAOT_VECTOR_BYTES == 32 ? kIsWhole
                                  : false);
  const ByteVector least_ = ByteVector{} + p_.range.least, most_ = ByteVector{} + p_.range.most,
                   low_ = ByteVector{} + p_.range.low;
  const Halves zero_ = Halves{} + p_.range.zero;
  SignedWords flip_, addend_zero_;
  Floats first_low_, first_high_, scales_[3];
};

// Stores the results of rows of sums, each `step` vectors after the one before.
template <int NP, Steps kSteps>
TFAOT_ONE_COPY void store_rows(const LowProduct& p, const SignedWords* sums, Int step, Int row,
                               Int rows, Int column) {
  const ByteRows<NP, kSteps> bytes(p);
  constexpr int kAtOnce = 4 / NP;
  TFAOT_ROLLED_FOR (Int r = 0; r < rows; r += kAtOnce) {
    const SignedWords* from[kAtOnce];
    Int places[kAtOnce];
    TFAOT_EACH (i, kAtOnce) {
      const Int of = smaller(r + i, rows - 1);  // the last one again
      from[i] = sums + of * step;
      places[i] = row + of;
    }
    bytes.store(from, places, column);
  }
}

template <int NP>
TFAOT_INLINE Steps steps_of(const LowProduct& p, Int column) {
  const bool is_whole = column + NP * kLanes<float> <= p.columns;
  if (!is_whole || p.addends != nullptr || p.rectifier != Rectifier::kNone) return Steps::kAny;
  return p.bias != nullptr || p.added != nullptr ? Steps::kBytes : Steps::kNone;
}

// The same of results of float32.
template <typename Sum>
TFAOT_ONE_COPY void store_floats(const LowProduct& p, const Sum* sums, Int step, Int vectors,
                                 Int row, Int rows, Int first_column) {
  for (Int v = 0; v < vectors; ++v) {
    const Int column = first_column + v * kLanes<float>;
    const Int count = smaller(kLanes<float>, p.columns - column);
    if (count <= 0) return;
    constexpr bool kIsWhole = std::is_same_v<Sum, SignedWords>;
    const auto load_of = [&](const float* from)
                             TFAOT_ALWAYS { return load_first(from + column, count); };
    const Floats offset = kIsWhole ? load_of(p.offset) : Floats{};
    const Floats scale = kIsWhole ? load_of(p.scale) : Floats{};
    const Floats bias = p.bias != nullptr ? load_of(p.bias) : Floats{};
    for (Int r = 0; r < rows; ++r) {
      const Int at = (row + r) * p.c_row + column;
      Floats value;
      if constexpr (kIsWhole) {
        value = __builtin_convertvector(sums[r * step + v] + SignedWords(offset), Floats) * scale;
      } else {
        value = sums[r * step + v];
      }
      if (p.bias != nullptr) value += bias;
      if (p.addends != nullptr) value += load_first(p.addends + at, count);
      store_some(static_cast<float*>(p.c) + at, rectified<float>(value, p.rectifier), count);
    }
  }
}

// Stores bytes of sums in memory, of NP vectors, or of each alone if one of them is not whole.
template <int NP>
TFAOT_INLINE void store_bytes(const LowProduct& p, const SignedWords* sums, Int step, Int row,
                              Int rows, Int column) {
  const Steps steps = steps_of<NP>(p, column);
  if (steps == Steps::kNone) {
    store_rows<NP, Steps::kNone>(p, sums, step, row, rows, column);
  } else if (steps == Steps::kBytes) {
    store_rows<NP, Steps::kBytes>(p, sums, step, row, rows, column);
  } else if constexpr (NP == 1) {
    store_rows<1, Steps::kAny>(p, sums, step, row, rows, column);
  } else {
    for (Int i = 0; i < NP && column < p.columns; ++i, column += kLanes<float>) {
      store_bytes<1>(p, sums + i, step, row, rows, column);
    }
  }
}

// Stores the results of sums in memory, [rows, step], of which NP vectors count.
template <int NP, typename Sum>
TFAOT_INLINE void finish_rows(const LowProduct& p, const Sum* sums, Int step, Int row, Int rows,
                              Int column) {
  if (p.call->result_type == kElementFloat32) {
    return store_floats(p, sums, step, NP, row, rows, column);
  }
  if constexpr (std::is_same_v<Sum, SignedWords>) {
    constexpr int kSome = kVectorsPerPanel > 1 ? kVectorsPerPanel : NP;
    for (int v = 0; v < NP; v += kSome, sums += kSome, column += kSome * kLanes<float>) {
      store_bytes<kSome>(p, sums, step, row, rows, column);
    }
  }
}

// Stores bytes of a tile's sums, whose rows beyond `rows` are the last one again.
template <Steps kSteps, int MR, int NP>
TFAOT_INLINE void store_tile_rows(const LowProduct& p, const SignedWords (&sums)[MR][NP], Int row,
                                  Int rows, Int column) {
  const ByteRows<NP, kSteps> bytes(p);
  constexpr int kAtOnce = MR % (4 / NP) == 0 ? 4 / NP : NP < 4 && MR % 2 == 0 ? 2 : 1;
  TFAOT_FOR (int r = 0; r < MR; r += kAtOnce) {
    if (r >= rows) break;
    const SignedWords* from[kAtOnce];
    Int places[kAtOnce];
    TFAOT_EACH (i, kAtOnce) {
      from[i] = sums[r + i];
      places[i] = row + smaller(r + i, rows - 1);
    }
    bytes.store(from, places, column);
  }
}

// Stores the results of a tile's sums. kInRegisters: bytes are made before the sums are written.
template <bool kInRegisters, int MR, int NP, typename Sum>
TFAOT_INLINE void finish_tile(const LowProduct& p, const Sum (&sums)[MR][NP], Int row, Int rows,
                              Int column) {
  if constexpr (kInRegisters) {
    const bool is_of_bytes = p.call->result_type != kElementFloat32;
    const Steps steps = is_of_bytes ? steps_of<NP>(p, column) : Steps::kAny;
    if (steps == Steps::kNone) return store_tile_rows<Steps::kNone>(p, sums, row, rows, column);
    if constexpr (MR * NP > 16) {  // in smaller tiles it is not faster
      if (steps == Steps::kBytes) return store_tile_rows<Steps::kBytes>(p, sums, row, rows, column);
    }
  }
  Sum copy[MR][NP];  // in memory, which the sums are not
  TFAOT_EACH (n, MR * NP) copy[n / NP][n % NP] = sums[n / NP][n % NP];
  finish_rows<NP>(p, copy[0], NP, row, rows, column);
}

// ---- Tiles.

// Some rows of the left side. Each has the same lines, of whole words; rows along a line of
// results are row_step apart, and those of the next line begin next_step later.
template <typename Number>
struct LeftRows {
  const Number* first;
  Int row_step;              // in numbers, as all steps
  Int at, count;             // the first one's number in the product; how many count
  Int width = Int{1} << 32;  // rows of a line of results; `first` is at the start of one
  Int next_step = 0;
  Int lines = 1, line_step = 0;  // of each row
  Int line_words = 0;

  // Rows i, i + 1, ...; those beyond the last are the last one, whose memory is there.
  template <int kRows>
  TFAOT_INLINE void take(const Number* (&rows)[kRows], Int i) const {
    const Int line = width > i ? 0 : i / width;
    Int place = i - line * width;
    const Number* row = first + line * next_step + place * row_step;
    TFAOT_EACH (r, kRows) {
      rows[r] = row;
      if (i + r + 1 >= count) continue;
      const bool ends = ++place == width;
      row += ends ? next_step - (width - 1) * row_step : row_step;
      if (ends) place = 0;
    }
  }
};

// Multiplies MR rows from row i on by NP panels; fewer rows may count, and columns may lie beyond
// the last.
template <typename Way, int MR, int NP>
__attribute__((noinline)) void multiply_tile(const LowProduct& p,
                                             const LeftRows<typename Way::Number>& rows, Int i,
                                             Int panel) {
  const Int panel_bytes = p.words * kPanelBytes;
  typename Way::Sum sums[MR][NP * kVectorsPerPanel] = {};
  const typename Way::Number* a[MR];
  rows.take(a, i);
  Bytes b = p.panels + panel * panel_bytes;
  for (Int line = 0, start = 0; line < rows.lines; ++line, start += rows.line_step) {
    const Int end = start + rows.line_words * Way::kSteps;
    for (Int at = start; at < end; at += Way::kSteps, b += kPanelBytes) {
      Way::add_word(sums, b, panel_bytes, a, at);
    }
  }
  constexpr bool kInRegisters = (Way::kPanels > 2 || (TFAOT_VECTOR_BYTES == 32 && MR > 1)) &&
                                std::is_same_v<typename Way::Sum, SignedWords>;
  finish_tile<kInRegisters>(p, sums, rows.at + i, smaller(MR, rows.count - i),
                            panel * kPanelColumns<float>);
}

// Multiplies the rows from i on that are left by tiles of MR rows, and the last ones by the
// smallest tile that has them all.
template <typename Way, int MR, int NP>
TFAOT_INLINE void multiply_panels(const LowProduct& p, const LeftRows<typename Way::Number>& rows,
                                  Int panel, Int i = 0) {
  constexpr int kFewer = MR == Way::kRows ? MR * 2 / 3 : MR / 2;
  for (; rows.count - i > kFewer; i += MR) multiply_tile<Way, MR, NP>(p, rows, i, panel);
  if constexpr (kFewer > 0) {
    if (i < rows.count) multiply_panels<Way, kFewer, NP>(p, rows, panel, i);
  }
}

template <typename Way>
TFAOT_ONE_COPY void multiply_rows(const LowProduct& p, const LeftRows<typename Way::Number>& rows) {
  const Int panels = ceil_div(p.columns, kPanelColumns<float>);
  Int panel = 0;
  // The sums of a row alone, in one panel, would wait for each other.
  constexpr int kPanelsOfOne = Way::kPanels > 1 ? 1 : 6 / kVectorsPerPanel;
  if constexpr (kPanelsOfOne > 1) {
    if (rows.count == 1) {
      for (; panel + kPanelsOfOne <= panels; panel += kPanelsOfOne) {
        multiply_tile<Way, 1, kPanelsOfOne>(p, rows, 0, panel);
      }
    }
  }
  for (; panel + Way::kPanels <= panels; panel += Way::kPanels) {
    multiply_panels<Way, Way::kRows, Way::kPanels>(p, rows, panel);
  }
  if constexpr (Way::kPanels > 2) {
    for (; panel + 2 <= panels; panel += 2) multiply_panels<Way, Way::kRows, 2>(p, rows, panel);
  }
  if constexpr (Way::kPanels > 1) {
    for (; panel < panels; ++panel) multiply_panels<Way, Way::kRows, 1>(p, rows, panel);
  }
}

// By tiles of the machine: of the levels that have them.
template <typename Way>
void multiply_rows_by_tiles(const LowProduct& p, const LeftRows<typename Way::Number>& rows);

#if TFAOT_VECTOR_BYTES == 64 && defined(__x86_64__)
// The sums of a product are tiles 0 to 3, and its sides 4 and 5, or 6 and 7 for the last words.
inline TileShapes tile_shapes(const LowProduct& p) {
  TileShapes shapes;
  for (int tile = 0; tile < 6; ++tile) shapes.set(tile, kTileRows, kTileWords);
  if (const Int last = p.words % kTileWords; last > 0) {
    shapes.set(6, kTileRows, last);
    shapes.set(7, last, kTileWords);
  }
  return shapes;
}

// Multiplies kRowTiles times 16 rows by NP panels.
template <typename Way, int kRowTiles, int NP>
__attribute__((noinline)) void multiply_tiles(const LowProduct& p,
                                              const LeftRows<typename Way::Number>& rows,
                                              Int panel) {
  static_assert(kRowTiles * NP <= 4);
  using SumNumber = std::remove_reference_t<decltype(typename Way::Sum{}[0])>;
  const Int panel_bytes = p.words * kPanelBytes;
  const Int row_bytes = rows.row_step * Int{sizeof *rows.first};
  const auto* const a = static_cast<Bytes>(static_cast<const void*>(rows.first));
  Bytes const b = p.panels + panel * panel_bytes;
  const auto add_words = [&](auto left, auto right, Int word) TFAOT_ALWAYS {
    for_each<NP>([&](auto j) TFAOT_ALWAYS {
      load_tile<right>(b + j * panel_bytes + word * kPanelBytes, kPanelBytes);
      for_each<kRowTiles>([&](auto i) TFAOT_ALWAYS {
        load_tile<left>(a + i * kTileRows * row_bytes + word * 4, row_bytes);
        add_tile_products<i * NP + j, left, right>(SumNumber{});
      });
    });
  };
  for_each<kRowTiles * NP>([](auto tile) TFAOT_ALWAYS { clear_tile<tile>(); });
  Int word = 0;
  for (; word + kTileWords <= p.words; word += kTileWords) {
    add_words(Number<4>(), Number<5>(), word);
  }
  if (word < p.words) add_words(Number<6>(), Number<7>(), word);
  typename Way::Sum sums[kRowTiles * kTileRows][NP];
  for_each<kRowTiles * NP>([&](auto tile) TFAOT_ALWAYS {
    store_tile<tile>(&sums[tile / NP * kTileRows][tile % NP], sizeof sums[0]);
  });
  finish_rows<NP>(p, sums[0], NP, rows.at, rows.count, panel * kPanelColumns<float>);
}

// A row's sums have the same order in each of the shapes.
template <typename Way>
void multiply_rows_by_tiles(const LowProduct& p, const LeftRows<typename Way::Number>& rows) {
  configure_tiles(tile_shapes(p));
  const Int panels = ceil_div(p.columns, kPanelColumns<float>);
  const auto multiply = [&](auto row_tiles, auto panel_count, Int first, Int panel) TFAOT_ALWAYS {
    auto some = rows;
    some.first += first * rows.row_step;
    some.at += first;
    some.count = smaller(row_tiles * kTileRows, rows.count - first);
    multiply_tiles<Way, row_tiles, panel_count>(p, some, panel);
  };
  Int panel = 0;
  if (rows.count <= kTileRows) {
    for (; panel + 4 <= panels; panel += 4) multiply(Number<1>(), Number<4>(), 0, panel);
  }
  for (; panel + 2 <= panels; panel += 2) {
    Int row = 0;
    for (; row + kTileRows < rows.count; row += 2 * kTileRows) {
      multiply(Number<2>(), Number<2>(), row, panel);
    }
    if (row < rows.count) multiply(Number<1>(), Number<2>(), row, panel);
  }
  for (; panel < panels; ++panel) {
    for (Int row = 0; row < rows.count; row += kTileRows) {
      multiply(Number<1>(), Number<1>(), row, panel);
    }
  }
  release_tiles();
}
#endif

// ---- Windows.

// Pieces of kBytes of two vectors by turns, from piece kFirst of each on.
template <int kBytes, int kFirst>
struct ByTurns {
  static constexpr int at(int l) {
    const int piece = l / kBytes;
    return (kFirst + piece / 2) * kBytes + l % kBytes + piece % 2 * 16;
  }
};

// Writes the words of four lines: the bytes that are above each other.
TFAOT_INLINE void write_words(unsigned char* to, Bytes const (&lines)[4], Int count) {
  using Sixteen = VecOf<unsigned char, 16>::Type;
  const auto store_sixteen = [](unsigned char* at, Sixteen v)
                                 TFAOT_ALWAYS { __builtin_memcpy(at, &v, sizeof v); };
  for (Int i = 0; i < count; i += 16, to += 64) {
    Sixteen line[4], pairs[4];
    TFAOT_EACH (l, 4) line[l] = read_as<Sixteen>(lines[l] + i);
    TFAOT_EACH (l, 2) {
      pairs[2 * l] = shuffle<ByTurns<1, 0>>(line[2 * l], line[2 * l + 1]);
      pairs[2 * l + 1] = shuffle<ByTurns<1, 8>>(line[2 * l], line[2 * l + 1]);
    }
    TFAOT_EACH (h, 2) {
      store_sixteen(to + 32 * h, shuffle<ByTurns<2, 0>>(pairs[h], pairs[2 + h]));
      store_sixteen(to + 32 * h + 16, shuffle<ByTurns<2, 4>>(pairs[h], pairs[2 + h]));
    }
  }
}

// True if the positions of windows are the pixels.
TFAOT_INLINE bool is_of_rows(const Window& w) {
  for (int d = 0; d < kSpatial; ++d) {
    if (w.size[d] > 1 || w.in[d] != w.out[d] || w.stride[d] > 1 || w.pad_low[d] != 0) return false;
  }
  return true;
}

// Writes the numbers of windows, position by position, in order: padding is written by whole
// vectors, and what lies behind it later.
template <typename Way>
class WindowWriter {
 public:
  using Input = typename Way::Input;
  using Number = typename Way::Number;

  WindowWriter(const LowPrecisionCall& call, const void* images)
      : call_(call.convolution),
        w_(call.convolution.window),
        images_(static_cast<const Input*>(images)),
        channels_(call_.in_channels / call_.groups),
        depth_(low_precision_depth(call_)),
        step_(low_precision_words(call) * Way::kSteps),
        planes_(call.planes),
        flip_(call.input_type == kElementInt8 ? 0x80 : 0) {
    if (call.input_type != kElementFloat32) {
      padding_ = static_cast<Number>((call.padding & 0xFF) ^ flip_);
    }
  }

  Int step() const { return step_; }

  // Lines from `line` on of an image, and the padding around them, as windows read them: each line
  // has band_line() numbers.
  TFAOT_ONE_COPY void write_band(Number* to, Int image, Int line, Int lines) const {
    const Int numbers = band_line();
    for (; lines > 0; --lines, ++line, to += numbers) {
      if (line < 0 || line >= w_.in[1]) {
        fill(to, numbers, padding_);
        continue;
      }
      const Int in = w_.in[2] * channels_, low = w_.pad_low[2] * channels_;
      const Int skipped = larger(0, -low), start = smaller(larger(0, low), numbers);
      const Int count = larger(0, smaller(in - skipped, numbers - start));
      fill(to, start, padding_);
      if (planes_ > 0) {
        write_planes(to + start, image, line * w_.in[2] + skipped / channels_, count);
      } else {
        Way::write(to + start, images_ + (image * w_.in[1] + line) * in + skipped, count, flip_);
      }
      fill(to + start + count, numbers - start - count, padding_);
    }
  }
  // Positions from `first` on of the band's results, from the lines that write_band() wrote.
  TFAOT_ONE_COPY void write_from_band(Number* to, const Number* band, Int first, Int count) const {
    constexpr Int kWidth = 64 / sizeof(Number);
    const Int numbers = band_line(), run = w_.size[2] * channels_;
    Int column = first % w_.out[2];
    const Number* line = band + first / w_.out[2] * w_.stride[1] * numbers;
    for (; count > 0; --count, to += step_) {
      const Number* from = line + column * w_.stride[2] * channels_;
      Number* part = to;
      for (Int j = 0; j < w_.size[1]; ++j, part += run, from += w_.window_dilation[1] * numbers) {
        for (Int i = 0; i < run; i += kWidth) __builtin_memcpy(part + i, from + i, 64);
      }
      for (Int i = depth_; i < step_; ++i) to[i] = 0;
      if (++column == w_.out[2]) {
        column = 0;
        line += w_.stride[1] * numbers;
      }
    }
  }
  Int band_line() const { return line_numbers(call_); }

  // Positions from `row` of all images on.
  TFAOT_ONE_COPY void write(Number* to, Int row, Int count, Int group) const {
    if (call_.groups == 1 && step_ == channels_ && is_of_rows(w_)) {
      return Way::write(to, images_ + row * channels_, count * channels_, flip_);
    }
    Int place[kSpatial];
    for (int d = kSpatial - 1; d >= 0; --d) {
      place[d] = row % w_.out[d];
      row /= w_.out[d];
    }
    for (; count > 0; --count, to += step_) {
      write_position(to, images_ + row * input_elements(w_, call_.in_channels), place, group);
      int d = kSpatial - 1;
      for (; d >= 0 && ++place[d] == w_.out[d]; --d) place[d] = 0;
      if (d < 0) ++row;
    }
  }

 private:
  // Pixels from `pixel` on of an image in planes: a word of each, `count` bytes.
  void write_planes(Number* to, Int image, Int pixel, Int count) const {
    if constexpr (sizeof(Number) == 1) {
      Bytes planes[4];
      TFAOT_EACH (l, 4) {
        planes[l] =
            images_ + (image * planes_ + smaller(l, planes_ - 1)) * w_.in[1] * w_.in[2] + pixel;
      }
      write_words(to, planes, count / 64 * 16);
      for (Int i = count / 64 * 64; i < count; ++i) to[i] = planes[i % 4][i / 4];
      if (flip_ != 0) Way::write(to, to, count, flip_);
    }
  }

  static TFAOT_INLINE void fill(Number* to, Int count, Number with) {
    using Vector = typename VecOf<Number, 16>::Type;
    const Vector all = Vector{} + with;
    TFAOT_ROLLED_FOR (Int i = 0; i < count; i += 16 / Int{sizeof(Number)}) {
      __builtin_memcpy(to + i, &all, sizeof all);
    }
  }

  TFAOT_INLINE void write_position(Number* to, const Input* image, const Int (&place)[kSpatial],
                                   Int group) const {
    Number* const row = to;
    Int at[kSpatial];
    for (int d = 0; d < kSpatial; ++d) at[d] = place[d] * w_.stride[d] - w_.pad_low[d];
    const Int line_numbers = w_.size[2] * channels_;
    for (Int i = 0; i < w_.size[0]; ++i) {
      const Int first = at[0] + i * w_.window_dilation[0];
      for (Int j = 0; j < w_.size[1]; ++j, to += line_numbers) {
        const Int second = at[1] + j * w_.window_dilation[1];
        if (first < 0 || first >= w_.in[0] || second < 0 || second >= w_.in[1]) {
          fill(to, line_numbers, padding_);
        } else {
          const Input* const line =
              image + (first * w_.in[1] + second) * w_.in[2] * call_.in_channels;
          write_line(to, line, at[2], group);
        }
      }
    }
    for (Int i = depth_; i < step_; ++i) row[i] = 0;
  }

  TFAOT_INLINE void write_line(Number* to, const Input* line, Int at, Int group) const {
    const Int size = w_.size[2], in = w_.in[2];
    if (call_.groups == 1 && w_.window_dilation[2] == 1) {
      const Int low = smaller(size, larger(0, -at));
      const Int end = larger(low, smaller(size, in - at));
      fill(to, low * channels_, padding_);
      Way::write(to + low * channels_, line + (at + low) * channels_, (end - low) * channels_,
                 flip_);
      return fill(to + end * channels_, (size - end) * channels_, padding_);
    }
    for (Int k = 0; k < size; ++k, to += channels_) {
      const Int third = at + k * w_.window_dilation[2];
      if (third < 0 || third >= in) {
        fill(to, channels_, padding_);
      } else {
        Way::write(to, line + third * call_.in_channels + group * channels_, channels_, flip_);
      }
    }
  }

  const ConvolutionCall& call_;
  const Window& w_;
  const Input* images_;
  Int channels_, depth_, step_, planes_;
  unsigned char flip_;
  Number padding_ = 0;
};

// ---- The call.

// False for -0, too. Without an early end, so by whole vectors.
TFAOT_INLINE bool are_zeros(const float* numbers, Int count) {
  std::uint32_t bits = 0;
  for (Int i = 0; i < count; ++i) bits |= read_as<std::uint32_t>(numbers + i);
  return bits == 0;
}

// True if each line of a window is a piece of a line of the image.
TFAOT_INLINE bool has_lines(const ConvolutionCall& c) {
  const Window& w = c.window;
  return c.groups == 1 && w.in[0] == 1 && w.out[0] == 1 && w.size[0] == 1 && w.pad_low[0] == 0 &&
         w.window_dilation[2] == 1;
}
// True if they are whole words: they need not be written side by side then.
template <typename Way>
TFAOT_INLINE bool has_whole_lines(const ConvolutionCall& c) {
  return has_lines(c) && c.window.size[2] * c.in_channels % Way::kSteps == 0;
}

// True if the numbers of an image are the Numbers of a way, and no window meets padding.
template <typename Way>
TFAOT_INLINE bool is_in_place(const LowPrecisionCall& call) {
  if (!std::is_same_v<typename Way::Number, typename Way::Input> ||
      call.input_type == kElementInt8 || call.planes > 0) {
    return false;
  }
  const Window& w = call.convolution.window;
  for (int d = 1; d < kSpatial; ++d) {
    const Int end = (w.out[d] - 1) * w.stride[d] + (w.size[d] - 1) * w.window_dilation[d];
    if (w.pad_low[d] > 0 || end - w.pad_low[d] >= w.in[d]) return false;
  }
  return true;
}

// One function of this file, or g++ would make one that other files see.
__attribute__((flatten)) TFAOT_ONE_COPY Int scratch_bytes(const LowPrecisionCall& call) {
  return low_precision_scratch_bytes(call);
}

// Lines of results whose lines of the image fit into scratch memory, with what a last vector writes
// beyond them.
template <typename Way>
TFAOT_INLINE Int lines_at_once(const Window& w, Int bytes, Int band_line) {
  const Int room = (bytes - 2 * kPanelBytes) / (band_line * Int{sizeof(typename Way::Number)});
  const Int of_window = (w.size[1] - 1) * w.window_dilation[1] + 1;
  return room < of_window ? 0 : smaller(w.out[1], (room - of_window) / w.stride[1] + 1);
}

// ---- Channels that are convolved by themselves.

// The words that the windows of a line of results meet. Steps are in bytes.
struct LineWords {
  Bytes first;
  Int step, column_step, columns, line_step, lines;
  Int at, count;  // the first result's number, and how many there are
};

// Results i to i + MR, fewer of which may count, of the channels of NP panels.
template <typename Way, int MR, int NP>
__attribute__((noinline)) void convolve_some(const LowProduct& p, const LineWords& words, Int i,
                                             Int panel) {
  constexpr int kVectors = NP * kVectorsPerPanel;
  const Int panel_bytes = p.words * kPanelBytes;
  SignedWords sums[MR][kVectors] = {};
  Bytes a[MR], b = p.panels + panel * panel_bytes;
  TFAOT_EACH (r, MR) {
    a[r] = words.first + smaller(i + r, words.count - 1) * words.step + panel * kPanelBytes;
  }
  for (Int line = 0; line < words.lines; ++line) {
    Int at = line * words.line_step;
    for (Int column = 0; column < words.columns; ++column) {
      TFAOT_EACH (v, kVectors) {
        constexpr Int kBytes = TFAOT_VECTOR_BYTES;
        Way::add_words(&sums[0][v], kVectors, MR,
                       b + v / kVectorsPerPanel * panel_bytes + v % kVectorsPerPanel * kBytes, a,
                       at + v * kBytes);
      }
      at += words.column_step;
      b += kPanelBytes;
    }
  }
  finish_tile<TFAOT_VECTOR_BYTES == 32>(p, sums, words.at + i, smaller(MR, words.count - i),
                                        panel * kPanelColumns<float>);
}

// By NP panels at a time, while there are so many.
template <typename Way, int NP>
TFAOT_INLINE Int convolve_panels(const LowProduct& p, const LineWords& words, Int panel) {
  constexpr int kMost = (NP > 2 ? 16 : 8) / NP / kVectorsPerPanel, kFew = (kMost + 1) / 2;
  for (; (panel + NP - 1) * kPanelColumns<float> < p.columns; panel += NP) {
    Int i = 0;
    for (; words.count - i > kFew; i += kMost) convolve_some<Way, kMost, NP>(p, words, i, panel);
    if (i < words.count) convolve_some<Way, kFew, NP>(p, words, i, panel);
  }
  return panel;
}

template <typename Way>
TFAOT_ONE_COPY void convolve_line(const LowProduct& p, const LineWords& words) {
  Int panel = 0;
  if constexpr (kVectorsPerPanel == 1) {
    panel = convolve_panels<Way, 4>(p, words, panel);
    panel = convolve_panels<Way, 2>(p, words, panel);
  }
  convolve_panels<Way, 1>(p, words, panel);
}

// ---- All images.

template <typename Way>
TFAOT_ONE_COPY void convolve(const LowProduct& product, const EpilogueOperands& more,
                             const void* images, Element* scratch) {
  using Number = typename Way::Number;
  const LowPrecisionCall& call = *product.call;
  const ConvolutionCall& c = call.convolution;
  const Window& w = c.window;
  const WindowWriter<typename Way::Written> writer(call, images);
  const Int rows = more.rows * w.out[0] * w.out[1] * w.out[2];
  if (rows == 0) return;
  constexpr Int kUnit = 48;
  const Int lanes = more.tasks != nullptr ? kLanePieces * more.tasks->lanes : 1;
  const auto numbers_in = [](Element* memory) {
    return static_cast<Number*>(static_cast<void*>(memory));
  };
  const auto finish_rows = [&](Int first, Int count) {
    if (more.function == nullptr) return;
    float* const y = static_cast<float*>(product.c) + first * product.c_row;
    activate({y, product.c_row, count, product.c_row, more.function});
  };
  // Calls multiply(memory, image, line, count, at) for at most `lines` lines of results at a time,
  // the first of which is `line`, and row `at` of the product.
  const auto share_lines = [&](Int lines, const auto& multiply) TFAOT_ALWAYS {
    lines = smaller(lines, ceil_div(w.out[1], ceil_div(lanes, more.rows)));
    const Int parts = ceil_div(w.out[1], lines);
    share_or_run(more.tasks, more.rows * parts, scratch, [&](Int piece, Element* memory) {
      const Int image = piece / parts, line = piece % parts * lines;
      const Int count = smaller(lines, w.out[1] - line), at = (image * w.out[1] + line) * w.out[2];
      multiply(memory, image, line, count, at);
      finish_rows(at, count * w.out[2]);
    });
  };
  if constexpr (std::is_base_of_v<Whole, Way> && !kByTiles<Way>) {
    if (is_of_channels(call)) {
      LowPrecisionCall all = call;
      all.convolution.groups = 1;
      const WindowWriter<Whole> bytes(all, images);
      const Int line = bytes.band_line(), words = line_words_bytes(call);
      const Int pixel = 4 * c.in_channels;
      const Int lines = lines_at_once<Whole>(w, scratch_bytes(call) - words, line);
      return share_lines(lines, [&](Element* memory, Int image, Int first, Int count, Int at) {
        auto* const to = static_cast<unsigned char*>(static_cast<void*>(memory));
        unsigned char* const band = to + words;
        bytes.write_band(band, image, first * w.stride[1] - w.pad_low[1], met_lines(w, count));
        for (Int i = 0; i < count; ++i, at += w.out[2]) {
          for (Int j = 0; j < w.size[1]; j += 4) {
            Bytes four[4];
            TFAOT_EACH (l, 4) {
              const Int tap = smaller(j + l, w.size[1] - 1);
              four[l] = band + (i * w.stride[1] + tap * w.window_dilation[1]) * line;
            }
            write_words(to + j * line, four, line);
          }
          convolve_line<Way>(product, {to, w.stride[2] * pixel, w.window_dilation[2] * pixel,
                                       w.size[2], 4 * line, ceil_div(w.size[1], 4), at, w.out[2]});
        }
      });
    }
  }
  if constexpr (!kByTiles<Way>) {
    const bool in_place = has_whole_lines<Way>(c) && is_in_place<Way>(call);
    if (in_place && is_of_rows(w)) {
      const Int block = ceil_div(ceil_div(rows, lanes), kUnit) * kUnit;
      return share_or_run(more.tasks, ceil_div(rows, block), scratch, [&](Int piece, Element*) {
        const Int first = piece * block;
        LeftRows<Number> left = {static_cast<const Number*>(images) + first * c.in_channels,
                                 c.in_channels, first, smaller(block, rows - first)};
        left.line_words = product.words;
        multiply_rows<Way>(product, left);
        finish_rows(first, left.count);
      });
    }
    const Int line_numbers = in_place ? w.in[2] * c.in_channels : writer.band_line();
    const Int lines =
        in_place ? w.out[1] : lines_at_once<Way>(w, scratch_bytes(call), line_numbers);
    // A window of one number is written once in either way.
    if (has_whole_lines<Way>(c) && lines > 0 && (in_place || w.size[1] * w.size[2] > 1)) {
      return share_lines(lines, [&](Element* memory, Int image, Int line, Int count, Int at) {
        const Int from = line * w.stride[1] - w.pad_low[1];
        const Number* first = numbers_in(memory);
        if (in_place) {
          first = static_cast<const Number*>(images) + (image * w.in[1] + from) * line_numbers -
                  w.pad_low[2] * c.in_channels;
        } else {
          writer.write_band(numbers_in(memory), image, from, met_lines(w, count));
        }
        multiply_rows<Way>(
            product, {first, w.stride[2] * c.in_channels, at, count * w.out[2], w.out[2],
                      w.stride[1] * line_numbers, w.size[1], w.window_dilation[1] * line_numbers,
                      w.size[2] * c.in_channels / Way::kSteps});
      });
    }
  }
  const Int most = low_precision_rows_at_once(call);
  // Rows that were written, of a group.
  const auto multiply_written = [&](const LowProduct& p, Number* written, Int first, Int count) {
    LeftRows<Number> left = {written, writer.step(), first, count};
    left.line_words = p.words;
    if constexpr (kByTiles<Way>) {
      const Int all = ceil_div(count, kTileRows) * kTileRows;
      __builtin_memset(written + count * writer.step(), 0,
                       static_cast<unsigned long>((all - count) * writer.step()) * sizeof *written);
      multiply_rows_by_tiles<Way>(p, left);
    } else {
      multiply_rows<Way>(p, left);
    }
  };
  if constexpr (kHasHalf<Way>) {
    // Written from a band in the other half of the memory, without a look at the borders.
    const Int half = scratch_bytes(call) / 2 / kPanelBytes * kPanelBytes;
    const Int lines = lines_at_once<Way>(w, half, writer.band_line());
    if (has_lines(c) && lines > 0 && w.size[1] * w.size[2] > 1) {
      return share_lines(lines, [&](Element* memory, Int image, Int line, Int count, Int at) {
        Number* const band = numbers_in(memory + half / Int{sizeof(Element)});
        writer.write_band(band, image, line * w.stride[1] - w.pad_low[1], met_lines(w, count));
        const Int positions = count * w.out[2];
        for (Int i = 0; i < positions; i += most) {
          const Int some = smaller(most, positions - i);
          writer.write_from_band(numbers_in(memory), band, i, some);
          multiply_written(product, numbers_in(memory), at + i, some);
        }
      });
    }
  }
  const Int block = smaller(most, ceil_div(rows, kUnit * lanes) * kUnit);
  share_or_run(more.tasks, ceil_div(rows, block), scratch, [&](Int piece, Element* memory) {
    const Int first = piece * block, count = smaller(block, rows - first);
    LowProduct p = product;
    for (Int group = 0; group < c.groups; ++group) {
      writer.write(numbers_in(memory), first, count, group);
      multiply_written(p, numbers_in(memory), first, count);
      p.panels += ceil_div(p.columns, kPanelColumns<float>) * p.words * kPanelBytes;
      if (p.offset != nullptr) {
        p.offset += p.columns;
        p.scale += p.columns;
      }
      if (p.bias != nullptr) p.bias += p.columns;
      if (p.addends != nullptr) p.addends += p.columns;
      if (p.added != nullptr) p.added += p.columns;
      p.c = static_cast<char*>(p.c) + p.columns * (call.result_type == kElementFloat32 ? 4 : 1);
    }
    finish_rows(first, count);
  });
}

}  // namespace

extern "C" void TFAOT_KERNEL(low_precision)(void* out, const void** in) {
  const auto& call = call_of<LowPrecisionCall>(in);
  const ConvolutionCall& c = call.convolution;
  const bool is_whole = call.input_type != kElementFloat32;
  const Int before_bias = low_precision_more_operands(call);
  const EpilogueOperands more = epilogue_of(c, in + before_bias);
  // No result of bytes changes by a zero.
  const bool has_bias = more.bias != nullptr && (call.result_type == kElementFloat32 ||
                                                 !are_zeros(more.bias, c.out_channels));
  const bool adds_bytes = call.addend_type != kElementFloat32 && more.addends != nullptr;
  const auto range_of = [&](Int zero_point, Int least, Int most) {
    const Int low = least < 0 ? INT8_MIN : 0;  // a table's result may be of the other type
    const auto byte = [](Int of) { return static_cast<unsigned char>(of); };
    return ByteRange{static_cast<std::int16_t>(zero_point - low), byte(least - low),
                     byte(most - low), byte(low)};
  };
  const Bytes table = call.has_table != 0 ? operand<unsigned char>(in, 2 + before_bias) : nullptr;
  unsigned char table_steps[256];
  if (TFAOT_VECTOR_BYTES == 32 && table != nullptr) steps_of_table(table, table_steps);
  const LowProduct product = {
      &call,
      low_precision_words(call),
      operand<unsigned char>(in, 2),
      is_whole ? operand(in, 3) : nullptr,
      is_whole ? operand(in, 4) : nullptr,
      has_bias ? more.bias : nullptr,
      adds_bytes ? nullptr : more.addends,
      adds_bytes ? static_cast<Bytes>(static_cast<const void*>(more.addends)) : nullptr,
      adds_bytes ? operand(in, 5) : nullptr,
      table,
      table_steps,
      adds_bytes ? range_of(call.sum_zero_point, call.sum_least, call.sum_most)
                 : range_of(call.zero_point, call.least, call.most),
      static_cast<void* const*>(out)[0],
      is_of_channels(call) ? c.out_channels : c.out_channels / c.groups,
      c.out_channels,
      rectifier_of(c.epilogue)};
  Element* const scratch = result(out, 1);
#if TFAOT_VECTOR_BYTES >= 32 && defined(__x86_64__)
  const auto has = [](tfaot::detail::MachineWay way) { return (tfaot_machine_ways & way) != 0; };
#if TFAOT_VECTOR_BYTES == 64
  constexpr auto kWords = tfaot::detail::kByteWords;
  // Sums of whole numbers are exact, so a few rows need no tiles.
  constexpr Int kFewRows = 4;
  const Int rows = more.rows * c.window.out[0] * c.window.out[1] * c.window.out[2];
  if (is_whole && has(tfaot::detail::kByteTiles) && rows > kFewRows && !is_of_channels(call)) {
    return convolve<ByTiles<Whole>>(product, more, in[1], scratch);
  }
  if (!is_whole && has(tfaot::detail::kBfloat16Tiles)) {
    return convolve<ByTiles<OfFloats>>(product, more, in[1], scratch);
  }
  if (!is_whole && has(tfaot::detail::kBfloat16Words)) {
    return convolve<ByWords<OfFloats>>(product, more, in[1], scratch);
  }
#else
  constexpr auto kWords = tfaot::detail::kHalfByteWords;
#endif
  if (is_whole && has(kWords)) return convolve<ByWords<Whole>>(product, more, in[1], scratch);
#endif
  if (is_whole) {
    convolve<ByPairs>(product, more, in[1], scratch);
  } else {
    convolve<ByFloats>(product, more, in[1], scratch);
  }
}
