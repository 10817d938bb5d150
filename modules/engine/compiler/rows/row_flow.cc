// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_flow.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;
using xla::HloOpcode;

namespace {

// Two sides of a dimension, in factors of the same sizes.
struct Aligned {
  std::int64_t size = 1;
  Along a = Along::kVaries;
  Along b = Along::kVaries;
};

std::optional<Along> meet(Along a, Along b) {
  if (a == b || b == Along::kSame) return a;
  if (a == Along::kSame) return b;
  return std::nullopt;  // rows in one, varying values in the other
}

// Takes factors from the front, in pieces of given sizes.
class Front {
 public:
  explicit Front(const Axis& axis) : rest_(axis.rbegin(), axis.rend()) {}
  bool empty() const { return rest_.empty(); }
  std::int64_t size() const { return rest_.back().size; }
  Along along() const { return rest_.back().along; }
  bool can_take(std::int64_t size) const {
    return size == rest_.back().size ||
           (rest_.back().size % size == 0 && rest_.back().along != Along::kRows);
  }
  Factor take(std::int64_t size) {
    Factor taken{size, rest_.back().along};
    rest_.back().size /= size;
    if (rest_.back().size == 1) rest_.pop_back();
    return taken;
  }

 private:
  std::vector<Factor> rest_;
};

std::optional<std::vector<Aligned>> align(const Axis& a, const Axis& b) {
  std::vector<Aligned> all;
  Front left(a);
  Front right(b);
  while (!left.empty() && !right.empty()) {
    const std::int64_t size = std::min(left.size(), right.size());
    if (!left.can_take(size) || !right.can_take(size)) return std::nullopt;
    const Along along = left.take(size).along;
    all.push_back({size, along, right.take(size).along});
  }
  if (!left.empty() || !right.empty()) return std::nullopt;
  return all;
}

}  // namespace

bool has_rows(const Axis& axis) {
  return std::ranges::any_of(axis, [](const Factor& one) { return one.along == Along::kRows; });
}

bool is_same(const Axis& axis) {
  return std::ranges::all_of(axis, [](const Factor& one) { return one.along == Along::kSame; });
}

std::int64_t size_of(const Axis& axis) {
  return std::accumulate(axis.begin(), axis.end(), std::int64_t{1},
                         [](std::int64_t size, const Factor& one) { return size * one.size; });
}

bool RowFact::has_rows() const {
  return std::ranges::any_of(axes, [](const Axis& axis) { return engine::has_rows(axis); }) ||
         std::ranges::any_of(elements, [](const RowFact& one) { return one.has_rows(); });
}

Axis axis_of(std::int64_t size, Along along) { return size == 1 ? Axis{} : Axis{{size, along}}; }

Axis tidy(const Axis& axis) {
  Axis made;
  for (const Factor& one : axis) {
    if (one.size == 1) continue;
    if (!made.empty() && made.back().along == one.along && one.along != Along::kRows) {
      made.back().size *= one.size;
    } else {
      made.push_back(one);
    }
  }
  return made;
}

Axis weakened(const Axis& axis) {
  Axis made = axis;
  for (Factor& one : made) {
    if (one.along == Along::kSame) one.along = Along::kVaries;
  }
  return tidy(made);
}

RowFact fact_of(const xla::Shape& shape, Along along) {
  RowFact fact;
  if (shape.IsTuple()) {
    for (const auto& element : shape.tuple_shapes()) {
      fact.elements.push_back(fact_of(element, along));
    }
  } else if (shape.IsArray()) {
    for (const auto size : shape.dimensions()) fact.axes.push_back(axis_of(size, along));
  }
  return fact;
}

RowFact unknown(const xla::Shape& shape, const RowCause* cause) {
  RowFact fact = fact_of(shape, Along::kVaries);
  fact.cause = cause;
  for (std::size_t i = 0; i < fact.elements.size(); ++i) {
    fact.elements[i] = unknown(shape.tuple_shapes(static_cast<int>(i)), cause);
  }
  return fact;
}

RowFact known_fact(Value value) {
  RowFact fact;
  const xla::Shape& shape = value->shape();
  for (int d = 0; d < shape.rank(); ++d) {
    const std::int64_t size = shape.dimensions(d);
    const bool alike = is_alike(*value, d, size, {});
    fact.axes.push_back(axis_of(size, alike ? Along::kSame : Along::kVaries));
  }
  fact.known = std::move(value);
  return fact;
}

std::optional<RowPlace> row_place(const Axis& axis) {
  RowPlace place;
  bool seen = false;
  for (const Factor& one : axis) {
    if (one.along == Along::kRows) {
      if (seen) return std::nullopt;
      seen = true;
    } else {
      (seen ? place.inner : place.outer) *= one.size;
    }
  }
  return seen ? std::optional(place) : std::nullopt;
}

std::optional<Axis> meet(const Axis& a, const Axis& b) {
  if (is_same(a)) return b;
  if (is_same(b)) return a;
  const auto aligned = align(a, b);
  Axis made;
  if (!aligned) {
    if (has_rows(a) || has_rows(b)) return std::nullopt;
    return axis_of(size_of(a), Along::kVaries);
  }
  for (const Aligned& one : *aligned) {
    const auto along = meet(one.a, one.b);
    if (!along) return std::nullopt;
    made.push_back({one.size, *along});
  }
  return tidy(made);
}

namespace {

std::optional<std::vector<Axis>> try_regroup(const Axis& factors,
                                             absl::Span<const std::int64_t> sizes) {
  std::vector<Axis> made;
  Front front(factors);
  for (const std::int64_t size : sizes) {
    Axis axis;
    for (std::int64_t rest = size; rest > 1;) {
      if (front.empty()) return std::nullopt;
      const std::int64_t next = std::gcd(rest, front.size());
      const bool whole = next == front.size() || next == rest;
      if (!whole || !front.can_take(next)) return std::nullopt;
      axis.push_back(front.take(next));
      rest /= next;
    }
    made.push_back(tidy(axis));
  }
  return made;
}

}  // namespace

std::optional<std::vector<Axis>> regroup(const std::vector<Axis>& axes,
                                         absl::Span<const std::int64_t> sizes) {
  Axis factors;
  for (const Axis& axis : axes) factors.insert(factors.end(), axis.begin(), axis.end());
  factors = tidy(factors);
  if (absl::c_linear_search(sizes, 0)) return std::nullopt;
  if (auto made = try_regroup(factors, sizes)) return made;
  return try_regroup(weakened(factors), sizes);
}

std::optional<Axis> cut(const Axis& axis, const Piece& piece) {
  const std::int64_t size = size_of(axis);
  if (piece.start == 0 && piece.limit == size && piece.stride == 1) return axis;
  const std::int64_t count = (piece.limit - piece.start + piece.stride - 1) / piece.stride;
  if (!has_rows(axis)) {
    return axis_of(count, is_same(axis) ? Along::kSame : Along::kVaries);
  }
  const RowPlace place = row_place(axis).value_or(RowPlace{});
  const std::int64_t block = size / place.outer;  // the rows and everything inside them
  // Whole blocks.
  if (piece.stride == 1 && piece.start % block == 0 && count % block == 0) {
    Axis made = axis_of(count / block, Along::kVaries);
    bool inside = false;
    for (const Factor& one : axis) {
      inside = inside || one.along == Along::kRows;
      if (inside) made.push_back(one);
    }
    return tidy(made);
  }
  // The same element of every row.
  if (piece.stride == place.inner && piece.start < place.inner && count == size / place.inner) {
    Axis made;
    for (const Factor& one : axis) {
      made.push_back(one);
      if (one.along == Along::kRows) break;
    }
    return tidy(made);
  }
  return std::nullopt;
}

bool is_alike(const xla::LiteralBase& value, std::int64_t dimension, std::int64_t batch,
              const RowPlace& place) {
  const xla::Shape& shape = value.shape();
  const auto width = static_cast<std::size_t>(xla::primitive_util::ByteWidth(shape.element_type()));
  std::int64_t before = place.outer;
  std::int64_t behind = place.inner;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d < dimension) before *= shape.dimensions(d);
    if (d > dimension) behind *= shape.dimensions(d);
  }
  const auto block = static_cast<std::size_t>(behind) * width;
  const char* bytes = static_cast<const char*>(value.untyped_data());
  for (std::int64_t i = 0; i < before; ++i) {
    const char* first = bytes + static_cast<std::size_t>(i * batch) * block;
    for (std::int64_t r = 1; r < batch; ++r) {
      if (!std::equal(first, first + block, first + static_cast<std::size_t>(r) * block)) {
        return false;
      }
    }
  }
  return true;
}

std::optional<std::vector<std::int64_t>> integers(const xla::LiteralBase& value) {
  const auto type = value.shape().element_type();
  if (!xla::primitive_util::IsIntegralType(type)) return std::nullopt;
  auto wide = value.Convert(xla::S64);
  if (!wide.ok()) return std::nullopt;
  const auto data = wide->data<std::int64_t>();
  return std::vector<std::int64_t>(data.begin(), data.end());
}

namespace {

class Comparison {
 public:
  // `skips_shaping`: reshapes and broadcasts are taken for their operands.
  Comparison(std::pair<std::int64_t, std::int64_t> sizes, RowSizes& result, bool skips_shaping)
      : sizes_(sizes), result_(result), skips_shaping_(skips_shaping) {}

  void compare(const xla::HloComputation& small, const xla::HloComputation& large) {
    const auto& ours = small.parameter_instructions();
    const auto& theirs = large.parameter_instructions();
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
      result_.twins[ours[i]] = theirs[i];
    }
    compare(*small.root_instruction(), *large.root_instruction());
  }

 private:
  void compare(const HloInstruction& root, const HloInstruction& twin) {
    std::vector<std::pair<const HloInstruction*, const HloInstruction*>> rest{{&root, &twin}};
    while (!rest.empty()) {
      const HloInstruction* const a = shaped(rest.back().first);
      const HloInstruction* const b = shaped(rest.back().second);
      rest.pop_back();
      const auto [known, is_new] = result_.twins.emplace(a, b);
      if (!is_new) {
        if (known->second != b) result_.others.insert(a);
        continue;
      }
      if (!is_alike(*a, *b)) {
        result_.others.insert(a);
        continue;
      }
      if (a->opcode() == HloOpcode::kConstant && !is_alike(a->literal(), b->literal())) {
        result_.numbers.insert(a);
      }
      for (std::int64_t i = 0; i < a->operand_count(); ++i) {
        rest.emplace_back(a->operand(i), b->operand(i));
      }
      for (std::size_t i = 0; i < a->called_computations().size(); ++i) {
        compare(*a->called_computations()[i], *b->called_computations()[i]);
      }
    }
  }

  const HloInstruction* shaped(const HloInstruction* one) const {
    while (skips_shaping_ &&
           (one->opcode() == HloOpcode::kReshape || one->opcode() == HloOpcode::kBroadcast)) {
      one = one->operand(0);
    }
    return one;
  }

  bool is_alike(std::int64_t a, std::int64_t b) const {
    return a == b || a * sizes_.second == b * sizes_.first;
  }

  bool is_alike(const xla::Shape& a, const xla::Shape& b) const {
    if (a.IsTuple() || b.IsTuple()) {
      return a.IsTuple() && b.IsTuple() &&
             std::equal(a.tuple_shapes().begin(), a.tuple_shapes().end(), b.tuple_shapes().begin(),
                        b.tuple_shapes().end(),
                        [&](const auto& x, const auto& y) { return is_alike(x, y); });
    }
    return a.element_type() == b.element_type() &&
           std::equal(a.dimensions().begin(), a.dimensions().end(), b.dimensions().begin(),
                      b.dimensions().end(), [&](auto x, auto y) { return is_alike(x, y); });
  }

  bool is_alike(const HloInstruction& a, const HloInstruction& b) const {
    return a.opcode() == b.opcode() && a.operand_count() == b.operand_count() &&
           a.called_computations().size() == b.called_computations().size() &&
           is_alike(a.shape(), b.shape()) &&
           (a.opcode() != HloOpcode::kParameter || a.parameter_number() == b.parameter_number()) &&
           is_alike(attributes(a), attributes(b));
  }

  static std::string attributes(const HloInstruction& one) {
    std::string text;
    for (const auto& part : one.ExtraAttributesToString(
             xla::HloPrintOptions::ShortParsable()
                 .set_print_backend_config(false)
                 .set_print_subcomputation_mode(
                     xla::HloPrintOptions::PrintSubcomputationMode::kOff))) {
      text += part + " ";
    }
    return text;
  }

  // True if texts have the same words, and numbers that are equal or the same multiple of the
  // batch.
  bool is_alike(const std::string& a, const std::string& b) const {
    std::size_t i = 0;
    std::size_t j = 0;
    const auto number = [](const std::string& text, std::size_t& at) {
      std::int64_t value = 0;
      while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
        value = value * 10 + (text[at++] - '0');
      }
      return value;
    };
    while (i < a.size() && j < b.size()) {
      const bool digits = std::isdigit(static_cast<unsigned char>(a[i])) != 0;
      if (digits != (std::isdigit(static_cast<unsigned char>(b[j])) != 0)) return false;
      if (digits ? !is_alike(number(a, i), number(b, j)) : a[i++] != b[j++]) return false;
    }
    return i == a.size() && j == b.size();
  }

  // True if they are equal as far as both go.
  static bool is_alike(const xla::Literal& a, const xla::Literal& b) {
    if (!a.shape().IsArray()) return a == b;
    Dimensions sizes;
    for (int d = 0; d < a.shape().rank(); ++d) {
      sizes.push_back(std::min(a.shape().dimensions(d), b.shape().dimensions(d)));
    }
    if (xla::ShapeUtil::SameDimensions(a.shape(), b.shape())) return a == b;
    const Dimensions starts(sizes.size(), 0);
    return a.Slice(starts, sizes) == b.Slice(starts, sizes);
  }

  std::pair<std::int64_t, std::int64_t> sizes_;
  RowSizes& result_;
  bool skips_shaping_;
};

}  // namespace

bool RowSizes::follows_batch(const HloInstruction& one, std::int64_t dimension) const {
  const auto twin = twins.find(&one);
  if (twin == twins.end() || !one.shape().IsArray() || !twin->second->shape().IsArray() ||
      one.shape().rank() != twin->second->shape().rank()) {
    return false;
  }
  const auto d = static_cast<int>(dimension);
  return one.shape().dimensions(d) != twin->second->shape().dimensions(d);
}

RowSizes compare_sizes(const xla::HloModule& small, const xla::HloModule& large,
                       std::pair<std::int64_t, std::int64_t> sizes) {
  RowSizes result;
  Comparison(sizes, result, false).compare(*small.entry_computation(), *large.entry_computation());
  return result;
}

const HloInstruction* difference_at(const OtherSize& other, const xla::HloModule& small,
                                    const xla::HloModule& large,
                                    std::pair<std::int64_t, std::int64_t> sizes) {
  const auto& entry = *small.entry_computation();
  RowSizes result;
  Comparison({sizes.first, other.rows}, result, true)
      .compare(entry, *other.module.entry_computation());
  RowSizes following;
  if (other.rows != 1)
    Comparison(sizes, following, true).compare(entry, *large.entry_computation());
  for (const HloInstruction* const at : instructions_of(small)) {
    if (result.others.contains(at)) return at;
    if (result.numbers.contains(at) && !following.numbers.contains(at)) return at;
  }
  return nullptr;
}

namespace {

bool can_be_evaluated(const HloInstruction& one) {
  return !xla::HloPredicateIsOp<HloOpcode::kRng, HloOpcode::kRngBitGenerator,
                                HloOpcode::kRngGetAndUpdateState, HloOpcode::kCustomCall,
                                HloOpcode::kConstant, HloOpcode::kParameter>(&one);
}

// Each element of the result is one element of an operand, the same one at every batch size.
bool moves_alone(const HloInstruction& one) {
  return xla::HloPredicateIsOp<HloOpcode::kBitcast, HloOpcode::kBroadcast, HloOpcode::kConcatenate,
                               HloOpcode::kReshape, HloOpcode::kTranspose>(&one);
}

bool reads_batch(const HloInstruction& one, const RowSizes& sizes) {
  for (const auto* operand : one.operands()) {
    if (!operand->shape().IsArray()) continue;
    for (std::int64_t d = 0; d < operand->shape().rank(); ++d) {
      if (sizes.follows_batch(*operand, d)) return true;
    }
  }
  return false;
}

const RowCause* any_cause(const RowFact& fact) {
  if (fact.cause != nullptr) return fact.cause;
  for (const RowFact& one : fact.elements) {
    if (const RowCause* cause = any_cause(one)) return cause;
  }
  return nullptr;
}

std::int64_t axes_with_rows(const RowFact& fact) {
  return std::ranges::count_if(fact.axes, [](const Axis& axis) { return has_rows(axis); });
}

// The one value that all elements have.
std::optional<bool> decision(const RowFact& fact) {
  if (fact.known == nullptr || fact.cause != nullptr) return std::nullopt;
  const auto data = fact.known->data<bool>();
  if (data.empty() || std::find(data.begin(), data.end(), !data[0]) != data.end()) {
    return std::nullopt;
  }
  return data[0];
}

}  // namespace

const RowCause* RowStudy::mixing(const HloInstruction& one, std::string why) {
  return &causes_.emplace_back(RowCause{&one, std::move(why), true});
}

const RowCause* RowStudy::unclear(const HloInstruction& one, std::string why) {
  return &causes_.emplace_back(RowCause{&one, std::move(why), false});
}

std::optional<RowFact> RowStudy::evaluate(const HloInstruction& one,
                                          const std::vector<RowFact>& operands,
                                          const xla::Shape& shape) {
  if (!is_worth_knowing(shape) || !can_be_evaluated(one)) return std::nullopt;
  std::vector<Value> values;
  const RowCause* cause = nullptr;
  for (const RowFact& operand : operands) {
    if (operand.known == nullptr) return std::nullopt;
    if (cause == nullptr) cause = operand.cause;
    values.push_back(operand.known);
  }
  auto value = evaluator_.compute_on(one, shape, std::move(values));
  if (!value) return std::nullopt;
  RowFact fact = known_fact(*std::move(value));
  fact.cause = cause;
  return fact;
}

std::optional<Axis> RowStudy::meet(const RowFact& a, std::int64_t of_a, const RowFact& b,
                                   std::int64_t of_b) const {
  const Axis& left = a.axis(of_a);
  const Axis& right = b.axis(of_b);
  if (auto both = engine::meet(left, right)) return both;
  const auto stays = [&](const Axis& axis, const RowFact& other, std::int64_t dimension) {
    const auto place = row_place(axis);
    return place && other.known != nullptr && is_alike(*other.known, dimension, batch_, *place);
  };
  if (stays(left, b, of_b)) return left;
  if (stays(right, a, of_a)) return right;
  return std::nullopt;
}

RowFact RowStudy::join(const HloInstruction& one, const RowFact& a, const RowFact& b) {
  RowFact joined;
  for (std::size_t i = 0; i < a.elements.size(); ++i) {
    joined.elements.push_back(join(one, a.elements[i], b.elements[i]));
  }
  joined.cause = a.cause != nullptr ? a.cause : b.cause;
  if (a.known != nullptr && b.known != nullptr && *a.known == *b.known) joined.known = a.known;
  for (std::size_t d = 0; d < a.axes.size(); ++d) {
    const auto dimension = static_cast<std::int64_t>(d);
    const auto axis = meet(a, dimension, b, dimension);
    if (!axis && joined.cause == nullptr) {
      joined.cause = unclear(one, "has rows in different places");
    }
    joined.axes.push_back(axis.value_or(axis_of(size_of(a.axes[d]), Along::kVaries)));
  }
  if (joined.cause == nullptr && axes_with_rows(joined) > 1) {
    joined.cause = unclear(one, "has rows in different places");
  }
  if (joined.cause != nullptr && joined.known == nullptr) {
    for (Axis& axis : joined.axes) axis = axis_of(size_of(axis), Along::kVaries);
  }
  return joined;
}

bool is_worth_knowing(const xla::Shape& shape) {
  constexpr std::int64_t kMostElements = 1 << 16;
  return shape.IsArray() && xla::ShapeUtil::ElementsIn(shape) <= kMostElements && shape.is_static();
}

RowFact RowFlow::run(const xla::HloComputation& computation, std::vector<RowFact> arguments) {
  arguments_ = std::move(arguments);
  for (const HloInstruction* one : computation.MakeInstructionPostOrder()) {
    facts_[one] = visit(*one);
    if (study_->sizes().others.contains(one) && any_cause(facts_[one]) == nullptr) {
      facts_[one] = not_clear(*one, "differs from one batch size to another");
    }
  }
  return facts_.at(computation.root_instruction());
}

std::vector<RowFact> RowFlow::of_operands(const HloInstruction& one) const {
  std::vector<RowFact> operands;
  for (const auto* operand : one.operands()) operands.push_back(of(operand));
  return operands;
}

RowFact RowFlow::mixed(const HloInstruction& one, std::string why) {
  return unknown(one.shape(), study_->mixing(one, std::move(why)));
}

RowFact RowFlow::not_clear(const HloInstruction& one, std::string why) {
  return unknown(one.shape(), study_->unclear(one, std::move(why)));
}

RowFact RowFlow::made(const HloInstruction& one, const xla::Shape& shape, const Sources& sources) {
  RowFact fact;
  for (std::size_t d = 0; d < sources.size(); ++d) {
    const std::int64_t size = entry(shape.dimensions(), d);
    if (sources[d].empty()) {
      fact.axes.push_back(axis_of(size, Along::kVaries));
      continue;
    }
    // Rows first: known values are then checked one by one.
    auto from = sources[d];
    std::stable_partition(from.begin(), from.end(), [](const Source& source) {
      return has_rows(source.fact->axis(source.dimension));
    });
    RowFact so_far = *from.front().fact;
    std::int64_t dimension = from.front().dimension;
    for (std::size_t i = 1; i < from.size(); ++i) {
      const Source& next = from[i];
      const auto axis = study_->meet(so_far, dimension, *next.fact, next.dimension);
      if (!axis) {
        return unknown(shape, study_->mixing(one, "depends on a row's position in the batch"));
      }
      so_far = {.axes = {*axis}};
      dimension = 0;
    }
    fact.axes.push_back(so_far.axis(dimension));
  }
  if (axes_with_rows(fact) > 1) {
    return unknown(shape, study_->mixing(one, "combines each row with every other"));
  }
  return fact;
}

const RowCause* RowFlow::taken_together(const HloInstruction& one, std::int64_t operand,
                                        std::int64_t dimension, const std::string& why) {
  const HloInstruction* taken = one.operand(operand);
  if (has_rows(of(taken).axis(dimension))) {
    return study_->mixing(one, why);
  }
  if (study_->sizes().follows_batch(*taken, dimension)) {
    return study_->mixing(one, "depends on how many rows the batch has");
  }
  return nullptr;
}

RowFact RowFlow::elementwise(const HloInstruction& one, const std::vector<RowFact>& operands,
                             const xla::Shape& shape) {
  if (one.opcode() == HloOpcode::kSelect) {
    if (const auto first = decision(operands[0])) return operands[*first ? 1 : 2];
  }
  if (auto known = study_->evaluate(one, operands, shape)) return *known;
  for (const RowFact& operand : operands) {
    if (operand.cause != nullptr) return unknown(shape, operand.cause);
  }
  Sources sources(static_cast<std::size_t>(shape.rank()));
  for (const RowFact& operand : operands) {
    if (std::ssize(operand.axes) != shape.rank()) continue;  // one scalar for all elements
    for (std::size_t d = 0; d < sources.size(); ++d) {
      sources[d].push_back({&operand, static_cast<std::int64_t>(d)});
    }
  }
  return made(one, shape, sources);
}

RowFact RowFlow::not_known(const HloInstruction& one) {
  const bool of_rows =
      absl::c_any_of(one.operands(), [&](const auto* operand) { return of(operand).has_rows(); });
  return of_rows ? not_clear(one, "is not known to treat rows alone")
                 : fact_of(one.shape(), Along::kVaries);
}

RowFact RowFlow::visit(const HloInstruction& one) {
  const RowRule* const rule = row_rule(one.opcode());
  if (rule != nullptr && rule->causes == RowCauses::kSeen) return rule->visit(one, *this);
  const std::vector<RowFact> operands = of_operands(one);
  if ((one.IsElementwise() || one.opcode() == HloOpcode::kMap) && one.shape().IsArray() &&
      one.operand_count() > 0) {
    return elementwise(one, operands, one.shape());
  }
  // A value computed from a whole dimension as long as the batch may contain its length.
  if (moves_alone(one) || !reads_batch(one, study_->sizes())) {
    if (auto known = study_->evaluate(one, operands, one.shape())) return *known;
  }
  for (const RowFact& operand : operands) {
    if (const RowCause* cause = any_cause(operand)) return unknown(one.shape(), cause);
  }
  return rule != nullptr ? rule->visit(one, *this) : not_known(one);
}

namespace {

const RowCause* judge(const HloInstruction& output, const RowFact& fact, RowStudy& study) {
  if (fact.cause != nullptr) return fact.cause;
  if (fact.axes.empty()) return study.unclear(output, "has no rows");
  const Axis& first = fact.axes.front();
  if (first == Axis{{study.batch(), Along::kRows}}) return nullptr;
  if (!fact.has_rows() && is_same(first)) return nullptr;
  if (fact.has_rows()) return study.mixing(output, "moves the rows to other positions");
  return study.mixing(output, "depends on a row's position in the batch");
}

}  // namespace

std::vector<RowFact> row_arguments(const xla::HloComputation& entry, std::int64_t inputs,
                                   std::int64_t rows) {
  std::vector<RowFact> arguments;
  for (const auto* parameter : entry.parameter_instructions()) {
    RowFact fact = fact_of(parameter->shape(), Along::kVaries);
    if (parameter->parameter_number() < inputs) fact.axes[0] = {{rows, Along::kRows}};
    arguments.push_back(std::move(fact));
  }
  return arguments;
}

std::vector<const RowCause*> follow_rows(const xla::HloModule& module, std::int64_t inputs,
                                         RowStudy& study) {
  const auto& entry = *module.entry_computation();
  const RowFact result = RowFlow(study).run(entry, row_arguments(entry, inputs, study.batch()));
  const HloInstruction& root = *entry.root_instruction();
  if (!root.shape().IsTuple()) return {judge(root, result, study)};
  std::vector<const RowCause*> causes;
  for (std::size_t i = 0; i < result.elements.size(); ++i) {
    const bool direct = root.opcode() == HloOpcode::kTuple;
    const HloInstruction& output = direct ? *root.operand(static_cast<std::int64_t>(i)) : root;
    causes.push_back(judge(output, result.elements[i], study));
  }
  return causes;
}

}  // namespace tfaot::toolkit::engine
