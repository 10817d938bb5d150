// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of whole numbers, and of operands of other types than the result's, as
// those of float64 or of the result's type, which kernels compute. XLA calls Eigen for some of
// them, which asks for memory, and has slow loops for the others. Sums of whole numbers are exact,
// so their bits do not depend on the way.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/hlo/build.h"
#include "compiler/hlo/passes.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr int kExactBits = std::numeric_limits<double>::digits;

// No number is above 2 to the power of it. Looks at operands up to this depth.
int bits_of(const HloInstruction& x, int depth = 6) {
  const auto type = type_of(x);
  const bool is_signed = xla::primitive_util::IsSignedIntegralType(type);
  const int most = xla::primitive_util::BitWidth(type) - (is_signed ? 1 : 0);
  if (depth == 0) return most;
  const auto bits = [&](std::int64_t i) { return bits_of(*x.operand(i), depth - 1); };
  switch (x.opcode()) {
    case kConvert: {
      const auto from = type_of(*x.operand(0));
      const bool keeps = xla::primitive_util::IsUnsignedIntegralType(from) ||
                         (is_signed && xla::primitive_util::IsSignedIntegralType(from));
      return keeps ? std::min(most, bits(0)) : most;
    }
    case kSubtract:
      return is_signed ? std::min(most, std::max(bits(0), bits(1)) + 1) : most;
    case kBroadcast:
    case kReshape:
    case kTranspose:
      return bits(0);
    default:
      return most;
  }
}

// The same product of other operands.
HloInstruction* same_product(const HloInstruction& one, xla::PrimitiveType type, HloInstruction* a,
                             HloInstruction* b) {
  const xla::Shape shape = shape_of(type, one.shape().dimensions());
  return add_next_to(a, one.CloneWithNewOperands(shape, {convert(a, type), convert(b, type)}));
}

// Terms of a sum.
std::int64_t terms_of(const HloInstruction& product) {
  if (product.opcode() == kConvolution) {
    const auto& numbers = product.convolution_dimension_numbers();
    return elements_of(*product.operand(1)) /
           size_of(*product.operand(1), numbers.kernel_output_feature_dimension());
  }
  return engine::product(picked(product.operand(0)->shape().dimensions(),
                                product.dot_dimension_numbers().lhs_contracting_dimensions()));
}

// Of numbers of 32 bits: the upper ones, signed as their type is, or the lower ones.
HloInstruction* upper_half(HloInstruction* x) {
  const bool is_signed = xla::primitive_util::IsSignedIntegralType(type_of(*x));
  return binary(is_signed ? kShiftRightArithmetic : kShiftRightLogical, x, fill_like(x, 16));
}
HloInstruction* lower_half(HloInstruction* x) { return binary(kAnd, x, fill_like(x, 0xffff)); }

HloInstruction* whole_product(const HloInstruction& one, HloInstruction* a, HloInstruction* b) {
  const int more = static_cast<int>(std::ceil(std::log2(terms_of(one))));
  const int bits = bits_of(*a) + bits_of(*b) + more;
  if (bits <= kExactBits) {
    return convert(convert(same_product(one, xla::F64, a, b), bits < 32 ? xla::S32 : xla::S64),
                   type_of(one));
  }
  // Of the sums, the result keeps the lower 32 bits.
  const auto width = [](const HloInstruction& x) {
    return xla::primitive_util::BitWidth(type_of(x));
  };
  if (width(one) > 32 || width(*a) != 32 || width(*b) != 32 || 32 + more > kExactBits) {
    return nullptr;
  }
  const auto sums = [&](HloInstruction* x, HloInstruction* y) {
    return convert(same_product(one, xla::F64, x, y), xla::S64);
  };
  HloInstruction* const upper =
      binary(kAdd, sums(upper_half(a), lower_half(b)), sums(lower_half(a), upper_half(b)));
  HloInstruction* const lower = sums(lower_half(a), lower_half(b));
  return convert(binary(kAdd, binary(kShiftLeft, upper, fill_like(upper, 16)), lower),
                 type_of(one));
}

}  // namespace

Status multiply_exactly(HloInstruction& one, PassContext& /*context*/) {
  if ((one.opcode() != kDot && one.opcode() != kConvolution) || elements_of(one) == 0) return {};
  HloInstruction* const a = one.mutable_operand(0);
  HloInstruction* const b = one.mutable_operand(1);
  if (elements_of(*a) == 0) return {};
  const auto type = type_of(one);
  const bool is_of_one_type = type_of(*a) == type && type_of(*b) == type;
  const auto is_whole = [](const HloInstruction* x) {
    return xla::primitive_util::IsIntegralType(type_of(*x));
  };
  if (!is_whole(a) || !is_whole(b) || !is_whole(&one)) {
    if (!has_kernels(type) || is_of_one_type) return {};
    return replace(one, same_product(one, type, a, b));
  }
  // XLA's loop of a matrix times a vector reads fewer bytes, but not of bytes less a zero point.
  if (one.opcode() == kDot && is_of_one_type && std::max(bits_of(*a), bits_of(*b)) > 9 &&
      elements_of(one) == std::ranges::max(one.shape().dimensions())) {
    return {};
  }
  return replace(one, whole_product(one, a, b));
}

}  // namespace tfaot::toolkit::engine
