// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of 8-bit whole numbers. A quantised model has them as arithmetic of
// float32: whole numbers become the real ones that they stand for, these are multiplied, and the
// results are quantised again. All of that is one call on the whole numbers, whose sums are exact.
// A sum with another quantised tensor, and a function of single bytes, which a table has, may
// follow.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/kernels/convolution_calls.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/packing.h"
#include "xla/literal_util.h"
#include "xla/permutation_util.h"

namespace tfaot::toolkit::engine {
namespace {

// ---- Real numbers that whole ones stand for.

// One scale for a whole tensor, or one for each index of a dimension.
struct Scale {
  HloInstruction* numbers = nullptr;  // a scalar, or a vector
  std::int64_t dimension = kSpread;   // of the tensor
};

// Nothing for other tensors than broadcast ones, and for numbers along several dimensions.
std::optional<Scale> scale_of(HloInstruction* value) {
  Dimensions places = counted(value->shape().rank());
  while (value->opcode() == kBroadcast) {
    Dimensions before;
    for (const std::int64_t d : value->dimensions()) before.push_back(entry(places, d));
    places = before;
    value = value->mutable_operand(0);
  }
  if (elements_of(*value) == 1) return Scale{reshape(value, {})};
  for (std::int64_t d = 0; d < value->shape().rank(); ++d) {
    if (size_of(*value, d) == elements_of(*value)) {
      return Scale{reshape(value, {elements_of(*value)}), entry(places, d)};
    }
  }
  return {};
}

// Nothing for other numbers, and for those that the type lacks.
std::optional<std::int64_t> whole_number(double number, xla::PrimitiveType type) {
  const auto whole = static_cast<std::int64_t>(number);
  const bool is_one =
      static_cast<double>(whole) == number && xla::primitive_util::FitsInIntegralType(whole, type);
  return is_one ? std::optional(whole) : std::nullopt;
}

// (whole - zero) * scale, with its elements moved.
struct Dequantized {
  HloInstruction* whole = nullptr;
  Scale scale = {};  // its dimension is one of the moved tensor
  std::int64_t zero = 0;
  Instructions moves = {};  // from the last to the first
};

// The same scales in the result of a move; false: they are not along one dimension there.
bool follow(Scale& scale, const HloInstruction& move) {
  if (scale.dimension == kSpread) return true;
  if (!xla::HloPredicateIsOp<kReshape, kTranspose>(&move)) return false;
  const Strides before = view_of(move.operands()[0]).strides;
  const Strides after = view_of_operand(move)->strides;
  const auto same = std::ranges::find(after, entry(before, scale.dimension));
  scale.dimension = same - after.begin();
  return same != after.end();
}

// True if it moves elements, or adds real zeros.
bool is_move(const HloInstruction& value) {
  return xla::HloPredicateIsOp<kReshape, kReverse, kSlice, kTranspose>(&value) ||
         (value.opcode() == kPad && number_of(*value.operand(1)) == 0);
}

std::optional<Dequantized> dequantized(HloInstruction* value) {
  Dequantized made;
  while (is_move(*value)) {
    made.moves.push_back(value);
    value = value->mutable_operand(0);
  }
  HloInstruction* factors[2] = {nullptr, nullptr};
  if (!xla::Match(value, m::Multiply(m::Op(&factors[0]), m::Op(&factors[1])))) return {};
  for (const std::size_t i : {0U, 1U}) {
    double zero = 0, added = 0;
    const auto whole = m::Convert(m::Op(&made.whole));
    if (!xla::Match(factors[i], m::AnyOf<HloInstruction>(m::Subtract(whole, number(&zero)), whole,
                                                         m::AddAnyOrder(whole, number(&added)))) ||
        !xla::primitive_util::IsIntegralType(type_of(*made.whole))) {
      continue;
    }
    const auto scale = scale_of(factors[1 - i]);
    const auto point = whole_number(zero - added, type_of(*made.whole));
    if (!scale || !point) continue;
    made.zero = *point;
    made.scale = *scale;
    for (auto move = made.moves.rbegin(); move != made.moves.rend(); ++move) {
      if (!follow(made.scale, **move)) return {};
    }
    return made;
  }
  return {};
}

// The whole numbers, moved.
HloInstruction* moved(const Dequantized& value) {
  HloInstruction* whole = value.whole;
  for (auto move = value.moves.rbegin(); move != value.moves.rend(); ++move) {
    Instructions operands = {whole};
    if ((*move)->opcode() == kPad) {
      const auto zero = static_cast<double>(value.zero);
      operands.push_back(scalar_next_to(whole, type_of(*whole), zero));
    }
    const xla::Shape shape = shape_of(type_of(*whole), (*move)->shape().dimensions());
    whole = add_next_to(whole, (*move)->CloneWithNewOperands(shape, operands));
  }
  return whole;
}

bool is_of_bytes(const Dequantized& value) {
  return type_of(*value.whole) == xla::U8 || type_of(*value.whole) == xla::S8;
}

// Weights less their zero point, as int8; null if they may not fit.
HloInstruction* whole_weights(const Dequantized& weights) {
  constexpr std::int64_t kMiddleOfUint8 = 128;
  const bool is_signed = type_of(*weights.whole) == xla::S8;
  if (weights.zero != (is_signed ? 0 : kMiddleOfUint8)) return nullptr;
  HloInstruction* const whole = moved(weights);
  if (is_signed) return whole;
  HloInstruction* const wide = convert(whole, xla::S32);
  return convert(binary(kSubtract, wide, fill_like(wide, kMiddleOfUint8)), xla::S8);
}

// ---- Real numbers that are quantised.

// A number divided by a scale, rounded, and moved by the zero point into the range of a type.
struct Quantization {
  HloInstruction* scale;  // a scalar
  std::int64_t zero, least, most;
  HloInstruction* last;  // the whole numbers
};

// The quotient of a number and a scale, if nothing else uses the number. A constant divisor may be
// guarded: clamp(scale, number, scale).
HloInstruction* only_quotient(const HloInstruction& number) {
  if (number.IsRoot()) return nullptr;
  HloInstruction* quotient = nullptr;
  for (HloInstruction* const user : number.users()) {
    if (user->opcode() == kDivide && user->operand(0) == &number) quotient = user;
  }
  const auto is_part = [&](const HloInstruction* user) {
    return user == quotient || (user->opcode() == kClamp && only_user(*user) == quotient &&
                                user->operand(0) == user->operand(2));
  };
  return std::ranges::all_of(number.users(), is_part) ? quotient : nullptr;
}

std::optional<Quantization> quantization_of(const HloInstruction& real) {
  HloInstruction* const quotient = only_quotient(real);
  if (quotient == nullptr) return {};
  HloInstruction* divisor = quotient->mutable_operand(1);
  if (divisor->opcode() == kClamp) divisor = divisor->mutable_operand(0);
  const auto scale = scale_of(divisor);
  HloInstruction* rounded = only_user(*quotient);
  if (!scale || scale->dimension != kSpread || rounded == nullptr ||
      rounded->opcode() != kRoundNearestEven) {
    return {};
  }
  double zero = 0, least = 0, most = 0;
  HloInstruction* next = only_user(*rounded);
  if (next != nullptr && xla::Match(next, m::AddAnyOrder(same_as(rounded), number(&zero)))) {
    rounded = next;
    next = only_user(*next);
  }
  if (next == nullptr ||
      !xla::Match(next, m::Clamp(number(&least), same_as(rounded), number(&most)))) {
    return {};
  }
  HloInstruction* const last = only_user(*next);
  if (last == nullptr || last->opcode() != kConvert ||
      (type_of(*last) != xla::U8 && type_of(*last) != xla::S8)) {
    return {};
  }
  const auto whole_zero = whole_number(zero, type_of(*last));
  const auto whole_least = whole_number(least, type_of(*last));
  const auto whole_most = whole_number(most, type_of(*last));
  if (!whole_zero || !whole_least || !whole_most) return {};
  return Quantization{scale->numbers, *whole_zero, *whole_least, *whole_most, last};
}

// The sum of a quantised result and another quantised tensor.
struct QuantizedSum {
  Dequantized result, addends;
  Quantization quantization;  // of the sum, or of a relu of it
};

bool is_spread_bytes(const std::optional<Dequantized>& value) {
  return value && is_of_bytes(*value) && value->scale.dimension == kSpread;
}

// Nothing if other operations use the bytes.
std::optional<QuantizedSum> sum_with(HloInstruction& bytes) {
  HloInstruction* before = &bytes;
  HloInstruction* next = only_user(bytes);
  constexpr int kSteps = 3;  // a conversion, a zero point, a scale
  for (int step = 0; step < kSteps && next != nullptr && next->opcode() != kTuple; ++step) {
    before = next;
    next = only_user(*next);
    HloInstruction* const other = next == nullptr ? nullptr : other_operand(*next, kAdd, before);
    if (other == nullptr) continue;
    const auto result = dequantized(before), addends = dequantized(other);
    if (!is_spread_bytes(result) || !is_spread_bytes(addends) || result->whole != &bytes) continue;
    if (!std::ranges::all_of(result->moves, xla::HloPredicateIsOp<kReshape>)) return {};
    HloInstruction* const relu = only_user(*next);
    const bool has_relu =
        relu != nullptr && xla::Match(relu, m::MaximumAnyOrder(same_as(next), number_equal(0)));
    auto quantization = quantization_of(has_relu ? *relu : *next);
    if (!quantization) return {};
    if (has_relu) quantization->least = std::max(quantization->least, quantization->zero);
    return QuantizedSum{*result, *addends, *quantization};
  }
  return {};
}

// ---- Functions of single bytes.

// Operations whose results have the same bits wherever they are computed.
bool is_exact(const HloInstruction& one) {
  return xla::HloPredicateIsOp<kAbs, kAdd, kClamp, kCompare, kConvert, kDivide, kMaximum, kMinimum,
                               kMultiply, kNegate, kRoundNearestEven, kSelect, kSubtract>(&one);
}

// True if all elements of it are one number.
bool is_one_number(const HloInstruction* value) {
  while (value->opcode() == kBroadcast) value = value->operand(0);
  return elements_of(*value) == 1;
}

// A conversion to bytes whose result depends on one byte alone, and the table of its results.
struct ByteFunction {
  HloInstruction* last = nullptr;  // null: there is none
  HloInstruction* table = nullptr;
};

// All that is computed from `bytes`, up to the last conversion that everything else leads to. On
// the way numbers may be quantised, and may meet again, as those of x * hardsigmoid(x) do.
ByteFunction function_of_bytes(HloInstruction& bytes) {
  constexpr std::size_t kMostOperations = 64;
  Instructions parts = {&bytes};
  const auto is_part = [&](const HloInstruction* one) { return absl::c_linear_search(parts, one); };
  const auto is_next = [&](const HloInstruction& user) {
    return !is_part(&user) && is_exact(user) && dimensions_of(user) == dimensions_of(bytes) &&
           std::ranges::all_of(user.operands(), [&](const HloInstruction* operand) {
             return is_part(operand) || is_one_number(operand);
           });
  };
  const auto is_only_result = [&](const HloInstruction* one) {
    return std::ranges::all_of(parts, [&](const HloInstruction* part) {
      return part == one || (!part->IsRoot() && std::ranges::all_of(part->users(), is_part));
    });
  };
  HloInstruction* last = nullptr;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (HloInstruction* const user : parts[i]->users()) {
      if (parts.size() == kMostOperations || !is_next(*user)) continue;
      parts.push_back(user);
      const bool is_bytes = type_of(*user) == xla::U8 || type_of(*user) == xla::S8;
      if (is_bytes && user->opcode() == kConvert && is_only_result(user)) last = user;
    }
  }
  if (last == nullptr) return {};

  constexpr std::int64_t kCount = UINT8_MAX + 1;
  std::vector<std::uint8_t> bits(kCount);  // a constant, which XLA folds as it does no iota
  std::iota(bits.begin(), bits.end(), std::uint8_t{0});
  HloInstruction* const place =
      constant_next_to(&bytes, xla::LiteralUtil::CreateR1<std::uint8_t>(bits));
  std::map<const HloInstruction*, HloInstruction*> made = {
      {&bytes, convert(place, type_of(bytes))}};  // modulo 256
  const auto of_table = [&](const auto& self, HloInstruction* one) -> HloInstruction* {
    if (const auto found = made.find(one); found != made.end()) return found->second;
    HloInstruction* result = nullptr;
    if (is_part(one)) {
      Instructions operands;
      for (HloInstruction* const operand : one->operands()) {
        operands.push_back(self(self, operand));
        if (operands.back() == nullptr) return nullptr;
      }
      result = rebuild(*one, {kCount}, operands);
    } else if (const auto numbers = scale_of(one); numbers && numbers->dimension == kSpread) {
      result = broadcast(numbers->numbers, {kCount}, {});
    }
    return made[one] = result;
  };
  HloInstruction* const table = of_table(of_table, last);
  return table == nullptr ? ByteFunction{} : ByteFunction{last, table};
}

// ---- Products and convolutions.

struct WholeProduct {
  kernels::ConvolutionCall call = {};
  HloInstruction* input = nullptr;     // as the kernel reads it
  HloInstruction* matrices = nullptr;  // int8 [groups, depth, columns]
  Dimensions sizes = {};               // of the result
  Dimensions order = {};               // dimensions of the original result, in order of the call
  std::int64_t planes = 0;             // of the input; 0: its channels come last
};

// The dimension of the weights that has their columns.
std::int64_t column_dimension(const HloInstruction& one) {
  if (one.opcode() == kDot) return 1 - one.dot_dimension_numbers().rhs_contracting_dimensions(0);
  return one.convolution_dimension_numbers().kernel_output_feature_dimension();
}

WholeProduct product_of_rows(const MatrixProduct& dot, HloInstruction* left,
                             HloInstruction* weights, const Dimensions& sizes) {
  WholeProduct made;
  if (!dot.sums_last()) {
    const Dimensions depth = {dot.left_depth};
    const Dimensions free = other_dimensions(left->shape().rank(), {depth});
    left = transpose(left, joined({free, depth}));
  }
  if (dot.matrix_depth == 1) weights = transpose(weights, {1, 0});
  const Dimensions matrix = dimensions_of(*weights);
  made.input = left;
  made.matrices = reshape(weights, {1, matrix[0], matrix[1]});
  made.call = convolution_of_rows(elements_of(*left) / matrix[0], matrix[0], matrix[1]);
  made.sizes = sizes;
  made.order = counted(std::ssize(sizes));
  return made;
}

// The call of a convolution of whole numbers, so far that the kernel's form follows from it.
kernels::LowPrecisionCall bytes_call(const HloInstruction& convolution) {
  return {.convolution = convolution_call(convolution), .input_type = kernels::kElementUint8};
}

// Words of four lines of a column, in order [lines, columns], as one matrix.
HloInstruction* channel_words(HloInstruction* filter, const kernels::ConvolutionCall& call) {
  constexpr std::int64_t kLines = 4;
  const std::int64_t columns = call.window.size[2], channels = call.out_channels;
  HloInstruction* const lines = pad_end(reshape(filter, {call.window.size[1], columns, channels}),
                                        0, (call.window.size[1] + kLines - 1) / kLines * kLines);
  const std::int64_t words = size_of(*lines, 0) / kLines;
  HloInstruction* const turned =
      transpose(reshape(lines, {words, kLines, columns, channels}), {0, 2, 1, 3});
  return reshape(turned, {1, words * columns * kLines, channels});
}

constexpr std::int64_t kWordChannels = 4;

// Images with channels before their pixels, which the kernel turns as it reads them, for images
// with channels behind; null: it does not.
HloInstruction* planes_of(HloInstruction& images, const kernels::ConvolutionCall& call) {
  const kernels::Window& w = call.window;
  const std::int64_t rank = images.shape().rank();
  if (images.opcode() != kTranspose || rank < 3 || rank > 4 || call.in_channels > kWordChannels ||
      call.groups > 1 || w.size[1] * w.size[2] == 1 || w.window_dilation[2] > 1) {
    return nullptr;
  }
  Dimensions order = counted(rank);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return std::ranges::equal(images.dimensions(), order) ? images.mutable_operand(0) : nullptr;
}

enum class Planes : std::uint8_t { kTurned, kRead };  // before the kernel, or by it

WholeProduct product_of_images(const HloInstruction& convolution, HloInstruction* input,
                               HloInstruction* filter, Planes by) {
  WholeProduct made;
  made.call = convolution_call(convolution);
  made.input = transpose(input, input_order(convolution));
  HloInstruction* plain = plain_filter(filter, convolution);
  HloInstruction* const planes = by == Planes::kRead ? planes_of(*made.input, made.call) : nullptr;
  if (planes != nullptr) {
    made.input = planes;
    made.planes = std::exchange(made.call.in_channels, kWordChannels);
    plain = pad_end(plain, plain->shape().rank() - 2, kWordChannels);
  }
  made.matrices = kernels::is_of_channels(bytes_call(convolution))
                      ? channel_words(plain, made.call)
                      : filter_matrices(plain, made.call);
  made.order = output_order(convolution);
  made.sizes = picked(convolution.shape().dimensions(), made.order);
  return made;
}

// True if the kernel does it, and not one for small groups.
bool is_for_whole_numbers(const HloInstruction& convolution) {
  const auto spatial = convolution.window().dimensions_size();
  if (convolution.batch_group_count() != 1 || spatial < 1 || spatial > kernels::kSpatial) {
    return false;
  }
  const kernels::LowPrecisionCall whole = bytes_call(convolution);
  const kernels::ConvolutionCall& call = whole.convolution;
  return !has_base_dilation(call.window) && met_taps(call.window) > 0 && !is_of_groups(call) &&
         (!is_depthwise(call) || kernels::is_of_channels(whole));
}

// ---- Numbers of columns, which folding computes from the weights.

HloInstruction* of_columns(const Scale& scale, std::int64_t columns) {
  return scale.dimension == kSpread ? broadcast(scale.numbers, {columns}, {}) : scale.numbers;
}

// The sum of each column, of whole numbers in order [groups, depth, columns].
HloInstruction* sums_of_columns(HloInstruction* wide) {
  HloInstruction* const sums = reduce(wide, scalar_next_to(wide, xla::S32, 0), {1}, kAdd);
  return reshape(sums, {elements_of(*sums)});
}

// What a column's sum of whole numbers is moved by, for the zero point of the left side, a
// scalar of S32.
HloInstruction* zero_point_sums(HloInstruction* matrices, HloInstruction* zero,
                                kernels::ElementType type) {
  constexpr std::int64_t kMiddleOfInt8 = 128;
  if (type == kernels::kElementInt8) zero = binary(kAdd, zero, fill_like(zero, kMiddleOfInt8));
  HloInstruction* const columns = sums_of_columns(convert(matrices, xla::S32));
  return binary(kMultiply, columns, broadcast(negate(zero), {elements_of(*columns)}, {}));
}

// True for each column whose products are in 32 bits with this number added.
HloInstruction* fit_32_bits(HloInstruction* added, HloInstruction* matrices) {
  HloInstruction* const sums = sums_of_columns(unary(kAbs, convert(matrices, xla::S32)));
  HloInstruction* const most = binary(kMultiply, sums, fill_like(sums, UINT8_MAX));
  HloInstruction* const room = binary(kSubtract, fill_like(sums, INT32_MAX), most);
  return compare(clamp(negate(room), added, room), xla::ComparisonDirection::kEq, added);
}

// A bias of whole numbers: those that are in steps of `scale`, as quantisers write them, and leave
// sums in 32 bits; and what the others are as real numbers. Scales are weights, so that is known
// when they are.
struct SplitBias {
  HloInstruction* whole;
  HloInstruction* real;
};
SplitBias split_bias(const Dequantized& bias, HloInstruction* real, HloInstruction* scale,
                     HloInstruction* matrices) {
  const std::int64_t columns = elements_of(*scale);
  constexpr double kSame = 1e-6;  // two roundings to float32
  HloInstruction* const away =
      unary(kAbs, binary(kSubtract, of_columns(bias.scale, columns), scale));
  HloInstruction* const is_same = compare(away, xla::ComparisonDirection::kLe,
                                          binary(kMultiply, scale, fill_like(scale, kSame)));
  HloInstruction* const whole = reshape(moved(bias), {columns});
  HloInstruction* const is_whole = binary(kAnd, is_same, fit_32_bits(whole, matrices));
  return {select(is_whole, whole, fill_like(whole, 0)), select(is_whole, fill_like(real, 0), real)};
}

kernels::ElementType type_of_bytes(const HloInstruction& bytes) {
  return type_of(bytes) == xla::S8 ? kernels::kElementInt8 : kernels::kElementUint8;
}

// What limits real numbers before they are quantised.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  HloInstruction* last = nullptr;
};

// The value as the one operation that uses it sees it, in other dimensions. Nothing that is done to
// single elements depends on these.
HloInstruction* reshaped(HloInstruction* value) {
  HloInstruction* const user = only_user(*value);
  return user != nullptr && user->opcode() == kReshape ? user : value;
}

Limits limits_of(const Epilogue& epilogue) {
  HloInstruction* const real = reshaped(epilogue.last);
  Limits limits{.last = real};
  double low = 0, high = 0;
  HloInstruction* const next = only_user(*real);
  if (next != nullptr && xla::Match(next, m::Clamp(number(&low), same_as(real), number(&high))) &&
      low < high) {
    limits = {low, high, next};
  }
  if (epilogue.relu) limits.low = std::max(limits.low, 0.0);
  if (epilogue.six) limits.high = std::min(limits.high, 6.0);
  return limits;
}

// Limits a quantised result as the real numbers are; false: their steps are not known.
bool limit(const Limits& limits, const Quantization& result, kernels::LowPrecisionCall& call) {
  call.zero_point = result.zero;
  call.least = result.least;
  call.most = result.most;
  const auto scale = number_of(*result.scale);
  const auto set = [&](std::int64_t& limited, double bound) {
    if (std::isinf(bound)) return true;
    if (bound != 0 && !scale) return false;
    const double steps =
        bound == 0 ? 0 : std::nearbyint(static_cast<float>(bound) / static_cast<float>(*scale));
    limited = std::llround(std::clamp(steps + static_cast<double>(result.zero),
                                      static_cast<double>(result.least),
                                      static_cast<double>(result.most)));
    return true;
  };
  return set(call.least, limits.low) && set(call.most, limits.high);
}

HloInstruction* whole_call(HloInstruction& one, const WholeProduct& product,
                           const kernels::LowPrecisionCall& call, const Instructions& numbers,
                           const Epilogue& epilogue, xla::PrimitiveType type) {
  KernelCall made{
      Kernel::kLowPrecision,
      as_words(call),
      {product.input, pack_words(product.matrices, xla::S8, kernels::low_precision_numbers(call))},
      product.sizes};
  made.operands.insert(made.operands.end(), numbers.begin(), numbers.end());
  made.type = type;
  epilogue.add_operands(made.operands);
  return transpose(add_kernel_call(made, one), xla::InversePermutation(product.order));
}

// Sums of more may be larger than 32 bits.
constexpr std::int64_t kMostTerms = INT32_MAX / (UINT8_MAX * -INT8_MIN);

// ---- Products of integers, as MatMulInteger has them: multiply_exactly() widens their numbers.

// Bytes, less a number.
struct Integers {
  Dequantized bytes;
  HloInstruction* point = nullptr;  // a scalar; null: 0
};

std::optional<Integers> integers(HloInstruction* value) {
  Integers made;
  for (;;) {
    HloInstruction* const under = value->operand_count() > 0 ? value->mutable_operand(0) : nullptr;
    if (is_move(*value) && value->opcode() != kPad) {
      made.bytes.moves.push_back(value);
    } else if (value->opcode() == kConvert) {
      made.bytes.whole = under;
      if (is_of_bytes(made.bytes)) return made;
      if (type_of(*under) != xla::S32) return {};
    } else if (value->opcode() == kSubtract && made.point == nullptr) {
      const auto point = scale_of(value->mutable_operand(1));
      if (!point || point->dimension != kSpread) return {};
      made.point = point->numbers;
    } else {
      return {};
    }
    value = under;
  }
}

// The product as float32, times a scale.
struct ScaledIntegers {
  HloInstruction* product;
  Scale scale;
};

std::optional<ScaledIntegers> scaled_integers(const HloInstruction& sums) {
  HloInstruction* user = only_user(sums);
  while (user != nullptr && (user->opcode() == kReshape ||
                             (user->opcode() == kConvert && type_of(*user) == xla::S32))) {
    user = only_user(*user);
  }
  if (user == nullptr || user->opcode() != kConvert || !is_float32(*user)) return {};
  HloInstruction* const multiplied = only_user(*user);
  HloInstruction* const factor =
      multiplied == nullptr ? nullptr : other_operand(*multiplied, kMultiply, user);
  const auto scale = factor == nullptr ? std::nullopt : scale_of(factor);
  return scale ? std::optional(ScaledIntegers{multiplied, *scale}) : std::nullopt;
}

// The images with their padding, which the window then has no more.
HloInstruction* padded_by(HloInstruction* images, HloInstruction* with, kernels::Window& w) {
  xla::PaddingConfig padding = xla::MakeNoPaddingConfig(images->shape().rank());
  Dimensions sizes = dimensions_of(*images);
  bool is_padded = false;
  for (int at = static_cast<int>(sizes.size()) - 2, d = kernels::kSpatial - 1; at > 0; --at, --d) {
    is_padded |= w.pad_low[d] != 0 || w.pad_high[d] != 0;
    padding.mutable_dimensions(at)->set_edge_padding_low(w.pad_low[d]);
    padding.mutable_dimensions(at)->set_edge_padding_high(w.pad_high[d]);
    sizes[static_cast<std::size_t>(at)] = w.in[d] += w.pad_low[d] + w.pad_high[d];
    w.pad_low[d] = w.pad_high[d] = 0;
  }
  if (!is_padded) return images;
  return add_next_to(
      images, HloInstruction::CreatePad(shape_of(type_of(*images), sizes), images, with, padding));
}

}  // namespace

Status replace_whole_product(HloInstruction& one, PassContext& context) {
  if ((one.opcode() != kDot && one.opcode() != kConvolution) || !is_float32(one) ||
      elements_of(one) == 0) {
    return {};
  }
  const WeightValues& values = context.values();
  const auto left = dequantized(one.mutable_operand(0));
  const auto right = dequantized(one.mutable_operand(1));
  if (!left || !right || !is_of_bytes(*left) || !is_of_bytes(*right) || values.is_known(&one) ||
      !values.is_known(right->whole)) {
    return {};
  }
  const auto refused = [&](const std::string& why) {
    add_remark(context, one, "no low_precision: " + why);
    return Status();
  };
  const auto dot = matrix_product(one);
  if (one.opcode() == kDot ? !dot : !is_for_whole_numbers(one)) {
    return refused("it is no product with one matrix, or convolves small groups");
  }
  const std::int64_t columns_along = column_dimension(one);
  if (left->scale.dimension != kSpread ||
      (right->scale.dimension != kSpread && right->scale.dimension != columns_along)) {
    return refused("its scales are along dimensions that are summed over");
  }
  if (elements_of(*one.operand(1)) / size_of(*one.operand(1), columns_along) > kMostTerms) {
    return refused("its sums may be larger than 32 bits");
  }
  HloInstruction* const weights = whole_weights(*right);
  if (weights == nullptr) return refused("its weights have a zero point");

  HloInstruction* const bytes = moved(*left);
  const WholeProduct product = dot ? product_of_rows(*dot, bytes, weights, dimensions_of(one))
                                   : product_of_images(one, bytes, weights, Planes::kRead);
  kernels::LowPrecisionCall call{};
  call.convolution = product.call;
  call.input_type = type_of_bytes(*bytes);
  call.padding = left->zero;
  call.planes = product.planes;

  const std::int64_t columns = product.call.out_channels;
  const bool is_in_order = std::ranges::is_sorted(product.order);
  Epilogue epilogue;
  epilogue.last = &one;
  if (is_in_order) epilogue = find_epilogue(one, columns, {}, values);
  const Limits limits = limits_of(epilogue);
  auto quantized = is_in_order ? quantization_of(*limits.last) : std::nullopt;
  if (quantized && !limit(limits, *quantized, call)) quantized.reset();
  if (!quantized && is_in_order) epilogue = find_epilogue(one, columns, {.sum = true}, values);

  HloInstruction* scale =
      binary(kMultiply, of_columns(left->scale, columns), of_columns(right->scale, columns));
  HloInstruction* offset = zero_point_sums(
      product.matrices, scalar_next_to(product.matrices, xla::S32, static_cast<double>(left->zero)),
      static_cast<kernels::ElementType>(call.input_type));
  if (epilogue.bias != nullptr) {
    const auto bias = dequantized(epilogue.bias);
    if (bias && bias->zero == 0 && type_of(*bias->whole) == xla::S32) {
      const SplitBias split = split_bias(*bias, epilogue.bias, scale, product.matrices);
      offset = binary(kAdd, offset, split.whole);
      epilogue.bias = split.real;
    }
  }
  if (quantized) {
    const auto in_steps = [&](HloInstruction* numbers) {
      return binary(kDivide, numbers, broadcast(quantized->scale, {columns}, {}));
    };
    scale = in_steps(scale);
    if (epilogue.bias != nullptr) epilogue.bias = in_steps(epilogue.bias);
    epilogue.relu = epilogue.six = false;
  }
  HloInstruction* last = epilogue.last;
  Instructions more;
  if (quantized) {
    last = quantized->last;
    if (const auto sum = sum_with(*last)) {
      const auto number = [](const Scale& of) { return reshape(of.numbers, {1}); };
      more.push_back(concatenate({number(sum->result.scale), number(sum->addends.scale),
                                  number({sum->quantization.scale})},
                                 0));
      epilogue.addends = reshape(moved(sum->addends), product.sizes);
      call.addend_type = type_of_bytes(*epilogue.addends);
      call.addend_zero_point = sum->addends.zero;
      call.sum_zero_point = sum->quantization.zero;
      call.sum_least = sum->quantization.least;
      call.sum_most = sum->quantization.most;
      last = sum->quantization.last;
    }
    if (const ByteFunction function = function_of_bytes(*last); function.last != nullptr) {
      more.push_back(function.table);
      call.has_table = 1;
      last = function.last;
    }
    call.result_type = type_of_bytes(*last);
  }
  call.convolution.epilogue = epilogue.word();
  more.insert(more.begin(), {offset, scale});
  return replace(*last, whole_call(one, product, call, more, epilogue, type_of(*last)));
}

Status replace_integer_product(HloInstruction& one, PassContext& context) {
  if ((one.opcode() != kDot && one.opcode() != kConvolution) || type_of(one) != xla::F64 ||
      elements_of(one) == 0 || context.values().is_known(&one)) {
    return {};
  }
  const auto left = integers(one.mutable_operand(0));
  const auto right = integers(one.mutable_operand(1));
  if (!left || !right || !context.values().is_known(right->bytes.whole)) return {};
  const auto scaled = scaled_integers(one);
  const auto dot = matrix_product(one);
  const std::int64_t columns_along = column_dimension(one);
  Dequantized weights = right->bytes;
  if (right->point != nullptr) {
    const auto zero = number_of(*right->point);
    weights.zero = zero ? static_cast<std::int64_t>(*zero) : -1;
  }
  if (!scaled || (one.opcode() == kDot ? !dot : !is_for_whole_numbers(one)) ||
      elements_of(*one.operand(1)) / size_of(*one.operand(1), columns_along) > kMostTerms) {
    return {};
  }
  HloInstruction* const signed_weights = whole_weights(weights);
  if (signed_weights == nullptr) return {};

  HloInstruction* const bytes = moved(left->bytes);
  HloInstruction* const zero =
      left->point == nullptr ? scalar_next_to(&one, xla::S32, 0) : convert(left->point, xla::S32);
  const Dimensions sizes = dimensions_of(*scaled->product);
  WholeProduct product = dot ? product_of_rows(*dot, bytes, signed_weights, sizes)
                             : product_of_images(one, bytes, signed_weights, Planes::kTurned);
  const std::int64_t columns = product.call.out_channels;
  if (!std::ranges::is_sorted(product.order) || product.sizes != sizes || sizes.back() != columns ||
      (scaled->scale.dimension != kSpread && scaled->scale.dimension != std::ssize(sizes) - 1)) {
    return {};
  }
  kernels::LowPrecisionCall call{};
  call.input_type = type_of_bytes(*bytes);
  if (!dot) {
    product.input = padded_by(product.input, convert(zero, type_of(*bytes)), product.call.window);
  }
  call.convolution = product.call;
  const Epilogue epilogue =
      find_epilogue(*scaled->product, columns, {.sum = true}, context.values());
  call.convolution.epilogue = epilogue.word();
  HloInstruction* const offset = zero_point_sums(product.matrices, zero, type_of_bytes(*bytes));
  return replace(*epilogue.last,
                 whole_call(one, product, call, {offset, of_columns(scaled->scale, columns)},
                            epilogue, xla::F32));
}

}  // namespace tfaot::toolkit::engine
