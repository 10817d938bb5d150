// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "absl/algorithm/container.h"
#include "compiler/hlo/match.h"
#include "compiler/kernels/kernel_call.h"

namespace tfaot::toolkit::engine {

namespace {

// More operations than the largest function has.
constexpr std::size_t kMostOperations = 16;

using Match = std::optional<LayerFunction>;

struct Factors {
  double number = 1;
  std::vector<HloInstruction*> others;
};

void take_factors(HloInstruction* value, const HloInstruction* x, Factors& factors) {
  if (value == x) {
    factors.others.push_back(value);
    return;
  }
  double factor = 1;
  HloInstruction *a = nullptr, *b = nullptr;
  if (xla::Match(value, number(&factor))) {
    factors.number *= factor;
  } else if (xla::Match(value, m::Multiply(m::Op(&a), m::Op(&b)))) {
    take_factors(a, x, factors);
    take_factors(b, x, factors);
  } else if (xla::Match(value, m::Divide(m::Op(&a), number(&factor)))) {
    factors.number /= factor;
    take_factors(a, x, factors);
  } else {
    factors.others.push_back(value);
  }
}

// Takes `x` as it is, even if it is a product.
Factors factors_of(HloInstruction& value, const HloInstruction* x = nullptr) {
  Factors factors;
  take_factors(&value, x, factors);
  return factors;
}

// Coefficients by powers of x.
constexpr std::size_t kCubicPowers = 4;
using Cubic = std::array<double, kCubicPowers>;

std::optional<Cubic> cubic_product(const Cubic& a, const Cubic& b) {
  Cubic product{};
  for (std::size_t i = 0; i < kCubicPowers; ++i) {
    for (std::size_t j = 0; j < kCubicPowers; ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= kCubicPowers) return {};
      product[i + j] += a[i] * b[j];
    }
  }
  return product;
}

// The value as a polynomial of x; nothing for other values, higher degrees and more than a few
// steps.
std::optional<Cubic> cubic_of(const HloInstruction& x, const HloInstruction& value, int steps = 6) {
  if (&value == &x) return Cubic{0, 1};
  if (const auto number = number_of(value)) return Cubic{*number};
  if (steps == 0 || value.operand_count() != 2) return {};
  const auto a = cubic_of(x, *value.operand(0), steps - 1);
  const auto b = cubic_of(x, *value.operand(1), steps - 1);
  if (!a || !b) return {};
  const bool is_number = (*b)[1] == 0 && (*b)[2] == 0 && (*b)[3] == 0;
  Cubic result{};
  switch (value.opcode()) {
    case kAdd:
      for (std::size_t i = 0; i < kCubicPowers; ++i) result[i] = (*a)[i] + (*b)[i];
      return result;
    case kMultiply:
      return cubic_product(*a, *b);
    case kDivide:
      if (!is_number) return {};
      return cubic_product(*a, {1 / (*b)[0]});
    case kPower: {
      if (!is_number || ((*b)[0] != 2 && (*b)[0] != 3)) return {};
      const auto square = cubic_product(*a, *a);
      return square && (*b)[0] == 3 ? cubic_product(*square, *a) : square;
    }
    default:
      return {};
  }
}

bool is_cubic(const HloInstruction& x, const HloInstruction& value, const Cubic& of) {
  const auto found = cubic_of(x, value);
  return found && std::ranges::equal(*found, of, is_near);
}

// A number times x, or times exp(x) - 1.
struct Slope {
  bool is_expm1 = false;
  double factor = 1;
};
std::optional<Slope> slope_of(HloInstruction* value, const HloInstruction* x) {
  const Factors factors = factors_of(*value, x);
  if (factors.others.size() != 1) return {};
  const HloInstruction* const other = factors.others.front();
  const bool is_expm1 = xla::Match(other, m::Expm1(same_as(x))) ||
                        xla::Match(other, m::Subtract(m::Exp(same_as(x)), number_equal(1)));
  return is_expm1 || other == x ? std::optional(Slope{is_expm1, factors.number}) : std::nullopt;
}

// A number times select(x > 0, above, below), in any of its forms.
Match piecewise(HloInstruction& value, const HloInstruction* x) {
  const Factors factors = factors_of(value, x);
  const HloInstruction* compare = nullptr;
  HloInstruction *yes = nullptr, *no = nullptr;
  if (factors.others.size() != 1 || factors.number == 0 ||
      !xla::Match(factors.others.front(),
                  m::Select(m::Compare(&compare, m::Op(), m::Op()), m::Op(&yes), m::Op(&no)))) {
    return {};
  }
  const bool is_first = compare->operand(0) == x;
  if (!is_first && compare->operand(1) != x) return {};
  if (number_of(*compare->operand(is_first ? 1 : 0)) != 0) return {};
  const auto direction = compare->comparison_direction();
  const bool is_greater =
      direction == xla::ComparisonDirection::kGt || direction == xla::ComparisonDirection::kGe;
  const bool is_less =
      direction == xla::ComparisonDirection::kLt || direction == xla::ComparisonDirection::kLe;
  if (!is_greater && !is_less) return {};
  const bool is_yes_above = is_greater == is_first;
  const auto above = slope_of(is_yes_above ? yes : no, x);
  const auto below = slope_of(is_yes_above ? no : yes, x);
  // A factor of 0 would lose a NaN or an infinity in one of both forms.
  if (!above || !below || above->is_expm1 || above->factor == 0 || below->factor == 0) return {};
  return LayerFunction{below->is_expm1 ? kernels::kFunctionElu : kernels::kFunctionLeaky,
                       factors.number * above->factor, factors.number * below->factor};
}

// max(x, factor * x)
Match leaky(const HloInstruction& value, const HloInstruction* x) {
  double factor = 0;
  const auto scaled = m::MultiplyAnyOrder(same_as(x), number(&factor));
  if (!xla::Match(&value, m::MaximumAnyOrder(same_as(x), scaled)) || factor <= 0 || factor >= 1) {
    return {};
  }
  return LayerFunction{kernels::kFunctionLeaky, 1, factor};
}

// log(1 + exp(x)): TensorFlow puts x or exp(x) in its place where that is the same to all bits.
bool is_softplus_in_parts(const HloInstruction& value, const HloInstruction* x) {
  constexpr double kSameBeyond = 13;
  double above = 0, below = 0;
  const auto middle = m::Select(m::Lt(same_as(x), number(&below)), m::Exp(same_as(x)),
                                log1p_of(m::Exp(same_as(x))));
  return xla::Match(&value, m::Select(m::Gt(same_as(x), number(&above)), same_as(x), middle)) &&
         above >= kSameBeyond && below <= -kSameBeyond;
}

bool is_softplus_in_one(const HloInstruction& value, const HloInstruction* x) {
  return xla::Match(&value, m::AddAnyOrder(m::MaximumAnyOrder(same_as(x), number_equal(0)),
                                           log1p_of(m::Exp(m::Negate(m::Abs(same_as(x)))))));
}

// A number times a gate, clamp(0, slope * x + offset, most), from 0 to 1; perhaps times x.
Match hard_gate(HloInstruction& value, const HloInstruction* x) {
  Factors factors = factors_of(value, x);
  const bool is_times_x = std::erase(factors.others, x) == 1;
  if (factors.others.size() != 1) return {};
  const HloInstruction* inner = nullptr;
  double most = 0;
  const auto below = m::MinimumAnyOrder(m::Op(&inner), number(&most));
  const auto at_least = m::MaximumAnyOrder(m::Op(&inner), number_equal(0));
  if (!xla::Match(factors.others.front(),
                  m::AnyOf<HloInstruction>(m::Clamp(number_equal(0), m::Op(&inner), number(&most)),
                                           m::MinimumAnyOrder(at_least, number(&most)),
                                           m::MaximumAnyOrder(below, number_equal(0))))) {
    return {};
  }
  const auto line = cubic_of(*x, *inner);
  if (!line || (*line)[1] == 0 || (*line)[2] != 0 || (*line)[3] != 0 || factors.number <= 0 ||
      !is_near(most * factors.number, 1))
    return {};
  return LayerFunction{is_times_x ? kernels::kFunctionHardSwish : kernels::kFunctionHardSigmoid,
                       (*line)[1] * factors.number, (*line)[0] * factors.number};
}

bool is_gelu_call(const HloInstruction& value) { return is_call_of(value, Kernel::kGelu); }

Match short_function(const HloInstruction& value, const HloInstruction* x) {
  if (xla::Match(&value, m::Tanh(same_as(x)))) return LayerFunction{kernels::kFunctionTanh};
  if (xla::Match(&value, m::Logistic(same_as(x)))) return LayerFunction{kernels::kFunctionSigmoid};
  if (xla::Match(&value, m::MultiplyAnyOrder(same_as(x), m::Logistic(same_as(x))))) {
    return LayerFunction{kernels::kFunctionSwish};
  }
  if (!is_gelu_call(value) || value.operand(1) != x) return {};
  const auto form = call_of<kernels::GeluCall>(value).form;
  return LayerFunction{function_of_form(static_cast<kernels::GeluForm>(form))};
}

Match match(HloInstruction& value, const HloInstruction* x) {
  if (const auto found = short_function(value, x)) return found;
  if (is_gelu_call(value)) return {};
  if (is_softplus_in_parts(value, x) || is_softplus_in_one(value, x)) {
    return LayerFunction{kernels::kFunctionSoftplus};
  }
  if (const auto found = leaky(value, x)) return found;
  if (const auto found = hard_gate(value, x)) return found;
  return piecewise(value, x);
}

// All that is computed from x element by element, in order, up to some operations.
Instructions computed_from(HloInstruction& x) {
  const auto elementwise_users = [](const HloInstruction& one) {
    Instructions users = one.users();
    std::erase_if(users, [](auto* user) { return !user->IsElementwise() && !is_gelu_call(*user); });
    return users;
  };
  return reached_from(x, elementwise_users, kMostOperations);
}

// True if nothing outside uses x or a part of the value, but for constants, which calls of kernels
// may share.
bool is_closed(const HloInstruction& value, const HloInstruction& x) {
  const auto before = [&](const HloInstruction& one) {
    Instructions operands = operands_of(one);
    std::erase_if(operands, [&](const auto* operand) {
      return operand == &x || operand->IsConstant() || number_of(*operand);
    });
    return operands;
  };
  const auto between = reached_from(value, before);
  const auto is_inside = [&](const HloInstruction* one) {
    return !one->IsRoot() && std::ranges::all_of(one->users(), [&](const auto* user) {
      return absl::c_linear_search(between, user);
    });
  };
  return is_inside(&x) && std::ranges::all_of(between, [&](const auto* one) {
           return one == &value || is_inside(one);
         });
}

}  // namespace

std::optional<LayerFunction> function_of(HloInstruction& x) {
  const auto all = computed_from(x);
  for (auto one = all.rbegin(); one != all.rend() && *one != &x; ++one) {
    auto found = match(**one, &x);
    if (!found || !is_closed(**one, x)) continue;
    found->result = *one;
    return found;
  }
  return {};
}

std::optional<Gelu> gelu_of(HloInstruction& result) {
  if (result.opcode() != kMultiply && result.opcode() != kDivide) return {};
  const double root = std::sqrt(2 / std::numbers::pi);
  const Factors factors = factors_of(result);
  if (factors.others.size() != 2 || !is_near(factors.number, 0.5)) return {};
  for (const std::size_t i : {0U, 1U}) {
    HloInstruction* const x = factors.others[i];
    const HloInstruction *erf = nullptr, *tanh = nullptr;
    const HloInstruction* const sum = factors.others[1 - i];
    if (xla::Match(sum, m::AddAnyOrder(number_equal(1), m::Op(&erf).WithOpcode(kErf))) &&
        is_cubic(*x, *erf->operand(0), {0, std::sqrt(0.5)})) {
      return Gelu{x, kernels::kGeluErf};
    }
    if (xla::Match(sum, m::AddAnyOrder(number_equal(1), m::Tanh(&tanh, m::Op()))) &&
        is_cubic(*x, *tanh->operand(0), {0, root, 0, 0.044715 * root})) {
      return Gelu{x, kernels::kGeluTanh};
    }
  }
  return {};
}

namespace {

class Finder {
 public:
  Finder(HloInstruction& result, std::int64_t columns, EpilogueRoom room,
         const WeightValues& values)
      : columns_(columns), room_(room), values_(values), current_(&result) {
    epilogue_.last = &result;
  }

  Epilogue find() {
    while (step()) {
    }
    return epilogue_;
  }

 private:
  bool step() {
    HloInstruction* const user = only_user(*current_);
    if (user == nullptr || epilogue_.six || is_hard_sigmoid_next()) return false;
    if (user->opcode() == kReshape) {
      current_ = user;
      return first_column_dimension(user->shape(), columns_) >= 0;
    }
    if (xla::Match(user, m::Clamp(number_equal(0), same_as(current_), number_equal(6)))) {
      epilogue_.relu = epilogue_.six = true;
      current_ = epilogue_.last = user;
      return false;
    }
    if (user->operand_count() != 2 || user->operand(0) == user->operand(1)) return false;
    const bool is_first = user->operand(0) == current_;
    HloInstruction* other = user->mutable_operand(is_first ? 1 : 0);
    if (!take(*user, other, is_first)) return false;
    current_ = epilogue_.last = user;
    return true;
  }

  // It begins like a bias and a relu6, but is a function of its own.
  bool is_hard_sigmoid_next() const {
    if (type_of(*current_) != xla::F32) return false;
    const auto found = function_of(*current_);
    return found && found->function == kernels::kFunctionHardSigmoid;
  }

  bool take(const HloInstruction& user, HloInstruction* other, bool is_first) {
    if (epilogue_.relu) {
      return user.opcode() == kMinimum && number_of(*other) == 6 && (epilogue_.six = true);
    }
    if (user.opcode() == kMaximum && number_of(*other) == 0) return epilogue_.relu = true;
    const bool is_sum = user.opcode() == kAdd;
    const bool is_difference = user.opcode() == kSubtract && is_first;
    const bool is_scale = user.opcode() == kMultiply;
    if (!is_sum && !is_difference && !is_scale) return false;
    const bool is_broadcast = other->opcode() == kBroadcast;
    const bool is_known = values_.is_known(is_broadcast ? other->operand(0) : other);
    if (!is_broadcast && !is_known) {
      // `other` does not depend on the product, whose only user is the sum.
      if (!is_sum || !room_.sum || epilogue_.addends != nullptr) return false;
      epilogue_.addends = other;
      return true;
    }
    // Numbers that depend on inputs, such as a mask, are the same for all rows of a product only in
    // a batch of one row. Sums begin with a bias, so that row would be rounded otherwise than in
    // other batches.
    if (!is_known) return false;
    if (is_scale && (!room_.scale || epilogue_.addends != nullptr)) return false;
    HloInstruction* column = column_values(other, user.shape(), columns_);
    if (column == nullptr) return is_sum && add_row_bias(user, other);
    if (epilogue_.row_bias != nullptr) return false;
    if (is_scale) {
      epilogue_.scale = accumulate(kMultiply, epilogue_.scale, column);
      if (epilogue_.bias != nullptr) {
        epilogue_.bias = binary(kMultiply, epilogue_.bias, column);
      }
      return true;
    }
    if (is_difference) column = negate(column);
    epilogue_.bias = accumulate(kAdd, epilogue_.bias, column);
    return true;
  }

  bool add_row_bias(const HloInstruction& user, HloInstruction* other) {
    if (epilogue_.bias != nullptr) return false;
    // Each matrix [rows, columns] gets the same.
    const std::int64_t rows = room_.rows, all = elements_of(user);
    HloInstruction* const row =
        rows < 2 ? nullptr
                 : spread_operand(*other, {{all / rows / columns_, 0}, {rows, 1}, {columns_, 0}});
    if (row == nullptr) return false;
    epilogue_.row_bias = accumulate(kAdd, epilogue_.row_bias, reshape(row, {rows}));
    return true;
  }

  std::int64_t columns_;
  EpilogueRoom room_;
  const WeightValues& values_;
  HloInstruction* current_;
  Epilogue epilogue_;
};

}  // namespace

std::int64_t Epilogue::word() const {
  return (bias != nullptr       ? kernels::kEpilogueBias
          : row_bias != nullptr ? kernels::kEpilogueRowBias
                                : kernels::kEpilogueNone) |
         (addends != nullptr ? kernels::kEpilogueSum : kernels::kEpilogueNone) |
         (six    ? kernels::kEpilogueRelu6
          : relu ? kernels::kEpilogueRelu
                 : kernels::kEpilogueNone);
}

void Epilogue::add_operands(std::vector<HloInstruction*>& operands) const {
  if (bias != nullptr) operands.push_back(bias);
  if (row_bias != nullptr) operands.push_back(row_bias);
  if (addends != nullptr) operands.push_back(addends);
}

Epilogue find_epilogue(HloInstruction& result, std::int64_t columns, EpilogueRoom room,
                       const WeightValues& values) {
  return Finder(result, columns, room, values).find();
}

}  // namespace tfaot::toolkit::engine
