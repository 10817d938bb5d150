// SPDX-License-Identifier: Apache-2.0
#include "compiler/rows/row_flow.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "compiler/hlo/match.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {

bool has_rows(const Axis& axis) {
  return std::ranges::any_of(axis, [](const Factor& one) { return one.along == Along::kRows; });
}

std::int64_t size_of(const Axis& axis) {
  return std::accumulate(axis.begin(), axis.end(), std::int64_t{1},
                         [](std::int64_t size, const Factor& one) { return size * one.size; });
}

bool RowFact::has_rows() const {
  return std::ranges::any_of(axes, [](const Axis& axis) { return engine::has_rows(axis); }) ||
         std::ranges::any_of(elements, [](const RowFact& one) { return one.has_rows(); });
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

namespace {

bool is_same(const Axis& axis) {
  return std::ranges::all_of(axis, [](const Factor& one) { return one.along == Along::kSame; });
}

Axis axis_of(std::int64_t size, Along along) { return size == 1 ? Axis{} : Axis{{size, along}}; }

// Drops factors of size 1, and joins neighbours of one kind.
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

// The same axis, but factors that are the same everywhere now count as varying.
Axis weakened(const Axis& axis) {
  Axis made = axis;
  for (Factor& one : made) {
    if (one.along == Along::kSame) one.along = Along::kVaries;
  }
  return tidy(made);
}

// The fact for a value of this shape (or tuple) that has the kind `along` everywhere.
RowFact fact_of(const xla::Shape& shape, Along along, const RowCause* cause = nullptr) {
  RowFact fact{.cause = cause};
  if (shape.IsTuple()) {
    for (const auto& element : shape.tuple_shapes()) {
      fact.elements.push_back(fact_of(element, along, cause));
    }
  } else if (shape.IsArray()) {
    for (const auto size : shape.dimensions()) fact.axes.push_back(axis_of(size, along));
  }
  return fact;
}

RowFact unknown(const xla::Shape& shape, const RowCause* cause) {
  return fact_of(shape, Along::kVaries, cause);
}

// True if the known value is the same along the rows at this place of this dimension.
bool is_alike(const xla::LiteralBase& value, std::int64_t dimension, std::int64_t batch,
              const RowPlace& place) {
  const xla::Shape& shape = value.shape();
  const auto width = static_cast<std::size_t>(xla::primitive_util::ByteWidth(shape.element_type()));
  std::int64_t before = place.outer;
  std::int64_t after = place.inner;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d < dimension) before *= shape.dimensions(d);
    if (d > dimension) after *= shape.dimensions(d);
  }
  const auto block = static_cast<std::size_t>(after) * width;
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

// The kind of an element computed from one element of each. Nothing if rows are combined with a
// value that itself varies from row to row, or if the factors do not fit together.
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

// The factors of `axes` regrouped into other dimensions. Nothing if that splits the rows.
std::optional<std::vector<Axis>> regroup(const std::vector<Axis>& axes,
                                         absl::Span<const std::int64_t> sizes) {
  Axis factors;
  for (const Axis& axis : axes) factors.insert(factors.end(), axis.begin(), axis.end());
  factors = tidy(factors);
  if (absl::c_linear_search(sizes, 0)) return std::nullopt;
  if (auto made = try_regroup(factors, sizes)) return made;
  return try_regroup(weakened(factors), sizes);
}

// Elements start, start + stride, ... of an axis.
struct Piece {
  std::int64_t start = 0;
  std::int64_t limit = 0;
  std::int64_t stride = 1;
};
// Nothing if that leaves out rows.
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

// The elements of an integer array.
std::optional<std::vector<std::int64_t>> integers(const xla::LiteralBase& value) {
  const auto type = value.shape().element_type();
  if (!xla::primitive_util::IsIntegralType(type)) return std::nullopt;
  auto wide = value.Convert(xla::S64);
  if (!wide.ok()) return std::nullopt;
  const auto data = wide->data<std::int64_t>();
  return std::vector<std::int64_t>(data.begin(), data.end());
}

// True if the value of a tensor of this shape is kept: positions of rows, and values computed from
// them, are small.
bool is_worth_knowing(const xla::Shape& shape) {
  constexpr std::int64_t kMostElements = 1 << 16;
  return shape.IsArray() && xla::ShapeUtil::ElementsIn(shape) <= kMostElements && shape.is_static();
}

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
      if (a->opcode() == kConstant && !is_alike(a->literal(), b->literal())) {
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
    while (skips_shaping_ && (one->opcode() == kReshape || one->opcode() == kBroadcast)) {
      one = one->operand(0);
    }
    return one;
  }

  bool is_alike(std::int64_t a, std::int64_t b) const {
    return a == b || a * sizes_.second == b * sizes_.first;
  }

  bool is_alike(const HloInstruction& a, const HloInstruction& b) const {
    return a.opcode() == b.opcode() && a.operand_count() == b.operand_count() &&
           a.called_computations().size() == b.called_computations().size() &&
           type_of(a) == type_of(b) &&
           (a.opcode() != kParameter || a.parameter_number() == b.parameter_number()) &&
           is_alike(text_of(a), text_of(b));
  }

  // The shape and the attributes.
  static std::string text_of(const HloInstruction& one) {
    std::string text = xla::ShapeUtil::HumanString(one.shape());
    for (const auto& part : one.ExtraAttributesToString(
             xla::HloPrintOptions::ShortParsable()
                 .set_print_backend_config(false)
                 .set_print_subcomputation_mode(
                     xla::HloPrintOptions::PrintSubcomputationMode::kOff))) {
      text += " " + part;
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
  return !xla::HloPredicateIsOp<kRng, kRngBitGenerator, kRngGetAndUpdateState, kCustomCall,
                                kConstant, kParameter>(&one);
}

// Each element of the result is one element of an operand, the same one at every batch size.
bool moves_alone(const HloInstruction& one) {
  return xla::HloPredicateIsOp<kBitcast, kBroadcast, kConcatenate, kReshape, kTranspose>(&one);
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
  auto value = evaluator_.compute_on(one, shape, values);
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
  if (one.opcode() == kSelect) {
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

namespace {

// ---- Rules by opcode: the rows of an operation's result, from those of its operands.

using absl::c_linear_search;
using Sources = RowFlow::Sources;

constexpr const char* kSum = "adds up over the rows of the batch";
constexpr const char* kWindow = "moves a window over the rows of the batch";
constexpr const char* kOtherRows = "adds other rows to those of the batch";
constexpr const char* kOneMatrix = "takes the batch as one matrix";

Axis even_axis(std::int64_t size, bool is_same) {
  return axis_of(size, is_same ? Along::kSame : Along::kVaries);
}

// All results of an operation that returns one or a tuple of them.
RowFact all_results(const HloInstruction& one, const RowFact& each) {
  if (each.cause != nullptr) return unknown(one.shape(), each.cause);
  if (!one.shape().IsTuple()) return each;
  RowFact fact;
  fact.elements.assign(static_cast<std::size_t>(one.shape().tuple_shapes_size()), each);
  return fact;
}

// ---- Control flow.

RowFact constant_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact = is_worth_knowing(one.shape()) ? known_fact(Value(Value(), &one.literal()))
                                               : fact_of(one.shape(), Along::kVaries);
  if (flow.study().sizes().numbers.contains(&one)) {
    fact.cause = flow.study().unclear(one, "depends on how many rows the batch has");
  }
  return fact;
}

RowFact passed_on(const HloInstruction& one, RowFlow& flow) { return flow.of(one.operand(0)); }

RowFact branch_rows(const HloInstruction& one, RowFlow& flow) {
  const RowFact& choice = flow.of(one.operand(0));
  if (choice.cause != nullptr) return unknown(one.shape(), choice.cause);
  std::optional<RowFact> all;
  for (int i = 0; i < one.branch_count(); ++i) {
    const RowFact made =
        RowFlow(flow.study()).run(*one.branch_computation(i), {flow.of(one.operand(i + 1))});
    all = all ? flow.study().join(one, *all, made) : made;
  }
  return *all;
}

// True if nothing new is known.
bool is_equal(const RowFact& a, const RowFact& b) {
  return a.axes == b.axes && (a.cause == nullptr) == (b.cause == nullptr) &&
         (a.known == nullptr) == (b.known == nullptr) &&
         std::ranges::equal(a.elements, b.elements, is_equal);
}

// Element i of a loop's state.
auto state_element(std::int64_t i) { return m::GetTupleElement(m::Parameter(), i); }

// The element of a loop's state that says for each row whether it goes on: the loop ends when no
// row does, and a row that is done stays so.
std::optional<std::int64_t> rows_that_go_on(const HloInstruction& loop) {
  const HloInstruction& ends = *loop.while_condition()->root_instruction();
  const HloInstruction& root = *loop.while_body()->root_instruction();
  const HloInstruction* flags = nullptr;
  if (!xla::Match(&ends, m::Reduce(m::GetTupleElement(&flags, m::Op()), m::Op())) ||
      ends.to_apply()->root_instruction()->opcode() != kOr || root.opcode() != kTuple) {
    return std::nullopt;
  }
  const std::int64_t flag = flags->tuple_index();
  const bool stays = xla::Match(root.operand(flag), m::AndAnyOrder(state_element(flag), m::Op()));
  return stays ? std::optional(flag) : std::nullopt;
}

// True if an element of a loop's state never changes, or not in rows that are done.
bool is_kept_when_done(const HloInstruction& loop, std::int64_t i) {
  const HloInstruction& root = *loop.while_body()->root_instruction();
  if (root.opcode() != kTuple) return false;
  const HloInstruction& next = *root.operand(i);
  if (xla::Match(&next, state_element(i))) return true;
  const auto flag = rows_that_go_on(loop);
  if (!flag || i == *flag) return flag.has_value();
  const HloInstruction* choice = nullptr;
  if (!xla::Match(&next, m::Select(m::Op(&choice), m::Op(), state_element(i)))) return false;
  while (choice->opcode() == kBroadcast || choice->opcode() == kReshape) {
    choice = choice->operand(0);
  }
  return xla::Match(choice, state_element(*flag));
}

// The loop's state is joined with its first value until nothing new is found.
RowFact loop_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact state = flow.of(one.operand(0));
  RowStudy& study = flow.study();
  while (true) {
    const RowFact again = RowFlow(study).run(*one.while_condition(), {state});
    const RowFact next = RowFlow(study).run(*one.while_body(), {state});
    const RowFact joined = study.join(one, state, next);
    if (!is_equal(joined, state)) {
      state = joined;
      continue;
    }
    if (again.cause == nullptr) return state;
    // The rows together decide the number of turns: everything that changes in a turn may depend on
    // it, but for rows that stay as they are once they are done.
    const RowFact before = state;
    for (std::size_t i = 0; i < state.elements.size(); ++i) {
      RowFact& element = state.elements[i];
      if (is_kept_when_done(one, static_cast<std::int64_t>(i))) continue;
      if (element.has_rows()) study.set_waiting(one, before);
      element = unknown(one.shape().tuple_shapes(static_cast<int>(i)), again.cause);
    }
    return state;
  }
}

// ---- Moves: each element of the result is one of the operand.

RowFact reshape_rows(const HloInstruction& one, RowFlow& flow) {
  const RowFact& from = flow.of(one.operand(0));
  auto axes = regroup(from.axes, one.shape().dimensions());
  if (axes) return {.axes = std::move(*axes)};
  if (!from.has_rows()) return fact_of(one.shape(), Along::kVaries);
  return flow.not_clear(one, "splits the batch, but not by rows");
}

RowFact broadcast_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact = fact_of(one.shape(), Along::kSame);
  for (std::int64_t i = 0; i < std::ssize(one.dimensions()); ++i) {
    entry(fact.axes, one.dimensions(i)) = flow.of(one.operand(0)).axis(i);
  }
  return fact;
}

RowFact transpose_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (const auto d : one.dimensions()) fact.axes.push_back(flow.of(one.operand(0)).axis(d));
  return fact;
}

RowFact slice_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const auto part = cut(flow.of(one.operand(0)).axis(d),
                          {one.slice_starts(d), one.slice_limits(d), one.slice_strides(d)});
    if (!part) return flow.mixed(one, "takes some rows of the batch by their position");
    fact.axes.push_back(*part);
  }
  return fact;
}

RowFact pad_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const auto& padding = one.padding_config().dimensions(static_cast<int>(d));
    const Axis& from = flow.of(one.operand(0)).axis(d);
    const bool stays = padding.edge_padding_low() == 0 && padding.edge_padding_high() == 0 &&
                       padding.interior_padding() == 0;
    if (!stays && has_rows(from)) return flow.not_clear(one, kOtherRows);
    fact.axes.push_back(stays ? from : axis_of(size_of(one, d), Along::kVaries));
  }
  return fact;
}

RowFact reverse_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact{.axes = flow.of(one.operand(0)).axes};
  for (const auto d : one.dimensions()) {
    Axis& turned = entry(fact.axes, d);
    if (has_rows(turned)) return flow.mixed(one, "reverses the rows of the batch");
    turned = even_axis(size_of(turned), is_same(turned));
  }
  return fact;
}

// Tensors joined one after the other: [parts, rows, ...] if each is computed from the rows in the
// same way.
std::optional<Axis> joined_axis(const HloInstruction& one, const RowFlow& flow) {
  const std::int64_t dimension = one.concatenate_dimension();
  const auto axis = [&](const HloInstruction* operand) -> const Axis& {
    return flow.of(operand).axis(dimension);
  };
  const auto found =
      absl::c_find_if(one.operands(), [&](const auto* operand) { return has_rows(axis(operand)); });
  if (found == one.operands().end()) {
    return axis_of(size_of(one, dimension), Along::kVaries);
  }
  const Axis& part = axis(*found);
  for (const auto* operand : one.operands()) {
    const Axis& other = axis(operand);
    if (size_of(other) != size_of(part) || meet(part, other) != part) return std::nullopt;
  }
  Axis made = axis_of(one.operand_count(), Along::kVaries);
  made.insert(made.end(), part.begin(), part.end());
  return tidy(made);
}

RowFact concatenate_rows(const HloInstruction& one, RowFlow& flow) {
  const auto parts = joined_axis(one, flow);
  if (!parts) return flow.not_clear(one, kOtherRows);
  const RowFact ends{.axes = {*parts}};
  Sources sources(static_cast<std::size_t>(one.shape().rank()));
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    if (d == one.concatenate_dimension()) {
      entry(sources, d) = {{&ends, 0}};
      continue;
    }
    for (const auto* operand : one.operands()) entry(sources, d).push_back({&flow.of(operand), d});
  }
  return flow.made(one, one.shape(), sources);
}

RowFact dynamic_slice_rows(const HloInstruction& one, RowFlow& flow) {
  RowFact fact;
  for (std::int64_t d = 0; d < one.shape().rank(); ++d) {
    const Axis& from = flow.of(one.operand(0)).axis(d);
    const auto size = size_of(one, d);
    const bool is_whole = size == size_of(from);
    if (!is_whole && has_rows(from)) return flow.not_clear(one, "takes some rows of the batch");
    fact.axes.push_back(is_whole ? from : even_axis(size, is_same(from)));
  }
  return fact;
}

RowFact dynamic_update_rows(const HloInstruction& one, RowFlow& flow) {
  const RowFact& into = flow.of(one.operand(0));
  const RowFact& part = flow.of(one.operand(1));
  Sources sources(into.axes.size());
  for (std::int64_t d = 0; d < std::ssize(sources); ++d) {
    if (size_of(into.axis(d)) == size_of(part.axis(d))) {
      entry(sources, d) = {{&into, d}, {&part, d}};
    } else if (has_rows(into.axis(d)) || has_rows(part.axis(d))) {
      return flow.not_clear(one, "writes some rows of the batch");
    }
  }
  return flow.made(one, one.shape(), sources);
}

// It only sets how many elements count; all of them stay.
RowFact set_size_rows(const HloInstruction& one, RowFlow& flow) {
  const RowFact& from = flow.of(one.operand(0));
  if (has_rows(from.axis(one.dimension()))) {
    return flow.not_clear(one, "leaves out rows of the batch");
  }
  return {.axes = from.axes};
}

RowFact iota_rows(const HloInstruction& one, RowFlow& /*flow*/) {
  RowFact fact = fact_of(one.shape(), Along::kSame);
  const auto d = xla::Cast<xla::HloIotaInstruction>(&one)->iota_dimension();
  entry(fact.axes, d) = axis_of(size_of(one, d), Along::kVaries);
  return fact;
}

// ---- Operations that combine elements along some dimensions: sums, windows, sorting.

RowFact reduce_rows(const HloInstruction& one, RowFlow& flow) {
  Sources sources(static_cast<std::size_t>(first_shape(one).rank()));
  for (std::int64_t i = 0; i < one.operand_count() / 2; ++i) {
    std::size_t kept = 0;
    for (std::int64_t d = 0; d < one.operand(i)->shape().rank(); ++d) {
      if (!c_linear_search(one.dimensions(), d)) {
        sources[kept++].push_back({&flow.of(one.operand(i)), d});
        continue;
      }
      const auto* cause = flow.taken_together(one, i, d, "combines the rows of the batch into one");
      if (cause != nullptr) return unknown(one.shape(), cause);
    }
  }
  return all_results(one, flow.made(one, first_shape(one), sources));
}

// Other dimensions are unchanged. The result varies along these, and no rows may be there.
RowFact rows_along(const HloInstruction& one, RowFlow& flow,
                   absl::Span<const std::int64_t> dimensions, const char* why) {
  Sources sources(static_cast<std::size_t>(first_shape(one).rank()));
  for (const auto* operand : one.operands()) {
    const RowFact& from = flow.of(operand);
    if (from.axes.size() != sources.size()) {
      if (from.has_rows()) return flow.not_known(one);
      continue;
    }
    for (std::int64_t d = 0; d < std::ssize(sources); ++d) {
      if (!c_linear_search(dimensions, d)) {
        entry(sources, d).push_back({&from, d});
      } else if (has_rows(from.axis(d))) {
        return flow.mixed(one, why);
      }
    }
  }
  return all_results(one, flow.made(one, first_shape(one), sources));
}

RowFact rows_along_last(const HloInstruction& one, RowFlow& flow, std::int64_t count,
                        const char* why) {
  const std::int64_t rank = one.operand(0)->shape().rank();
  const std::int64_t first = std::max<std::int64_t>(0, rank - count);
  return rows_along(one, flow, counted(rank - first, first), why);
}

// Dimensions along which no window moves stay.
RowFact window_rows(const HloInstruction& one, RowFlow& flow) {
  Dimensions moved;
  for (int d = 0; d < one.window().dimensions_size(); ++d) {
    if (!is_point(one.window().dimensions(d))) moved.push_back(d);
  }
  return rows_along(one, flow, moved, kWindow);
}

RowFact top_k_rows(const HloInstruction& one, RowFlow& flow) {
  return rows_along_last(one, flow, 1, "picks the largest rows of the batch");
}

// Factors of matrices, which are the last two dimensions of an operand. Results may have any
// dimensions after the others.
RowFact factor_rows(const HloInstruction& one, RowFlow& flow) {
  const std::int64_t matrices = one.operand(0)->shape().rank() - 2;
  const auto each = [&](const xla::Shape& shape) -> RowFact {
    Sources sources(static_cast<std::size_t>(shape.rank()));
    for (const auto* operand : one.operands()) {
      const RowFact& from = flow.of(operand);
      for (std::int64_t d = 0; d < std::ssize(from.axes); ++d) {
        if (d < matrices && d < shape.rank()) {
          entry(sources, d).push_back({&from, d});
        } else if (has_rows(from.axis(d))) {
          return unknown(shape, flow.study().mixing(one, kOneMatrix));
        }
      }
    }
    return flow.made(one, shape, sources);
  };
  if (!one.shape().IsTuple()) return each(one.shape());
  RowFact fact;
  for (const auto& shape : one.shape().tuple_shapes()) fact.elements.push_back(each(shape));
  return fact;
}

RowFact custom_call_rows(const HloInstruction& one, RowFlow& flow) {
  const auto& target = one.custom_call_target();
  if (target == "TopK") return top_k_rows(one, flow);
  const bool is_factorization =
      target == "Qr" || target == "Eigh" || target == "ProductOfElementaryHouseholderReflectors";
  return is_factorization ? factor_rows(one, flow) : flow.not_known(one);
}

// ---- Products.

RowFact dot_rows(const HloInstruction& one, RowFlow& flow) {
  const auto& numbers = one.dot_dimension_numbers();
  const std::array operands = {&flow.of(one.operand(0)), &flow.of(one.operand(1))};
  const std::array batches = {&numbers.lhs_batch_dimensions(), &numbers.rhs_batch_dimensions()};
  const std::array sums = {&numbers.lhs_contracting_dimensions(),
                           &numbers.rhs_contracting_dimensions()};
  Sources sources;
  for (int i = 0; i < batches[0]->size(); ++i) {
    sources.push_back({{operands[0], (*batches[0])[i]}, {operands[1], (*batches[1])[i]}});
  }
  for (std::size_t side = 0; side < operands.size(); ++side) {
    for (std::int64_t d = 0; d < std::ssize(operands[side]->axes); ++d) {
      if (c_linear_search(*sums[side], d)) {
        const auto* cause = flow.taken_together(one, static_cast<std::int64_t>(side), d, kSum);
        if (cause != nullptr) return unknown(one.shape(), cause);
      } else if (!c_linear_search(*batches[side], d)) {
        sources.push_back({{operands[side], d}});
      }
    }
  }
  return flow.made(one, one.shape(), sources);
}

// A convolution with groups of features that contain rows: each row has its own groups.
bool rows_are_groups(const Axis& features, std::int64_t groups, std::int64_t batch) {
  const auto place = row_place(features);
  return place && place->outer == 1 && groups % batch == 0;
}

RowFact convolution_rows(const HloInstruction& one, RowFlow& flow) {
  constexpr const char* kOtherGroups = "has groups of features that are not rows";
  const auto& numbers = one.convolution_dimension_numbers();
  const RowFact& images = flow.of(one.operand(0));
  const RowFact& kernel = flow.of(one.operand(1));
  Sources sources(static_cast<std::size_t>(one.shape().rank()));
  if (one.batch_group_count() > 1 && (images.has_rows() || kernel.has_rows())) {
    return flow.not_clear(one, "has groups of images");
  }
  entry(sources, numbers.output_batch_dimension()) = {{&images, numbers.input_batch_dimension()}};
  for (int i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const auto from = numbers.input_spatial_dimensions(i);
    if (has_rows(kernel.axis(numbers.kernel_spatial_dimensions(i)))) return flow.mixed(one, kSum);
    if (is_point(one.window().dimensions(i))) {
      entry(sources, numbers.output_spatial_dimensions(i)) = {{&images, from}};
    } else if (has_rows(images.axis(from))) {
      return flow.mixed(one, kWindow);
    }
  }
  auto& features = entry(sources, numbers.output_feature_dimension());
  const auto outputs = numbers.kernel_output_feature_dimension();
  features = {{&kernel, outputs}};
  if (has_rows(kernel.axis(numbers.kernel_input_feature_dimension()))) {
    return flow.mixed(one, kSum);
  }
  const Axis& from = images.axis(numbers.input_feature_dimension());
  const std::int64_t batch = flow.study().batch();
  const RowFact groups{.axes = {tidy({{batch, Along::kRows},
                                      {size_of(kernel.axis(outputs)) / batch, Along::kSame}})}};
  if (one.feature_group_count() == 1) {
    const auto* cause = flow.taken_together(one, 0, numbers.input_feature_dimension(), kSum);
    if (cause != nullptr) return unknown(one.shape(), cause);
  } else if (has_rows(from)) {
    if (!rows_are_groups(from, one.feature_group_count(), batch)) {
      return flow.not_clear(one, kOtherGroups);
    }
    features.push_back({&groups, 0});
  } else if (has_rows(kernel.axis(outputs)) && !is_same(from)) {
    return flow.not_clear(one, kOtherGroups);
  }
  return flow.made(one, one.shape(), sources);
}

// ---- Gather and scatter. An index into the dimension of the rows is harmless if it is known to be
// the number of the row that it is used for: TensorFlow writes lookups "in each row" with such
// indices, next to those from the data.

// Element `index` of one dimension of a value; the dimension is kept. Looks at the operands of
// operations that join values, because more may be known about each part than about the whole.
RowFact component(const HloInstruction& one, std::int64_t dimension, std::int64_t index,
                  RowFlow& flow) {
  if (size_of(one, dimension) == 1) return flow.of(&one);
  if (one.opcode() == kConcatenate && one.concatenate_dimension() == dimension) {
    for (const auto* operand : one.operands()) {
      const auto size = size_of(*operand, dimension);
      if (index < size) return component(*operand, dimension, index, flow);
      index -= size;
    }
  }
  const xla::Shape part = resized(one.shape(), dimension, 1);
  const bool is_of_parts = one.IsElementwise() && one.operand_count() > 0 &&
                           absl::c_all_of(one.operands(), [&](const auto* operand) {
                             return operand->shape().rank() == one.shape().rank();
                           });
  if (is_of_parts) {
    std::vector<RowFact> operands;
    for (const auto* operand : one.operands()) {
      operands.push_back(component(*operand, dimension, index, flow));
    }
    return flow.elementwise(one, operands, part);
  }
  RowFact fact = flow.of(&one);
  if (fact.known != nullptr) {
    Dimensions starts(fact.axes.size(), 0);
    Dimensions limits = dimensions_of(one);
    entry(starts, dimension) = index;
    entry(limits, dimension) = index + 1;
    RowFact made =
        known_fact(std::make_shared<const xla::Literal>(fact.known->Slice(starts, limits)));
    made.cause = fact.cause;
    return made;
  }
  if (fact.cause == nullptr && has_rows(fact.axis(dimension))) {
    return unknown(part, flow.study().mixing(one, "uses a row of the batch as a position"));
  }
  entry(fact.axes, dimension) = {};
  return fact;
}

// Where the looked-up positions have their rows.
struct RowOfPlaces {
  std::size_t place = 0;
  RowPlace split;
};

// The indices of a gather or scatter, by the dimension that they index.
struct PositionIndices {
  const HloInstruction* all;
  std::int64_t batch;
  std::vector<RowFact> parts = {};  // the rank of `all`, or without the vector's dimension
  Dimensions dimensions = {};       // of `all`, by place

  std::int64_t size(std::size_t place) const { return size_of(*all, dimensions[place]); }

  // One dimension with rows at that place, and the same value along the rest.
  RowFact rows_at(std::int64_t size, const RowPlace& split) const {
    return {.axes = {tidy({{split.outer, Along::kSame},
                           {batch, Along::kRows},
                           {size / (split.outer * batch), Along::kSame}})}};
  }

  // True if part `own` contains, for each position, the number of its own row in a dimension of
  // `table`: [outer, rows, inner]. The rows of the positions are then as given.
  bool names_own_row(std::size_t own, const RowOfPlaces& rows, const RowPlace& table) const {
    const RowFact& part = parts[own];
    const auto values =
        part.known != nullptr && part.cause == nullptr ? integers(*part.known) : std::nullopt;
    if (!values) return false;
    const std::int64_t inside =
        rows.split.inner * stride_along(part.known->shape(), dimensions[rows.place]);
    const std::int64_t size = table.outer * batch * table.inner;
    for (std::int64_t i = 0; i < std::ssize(*values); ++i) {
      const std::int64_t value = entry(*values, i);
      const std::int64_t row = i / inside % batch;
      if (value < 0 || value >= size || value / table.inner % batch != row) return false;
      // The rest of the index must be the same in every row.
      if (value - entry(*values, i - row * inside) != row * table.inner) return false;
    }
    return true;
  }

  // Where the positions may have their rows: where the indices other than `own`, or `values`, have
  // them; else anywhere.
  std::vector<RowOfPlaces> row_candidates(std::size_t own,
                                          const std::vector<const Axis*>& values) const {
    std::vector<RowOfPlaces> found;
    for (std::size_t place = 0; place < dimensions.size(); ++place) {
      if (place < values.size()) {
        if (const auto split = row_place(*values[place])) return {{place, *split}};
      }
      for (std::size_t k = 0; k < parts.size(); ++k) {
        if (k == own || parts[k].cause != nullptr) continue;
        if (const auto split = row_place(parts[k].axis(dimensions[place]))) {
          return {{place, *split}};
        }
      }
      for (const RowPlace& split : splits_of(size(place))) found.push_back({place, split});
    }
    return found;
  }

  // All places that rows can have in a dimension.
  std::vector<RowPlace> splits_of(std::int64_t size) const {
    std::vector<RowPlace> splits;
    for (std::int64_t inner = 1; inner * batch <= size; ++inner) {
      if (size % (inner * batch) == 0) splits.push_back({size / (inner * batch), inner});
    }
    return splits;
  }
};

// The vector's element k is for dimension map[k] of the table.
PositionIndices indices_of(const HloInstruction& all, std::int64_t vector_dimension,
                           std::int64_t count, RowFlow& flow) {
  PositionIndices made{&all, flow.study().batch()};
  made.dimensions = other_dimensions(all.shape().rank(), {vector_dimension});
  const bool has_vector = vector_dimension < all.shape().rank();
  for (std::int64_t k = 0; k < count; ++k) {
    made.parts.push_back(has_vector ? component(all, vector_dimension, k, flow) : flow.of(&all));
  }
  return made;
}

RowFact gather_rows(const HloInstruction& one, RowFlow& flow) {
  const auto& numbers = one.gather_dimension_numbers();
  const RowFact& table = flow.of(one.operand(0));
  const PositionIndices indices =
      indices_of(*one.operand(1), numbers.index_vector_dim(), numbers.start_index_map_size(), flow);
  if (table.cause != nullptr) return unknown(one.shape(), table.cause);
  const Dimensions all = counted(std::ssize(table.axes));
  const auto is_whole = [&](std::int64_t d) {
    return entry(one.gather_slice_sizes(), d) == size_of(*one.operand(0), d);
  };
  // The dimension of the table that contains the rows, if indices choose among them.
  const auto chosen =
      absl::c_find_if(all, [&](std::int64_t d) { return has_rows(table.axis(d)) && !is_whole(d); });
  std::size_t own = indices.parts.size();
  std::optional<RowOfPlaces> where;
  RowFact rows;
  if (chosen != all.end()) {
    const auto& map = numbers.start_index_map();
    own = static_cast<std::size_t>(absl::c_find(map, *chosen) - map.begin());
    const auto place = row_place(table.axis(*chosen));
    if (place && own < indices.parts.size() && entry(one.gather_slice_sizes(), *chosen) == 1) {
      const auto candidates = indices.row_candidates(own, {});
      const auto found = absl::c_find_if(candidates, [&](const RowOfPlaces& candidate) {
        return indices.names_own_row(own, candidate, *place);
      });
      if (found != candidates.end()) where = *found;
    }
    if (!where) return flow.not_clear(one, "looks up rows of the batch by a computed index");
    rows = indices.rows_at(indices.size(where->place), where->split);
  }
  Sources sources(static_cast<std::size_t>(one.shape().rank()));
  std::size_t place = 0;
  for (const auto d : other_dimensions(one.shape().rank(), numbers.offset_dims())) {
    auto& from = entry(sources, d);
    if (where && place == where->place) from.push_back({&rows, 0});
    const auto of_part = indices.dimensions[place++];
    for (std::size_t k = 0; k < indices.parts.size(); ++k) {
      if (k == own) continue;
      const RowFact& part = indices.parts[k];
      if (part.cause != nullptr) return unknown(one.shape(), part.cause);
      from.push_back({&part, of_part});
    }
  }
  // Dimensions of the table that each lookup takes as a whole.
  int next = 0;
  for (const auto d : other_dimensions(std::ssize(all), numbers.collapsed_slice_dims())) {
    const auto to = numbers.offset_dims(next++);
    if (is_whole(d)) entry(sources, to).push_back({&table, d});
  }
  return flow.made(one, one.shape(), sources);
}

class ScatterRule {
 public:
  ScatterRule(const HloInstruction& one, RowFlow& flow)
      : one_(one),
        flow_(flow),
        numbers_(one.scatter_dimension_numbers()),
        arrays_((one.operand_count() - 1) / 2),
        indices_(indices_of(*one.operand(arrays_), numbers_.index_vector_dim(),
                            numbers_.scatter_dims_to_operand_dims_size(), flow)) {}

  RowFact visit() {
    for (const auto* operand : one_.operands()) {
      if (operand != indices_.all && flow_.of(operand).cause != nullptr) {
        return unknown(one_.shape(), flow_.of(operand).cause);
      }
    }
    for (const RowFact& part : indices_.parts) {
      if (part.cause != nullptr) return unknown(one_.shape(), part.cause);
    }
    const xla::Shape& shape = first_shape(one_);
    Sources sources(static_cast<std::size_t>(shape.rank()));
    for (std::int64_t i = 0; i < arrays_; ++i) {
      if (!add_windows(i, sources)) return flow_.not_clear(one_, "writes some rows of the batch");
    }
    RowFact rows;
    if (places_have_rows()) {
      const auto found = find_rows();
      if (!found) {
        return flow_.mixed(one_, "puts several rows of the batch into the same place");
      }
      const auto [dimension, split] = *found;
      rows = indices_.rows_at(entry(shape.dimensions(), dimension), split);
      auto& from = entry(sources, dimension);
      from = {{&rows, 0}};
      for (std::int64_t i = 0; i < arrays_; ++i) {
        from.push_back({&flow_.of(one_.operand(i)), dimension});
      }
    }
    return all_results(one_, flow_.made(one_, shape, sources));
  }

 private:
  const RowFact& update(std::int64_t array) const {
    return flow_.of(one_.operand(arrays_ + 1 + array));
  }
  // Dimensions of the update that count positions, in order.
  std::vector<const Axis*> places(std::int64_t array) const {
    std::vector<const Axis*> axes;
    const RowFact& from = update(array);
    for (const auto d : other_dimensions(std::ssize(from.axes), numbers_.update_window_dims())) {
      axes.push_back(&from.axis(d));
    }
    return axes;
  }

  bool places_have_rows() const {
    for (std::int64_t i = 0; i < arrays_; ++i) {
      if (absl::c_any_of(places(i), [](const Axis* one) { return has_rows(*one); })) return true;
      const RowFact& into = flow_.of(one_.operand(i));
      for (const auto d : numbers_.inserted_window_dims()) {
        if (has_rows(into.axis(d))) return true;
      }
    }
    return absl::c_any_of(indices_.parts, [](const RowFact& part) { return part.has_rows(); });
  }

  // The dimension in which each row has its own positions.
  std::optional<std::pair<std::int64_t, RowPlace>> find_rows() const {
    for (std::size_t own = 0; own < indices_.parts.size(); ++own) {
      const auto d = numbers_.scatter_dims_to_operand_dims(static_cast<int>(own));
      if (!c_linear_search(numbers_.inserted_window_dims(), d)) continue;
      for (const auto& candidate : indices_.row_candidates(own, places(0))) {
        if (!others_agree(own, candidate)) continue;
        const auto size = size_of(*one_.operand(0), d);
        for (const RowPlace& table : indices_.splits_of(size)) {
          if (indices_.names_own_row(own, candidate, table)) return {{d, table}};
        }
      }
    }
    return std::nullopt;
  }

  // True if the updates and the other indices have their rows there too, or are the same in all
  // rows.
  bool others_agree(std::size_t own, const RowOfPlaces& rows) const {
    const RowFact wanted = indices_.rows_at(indices_.size(rows.place), rows.split);
    for (std::size_t k = 0; k < indices_.parts.size(); ++k) {
      if (k == own) continue;
      const RowFact& part = indices_.parts[k];
      for (std::size_t place = 0; place < indices_.dimensions.size(); ++place) {
        if (place != rows.place && has_rows(part.axis(indices_.dimensions[place]))) return false;
      }
      const auto met = flow_.study().meet(wanted, 0, part, indices_.dimensions[rows.place]);
      if (!met || row_place(*met) != rows.split) return false;
    }
    for (std::int64_t i = 0; i < arrays_; ++i) {
      const auto axes = places(i);
      for (std::size_t place = 0; place < axes.size(); ++place) {
        if (place != rows.place && has_rows(*axes[place])) return false;
      }
      if (!meet(wanted.axes[0], *axes[rows.place])) return false;
    }
    return true;
  }

  // Moved windows must not contain parts of a row.
  bool add_windows(std::int64_t array, Sources& sources) const {
    const RowFact& into = flow_.of(one_.operand(array));
    const RowFact& from = update(array);
    int next = 0;
    for (const auto d : other_dimensions(std::ssize(into.axes), numbers_.inserted_window_dims())) {
      const auto window = numbers_.update_window_dims(next++);
      if (size_of(from.axis(window)) == size_of(into.axis(d))) {
        entry(sources, d).push_back({&into, d});
        entry(sources, d).push_back({&from, window});
      } else if (has_rows(into.axis(d)) || has_rows(from.axis(window))) {
        return false;
      }
    }
    return true;
  }

  const HloInstruction& one_;
  RowFlow& flow_;
  const xla::ScatterDimensionNumbers& numbers_;
  std::int64_t arrays_;
  PositionIndices indices_;
};

// The rule for the rows in an operation.
enum class RowCauses {
  kNone,  // no operand has a cause; a result that can be evaluated is known already
  kSeen,  // the rule looks at causes itself
};
struct RowRule {
  HloOpcode opcode;
  RowFact (*visit)(const HloInstruction& one, RowFlow& flow);
  RowCauses causes = RowCauses::kNone;
};

constexpr RowRule kRules[] = {
    {kAddDependency, passed_on, RowCauses::kSeen},
    {kBitcast, reshape_rows},
    {kBroadcast, broadcast_rows},
    {kCall,
     [](const HloInstruction& one, RowFlow& flow) {
       return RowFlow(flow.study()).run(*one.to_apply(), flow.of_operands(one));
     },
     RowCauses::kSeen},
    {kCholesky, factor_rows},
    {kConcatenate, concatenate_rows},
    {kConditional, branch_rows, RowCauses::kSeen},
    {kConstant, constant_rows, RowCauses::kSeen},
    {kConvolution, convolution_rows},
    {kCopy, passed_on, RowCauses::kSeen},
    {kCustomCall, custom_call_rows},
    {kDot, dot_rows},
    {kDynamicSlice, dynamic_slice_rows},
    {kDynamicUpdateSlice, dynamic_update_rows},
    {kFft,
     [](const HloInstruction& one, RowFlow& flow) {
       return rows_along_last(one, flow, std::ssize(one.fft_length()),
                              "transforms along the rows of the batch");
     }},
    {kGather, gather_rows, RowCauses::kSeen},
    {kGetTupleElement,
     [](const HloInstruction& one, RowFlow& flow) {
       return entry(flow.of(one.operand(0)).elements, one.tuple_index());
     },
     RowCauses::kSeen},
    {kIota, iota_rows},
    {kOptimizationBarrier, passed_on, RowCauses::kSeen},
    {kPad, pad_rows},
    {kParameter,
     [](const HloInstruction& one, RowFlow& flow) {
       return entry(flow.arguments(), one.parameter_number());
     },
     RowCauses::kSeen},
    {kReduce, reduce_rows},
    {kReduceWindow, window_rows},
    {kReshape, reshape_rows},
    {kReverse, reverse_rows},
    {kScatter,
     [](const HloInstruction& one, RowFlow& flow) { return ScatterRule(one, flow).visit(); },
     RowCauses::kSeen},
    {kSelectAndScatter, window_rows},
    {kSetDimensionSize, set_size_rows},
    {kSlice, slice_rows},
    {kSort,
     [](const HloInstruction& one, RowFlow& flow) {
       return rows_along(one, flow, one.dimensions(), "sorts the rows of the batch");
     }},
    {kTopK, top_k_rows},
    {kTranspose, transpose_rows},
    {kTriangularSolve, factor_rows},
    {kTuple,
     [](const HloInstruction& one, RowFlow& flow) {
       return RowFact{.elements = flow.of_operands(one)};
     },
     RowCauses::kSeen},
    {kWhile, loop_rows, RowCauses::kSeen},
};

}  // namespace

RowFact RowFlow::visit(const HloInstruction& one) {
  const auto* const rule = std::ranges::find(kRules, one.opcode(), &RowRule::opcode);
  const bool has_rule = rule != std::end(kRules);
  if (has_rule && rule->causes == RowCauses::kSeen) return rule->visit(one, *this);
  const std::vector<RowFact> operands = of_operands(one);
  if ((one.IsElementwise() || one.opcode() == kMap) && one.shape().IsArray() &&
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
  return has_rule ? rule->visit(one, *this) : not_known(one);
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
    const bool direct = root.opcode() == kTuple;
    const HloInstruction& output = direct ? *root.operand(static_cast<std::int64_t>(i)) : root;
    causes.push_back(judge(output, result.elements[i], study));
  }
  return causes;
}

}  // namespace tfaot::toolkit::engine
