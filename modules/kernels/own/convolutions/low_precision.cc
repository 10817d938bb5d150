// SPDX-License-Identifier: Apache-2.0
// tfaot_low_precision of abi.h. The numbers of some windows are written side by side, in the form
// that the machine's instructions take; tiles of them are multiplied by panels of the filter.
#define TFAOT_ALL_OF_AVX512
#include "convolutions/image.h"
#include "products/pairs.h"
#include "tfaot/runtime/detail/machine_ways.h"

namespace {

using Bytes = const unsigned char*;

// A group's product.
struct LowProduct {
  const LowPrecisionCall* call;
  Int words;  // of a row and of a column
  Bytes panels;
  const std::int32_t* offset;  // with whole numbers
  const float* scale;
  const float* bias;     // null: none
  const float* addends;  // null: none
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

// ---- Ways to multiply. A way says what numbers of a row are written as (Number, by write()), and
// what a word of them is multiplied with (right()): kParts vectors are a word of a panel's columns.

struct Whole {
  using Input = unsigned char;
  static constexpr int kSteps = 4;
};

// Of 16 bits, on every machine.
struct ByPairs : Whole {
  using Number = std::int16_t;
  using Sum = SignedWords;
  static constexpr int kSums = kParts;
  static constexpr int kPanels = 1;
  static constexpr int kRows = TFAOT_VECTOR_BYTES == 64       ? 8
                               : TFAOT_VECTOR_REGISTERS == 32 ? 4
                               : TFAOT_VECTOR_BYTES == 32     ? 2
                                                              : 1;

  static TFAOT_INLINE void write(Number* to, const Input* from, Int count, unsigned char flip) {
    in_pieces<TFAOT_VECTOR_BYTES / 2>(to, from, count, [&](auto v) TFAOT_ALWAYS {
      using Wide = typename VecOf<Number, 2 * sizeof v>::Type;
      return __builtin_convertvector(v ^ flip, Wide);
    });
  }
  template <int kRows, int kAll>
  static TFAOT_INLINE void add_word(Sum (&sums)[kRows][kAll], Bytes b, Int panel_bytes,
                                    const Number* const (&a)[kRows], Int word) {
    Halves left[kRows];
    TFAOT_EACH (r, kRows) left[r] = spread_steps(a[r] + word * kSteps);
    TFAOT_EACH (i, kAll) {
      const Halves right = widen_part(b + i / kSums * panel_bytes, i % kSums);
      TFAOT_EACH (r, kRows) sums[r][i] += multiply_pairs(right, left[r]);
    }
  }
  static TFAOT_INLINE SignedWords sum(const Sum* sums, int v) {
    return join_pairs(sums[2 * v], sums[2 * v + 1]);
  }
};

struct OfFloats {
  using Input = std::uint32_t;
  static constexpr int kSteps = 2;
};

// bfloat16 as float32, on every machine.
struct ByFloats : OfFloats {
  using Number = float;
  using Sum = Floats;
  static constexpr int kSums = kVectorsPerPanel;
  static constexpr int kPanels = TFAOT_VECTOR_BYTES == 64 ? 4 : 1;
  static constexpr int kRows = TFAOT_TILE_SUMS / (kPanels * kVectorsPerPanel) > 6
                                   ? 6
                                   : TFAOT_TILE_SUMS / (kPanels * kVectorsPerPanel);

  static TFAOT_INLINE void write(Number* to, const Input* from, Int count, unsigned char /*flip*/) {
    in_pieces<kLanes<float>>(to, from, count,
                             [](auto bits) TFAOT_ALWAYS { return round_to_bfloat16(bits); });
  }
  template <int kRows, int kAll>
  static TFAOT_INLINE void add_word(Sum (&sums)[kRows][kAll], Bytes b, Int panel_bytes,
                                    const Number* const (&a)[kRows], Int word) {
    using Words = Vec<std::uint32_t>;
    Words right[kAll];
    TFAOT_EACH (i, kAll) {
      right[i] = read_as<Words>(b + i / kSums * panel_bytes + i % kSums * TFAOT_VECTOR_BYTES);
      keep(right[i]);
    }
    TFAOT_EACH (step, kSteps) {
      TFAOT_EACH (i, kAll) {
        const auto wide = Floats(step == 0 ? right[i] << 16 : right[i] & 0xFFFF0000U);
        TFAOT_EACH (r, kRows) {
          sums[r][i] = multiply_add(wide, a[r][word * kSteps + step], sums[r][i]);
        }
      }
    }
  }
  static TFAOT_INLINE Floats sum(const Sum* sums, int v) { return sums[v]; }
};

#if TFAOT_VECTOR_BYTES == 64 && defined(__x86_64__)
// Written as the words that instructions beyond the level take.
template <typename Operands>
struct AsWords;

template <>
struct AsWords<Whole> : Whole {
  using Number = unsigned char;
  using Sum = SignedWords;

  static TFAOT_INLINE void write(Number* to, const Input* from, Int count, unsigned char flip) {
    in_pieces<32>(to, from, count, [&](auto v) TFAOT_ALWAYS { return v ^ flip; });
  }
  // sum + the four products of each word's bytes, those of `a` without a sign.
  static TFAOT_INLINE void add(Sum& sum, __m512i a, __m512i b) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
};

template <>
struct AsWords<OfFloats> : OfFloats {
  using Number = std::uint16_t;
  using Sum = Floats;

  static TFAOT_INLINE void write(Number* to, const Input* from, Int count, unsigned char /*flip*/) {
    in_pieces<kLanes<float>>(to, from, count, [](auto bits) TFAOT_ALWAYS {
      using Narrow = typename VecOf<Number, sizeof bits / 2>::Type;
      return __builtin_convertvector(round_to_bfloat16(bits) >> 16, Narrow);
    });
  }
  // sum + the two products of each word's bfloat16.
  static TFAOT_INLINE void add(Sum& sum, __m512i a, __m512i b) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
};

template <typename Operands>
struct ByWords : AsWords<Operands> {
  using typename AsWords<Operands>::Number;
  using typename AsWords<Operands>::Sum;
  static constexpr int kSums = 1;
  static constexpr int kPanels = 4;
  static constexpr int kRows = 6;

  template <int kRows, int kAll>
  static TFAOT_INLINE void add_word(Sum (&sums)[kRows][kAll], Bytes b, Int panel_bytes,
                                    const Number* const (&a)[kRows], Int word) {
    __m512i right[kAll];
    TFAOT_EACH (i, kAll) right[i] = read_as<__m512i>(b + i * panel_bytes);
    TFAOT_EACH (r, kRows) {
      const auto left = __m512i(Vec<std::int32_t>{} +
                                read_as<std::int32_t>(a[r] + word * AsWords<Operands>::kSteps));
      TFAOT_EACH (i, kAll) AsWords<Operands>::add(sums[r][i], left, right[i]);
    }
  }
  static TFAOT_INLINE Sum sum(const Sum* sums, int v) { return sums[v]; }
};
#endif

// ---- What becomes of a sum.

TFAOT_INLINE void store_bytes(unsigned char* to, SignedWords words, Int count) {
#if TFAOT_VECTOR_BYTES == 64 && defined(__x86_64__)
  _mm512_mask_cvtepi32_storeu_epi8(to, static_cast<__mmask16>((1U << count) - 1), __m512i(words));
#else
  const auto bytes =
      __builtin_convertvector(words, typename VecOf<std::int8_t, TFAOT_VECTOR_BYTES / 4>::Type);
  if (count == kLanes<float>) {
    __builtin_memcpy(to, &bytes, sizeof bytes);
  } else {
    for (Int i = 0; i < count; ++i) to[i] = static_cast<unsigned char>(bytes[i]);
  }
#endif
}

// The sums of one vector of columns, which rows share.
class Finisher {
 public:
  TFAOT_INLINE Finisher(const LowProduct& p, Int column)
      : p_(p), column_(column), count_(smaller(kLanes<float>, p.columns - column)) {
    if (count_ <= 0) return;
    if (p.offset != nullptr) {
      offset_ = SignedWords(load_first(
          static_cast<const float*>(static_cast<const void*>(p.offset)) + column, count_));
      scale_ = load_first(p.scale + column, count_);
    }
    if (p.bias != nullptr) bias_ = load_first(p.bias + column, count_);
  }

  TFAOT_INLINE bool has_columns() const { return count_ > 0; }

  TFAOT_INLINE void finish(Int row, SignedWords sum) const {
    finish(row, __builtin_convertvector(sum + offset_, Floats) * scale_);
  }
  TFAOT_INLINE void finish(Int row, Floats value) const {
    const Int at = row * p_.c_row + column_;
    if (p_.bias != nullptr) value += bias_;
    if (p_.addends != nullptr) value += load_first(p_.addends + at, count_);
    value = rectified<float>(value, p_.rectifier);
    const LowPrecisionCall& call = *p_.call;
    if (call.result_type == kElementFloat32) {
      return store_first(static_cast<float*>(p_.c) + at, value, count_);
    }
    const auto bound = [&](Int of) TFAOT_ALWAYS {
      return Floats{} + static_cast<float>(of - call.zero_point);
    };
    value = smaller_of<float>(larger_of<float>(value, bound(call.least)), bound(call.most));
    constexpr float kRounder = 12582912.0F;  // leaves whole numbers in the last bits
    const SignedWords whole = SignedWords(value + kRounder) - SignedWords(Floats{} + kRounder);
    store_bytes(static_cast<unsigned char*>(p_.c) + at,
                whole + static_cast<std::int32_t>(call.zero_point), count_);
  }

 private:
  const LowProduct& p_;
  Int column_, count_;
  SignedWords offset_ = {};
  Floats scale_ = {}, bias_ = {};
};

// ---- Tiles.

// Some rows of the left side.
template <typename Number>
struct WrittenRows {
  const Number* first;
  Int step;       // numbers from one to the next
  Int at, count;  // the first one's number in the product; how many count
};

// Multiplies MR rows by NP panels; fewer rows may count, and columns may lie beyond the last.
template <typename Way, int MR, int NP>
__attribute__((noinline)) void multiply_tile(const LowProduct& p,
                                             const WrittenRows<typename Way::Number>& rows,
                                             Int panel) {
  const Int panel_bytes = p.words * kPanelBytes;
  typename Way::Sum sums[MR][NP * Way::kSums] = {};
  const typename Way::Number* a[MR];
  TFAOT_EACH (r, MR) a[r] = rows.first + r * rows.step;
  Bytes b = p.panels + panel * panel_bytes;
  for (Int word = 0; word < p.words; ++word, b += kPanelBytes) {
    Way::add_word(sums, b, panel_bytes, a, word);
  }
  TFAOT_EACH (i, NP * kVectorsPerPanel) {
    const Finisher columns(p, panel * kPanelColumns<float> + i * kLanes<float>);
    if (!columns.has_columns()) return;
    TFAOT_EACH (r, MR) {
      if (r < rows.count) {
        columns.finish(rows.at + r,
                       Way::sum(sums[r] + i / kVectorsPerPanel * Way::kSums, i % kVectorsPerPanel));
      }
    }
  }
}

// By the smallest tile that has all rows that are left, or the largest one.
template <typename Way, int NP>
TFAOT_INLINE void multiply_panels(const LowProduct& p, WrittenRows<typename Way::Number> rows,
                                  Int panel) {
  constexpr int kMost = Way::kRows, kFew = (kMost + 1) / 2;
  const auto next = [&](auto size) TFAOT_ALWAYS {
    auto some = rows;
    some.count = smaller(size, rows.count);
    multiply_tile<Way, size, NP>(p, some, panel);
    rows.first += size * rows.step;
    rows.at += size;
    rows.count -= size;
  };
  while (rows.count > kFew) next(Number<kMost>());
  if (rows.count > 1) next(Number<kFew>());
  if (rows.count == 1) next(Number<1>());
}

template <typename Way>
TFAOT_INLINE void multiply_rows(const LowProduct& p,
                                const WrittenRows<typename Way::Number>& rows) {
  const Int panels = ceil_div(p.columns, kPanelColumns<float>);
  Int panel = 0;
  for (; panel + Way::kPanels <= panels; panel += Way::kPanels) {
    multiply_panels<Way, Way::kPanels>(p, rows, panel);
  }
  if constexpr (Way::kPanels > 1) {
    for (; panel < panels; ++panel) multiply_panels<Way, 1>(p, rows, panel);
  }
}

// ---- Windows.

// Writes the numbers of windows, position by position.
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
        flip_(call.input_type == kElementInt8 ? 0x80 : 0) {
    if (call.input_type != kElementFloat32) {
      padding_ = static_cast<Number>((call.padding & 0xFF) ^ flip_);
    }
  }

  Int step() const { return step_; }

  // Position `row` of all images.
  TFAOT_INLINE void write(Number* to, Int row, Int group) const {
    Number* const end = to + depth_;
    Int at[kSpatial];
    for (int d = kSpatial - 1; d >= 0; --d) {
      at[d] = row % w_.out[d] * w_.stride[d] - w_.pad_low[d];
      row /= w_.out[d];
    }
    const Input* const image = images_ + row * input_elements(w_, call_.in_channels);
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
    for (Int i = depth_; i < step_; ++i) end[i - depth_] = 0;
  }

 private:
  static TFAOT_INLINE void fill(Number* to, Int count, Number with) {
    for (Int i = 0; i < count; ++i) to[i] = with;
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
  Int channels_, depth_, step_;
  unsigned char flip_;
  Number padding_ = 0;
};

// ---- The call.

template <typename Way>
TFAOT_ONE_COPY void convolve(const LowProduct& product, const EpilogueOperands& more,
                             const void* images, Element* scratch) {
  const LowPrecisionCall& call = *product.call;
  const ConvolutionCall& c = call.convolution;
  const WindowWriter<Way> writer(call, images);
  const Int rows = more.rows * c.window.out[0] * c.window.out[1] * c.window.out[2];
  if (rows == 0) return;
  constexpr Int kUnit = 48;
  const Int fit = low_precision_rows_at_once(call);
  const Int lanes = more.tasks != nullptr ? more.tasks->lanes : 1;
  const Int block = smaller(fit, ceil_div(rows, kUnit * lanes) * kUnit);
  share_or_run(more.tasks, ceil_div(rows, block), scratch, [&](Int piece, Element* memory) {
    auto* const written = static_cast<typename Way::Number*>(static_cast<void*>(memory));
    const Int first = piece * block, count = smaller(block, rows - first);
    const Int all = ceil_div(count, Way::kRows) * Way::kRows;
    LowProduct p = product;
    const Int panel_bytes = p.words * kPanelBytes;
    for (Int group = 0; group < c.groups; ++group) {
      for (Int i = 0; i < count; ++i) writer.write(written + i * writer.step(), first + i, group);
      __builtin_memset(written + count * writer.step(), 0,
                       static_cast<unsigned long>((all - count) * writer.step()) * sizeof *written);
      multiply_rows<Way>(p, {written, writer.step(), first, count});
      p.panels += ceil_div(p.columns, kPanelColumns<float>) * panel_bytes;
      if (p.offset != nullptr) {
        p.offset += p.columns;
        p.scale += p.columns;
      }
      if (p.bias != nullptr) p.bias += p.columns;
      if (p.addends != nullptr) p.addends += p.columns;
      p.c = static_cast<char*>(p.c) + p.columns * (call.result_type == kElementFloat32 ? 4 : 1);
    }
    if (more.function != nullptr) {
      float* const y = static_cast<float*>(product.c) + first * product.c_row;
      activate({y, product.c_row, count, product.c_row, more.function});
    }
  });
}

}  // namespace

extern "C" void TFAOT_KERNEL(low_precision)(void* out, const void** in) {
  const auto& call = call_of<LowPrecisionCall>(in);
  const ConvolutionCall& c = call.convolution;
  const bool is_whole = call.input_type != kElementFloat32;
  const EpilogueOperands more = epilogue_of(c, in + (is_whole ? 2 : 0));
  const LowProduct product = {&call,
                              low_precision_words(call),
                              operand<unsigned char>(in, 2),
                              is_whole ? operand<std::int32_t>(in, 3) : nullptr,
                              is_whole ? operand(in, 4) : nullptr,
                              more.bias,
                              more.addends,
                              static_cast<void* const*>(out)[0],
                              c.out_channels / c.groups,
                              c.out_channels,
                              rectifier_of(c.epilogue)};
  Element* const scratch = result(out, 1);
#if TFAOT_VECTOR_BYTES == 64 && defined(__x86_64__)
  const auto has = [](tfaot::detail::MachineWay way) { return (tfaot_machine_ways & way) != 0; };
  if (is_whole && has(tfaot::detail::kByteWords)) {
    return convolve<ByWords<Whole>>(product, more, in[1], scratch);
  }
  if (!is_whole && has(tfaot::detail::kBfloat16Words)) {
    return convolve<ByWords<OfFloats>>(product, more, in[1], scratch);
  }
#endif
  if (is_whole) {
    convolve<ByPairs>(product, more, in[1], scratch);
  } else {
    convolve<ByFloats>(product, more, in[1], scratch);
  }
}
