// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/algorithm/container.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/kernel_facts.h"

namespace tfaot::toolkit::engine {

namespace {

kernels::PlaceType place_type(xla::PrimitiveType type) {
  switch (type) {
    case xla::S32:
      return kernels::kPlacesInt32;
    case xla::S64:
      return kernels::kPlacesInt64;
    case xla::F32:
      return kernels::kPlacesFloat32;
    case xla::F64:
      return kernels::kPlacesFloat64;
    default:
      return kernels::kPlacesInOrder;
  }
}

// True if the kernel finds the same place without the conversion. Like the kernel, XLA converts
// numbers that are out of range to the nearest integer.
bool keeps_place(const HloInstruction& convert) {
  const auto from = type_of(*convert.operand(0));
  const bool narrows = from == xla::S64 && type_of(convert) == xla::S32;
  return !narrows && place_type(from) != kernels::kPlacesInOrder;
}

// An instruction as `count` rows, one after the other at the same distance. Reshapes and slices
// before it are left out if the tensor has as many rows.
View view_of_rows(HloInstruction* instruction, std::int64_t count) {
  const std::int64_t elements = elements_of(*instruction) / count;
  View rows{instruction, {{count, elements}, {elements, 1}}};
  while (rows.tensor->opcode() == kReshape || rows.tensor->opcode() == kSlice) {
    auto before = rows.before();
    if (!before || (elements > 1 && before->strides[1].step != 1)) break;
    const std::int64_t all = elements_of(*before->tensor);
    if (count == 1) before->strides[0].step = all;
    if (count * before->strides[0].step != all) break;
    rows = *before;
  }
  return rows;
}

// A part of the rows of a gather: each takes a row of a tensor, by its number or in order.
struct GatheredPart {
  HloInstruction* x = nullptr;
  HloInstruction* places = nullptr;  // null: there is no operand
  kernels::GatherPart of{};          // numbers of operands are not set
};

// Row i takes row i of `x`, which has as many.
GatheredPart part_in_order(HloInstruction* x, std::int64_t rows) {
  const View view = view_of_rows(x, rows);
  GatheredPart part{view.tensor};
  part.of.x_at = view.offset;
  part.of.x_step = view.strides[0].step;
  part.of.x_rows = rows;
  part.of.elements = elements_of(*x) / rows;
  return part;
}

// True for places that a sort found, which count from 0 on.
bool are_of_sort(const HloInstruction& places) {
  const HloInstruction* one = &places;
  while (xla::HloPredicateIsOp<kConvert, kReshape>(one)) one = one->operand(0);
  return one->opcode() == kGetTupleElement && one->tuple_index() == 1 &&
         called_kernel(*one->operand(0)) == Kernel::kTopK;
}

// ONNX counts places below 0 from the end: select(places < 0, places + count, places). Returns
// `places` if they are none of these; null: they may be, or it is another select.
HloInstruction* without_negative(HloInstruction& one) {
  if (one.opcode() != kSelect || one.operand(0)->opcode() != kCompare) return nullptr;
  const HloInstruction& is_negative = *one.operand(0);
  const bool is_it = is_negative.comparison_direction() == xla::ComparisonDirection::kLt &&
                     is_negative.operand(0) == one.operand(2) &&
                     number_of(*is_negative.operand(1)) == 0 && are_of_sort(*one.operand(2));
  return is_it ? one.mutable_operand(2) : nullptr;
}

// Rows of `x` by `places`. A conversion of the places, or a slice that computes them, becomes part
// of the call.
GatheredPart part_by_places(HloInstruction* x, HloInstruction* places, std::int64_t elements) {
  const std::int64_t rows = elements_of(*places);
  while (true) {
    if (places->opcode() == kReshape || (places->opcode() == kConvert && keeps_place(*places))) {
      places = places->mutable_operand(0);
    } else if (HloInstruction* const plain = without_negative(*places)) {
      places = plain;
    } else {
      break;
    }
  }
  const View view = view_of_rows(places, rows);
  GatheredPart part{x, view.tensor};
  part.of.x_step = part.of.elements = elements;
  part.of.x_rows = elements_of(*x) / elements;
  part.of.place_type = place_type(type_of(*view.tensor));
  part.of.place_at = view.offset;
  part.of.place_step = view.strides[0].step;
  return part;
}

// A call, which has no operands yet, with these parts after its struct. `model` is the instruction
// that it replaces.
HloInstruction* add_call_of_parts(KernelCall made, const std::vector<GatheredPart>& parts,
                                  const HloInstruction& model) {
  const auto number_of = [&](HloInstruction* operand) -> std::int64_t {
    const auto found = std::ranges::find(made.operands, operand);
    const std::int64_t number = found - made.operands.begin() + 1;  // in[0] is the struct
    if (found == made.operands.end()) made.operands.push_back(operand);
    return number;
  };
  for (const GatheredPart& part : parts) {
    kernels::GatherPart of = part.of;
    of.x = number_of(part.x);
    if (part.places != nullptr) of.places = number_of(part.places);
    std::ranges::copy(as_words(of), std::back_inserter(made.words));
  }
  return add_kernel_call(made, model);
}

HloInstruction* add_gather(const std::vector<GatheredPart>& parts, const Dimensions& result,
                           const HloInstruction& model) {
  kernels::GatherCall call{};
  call.parts = std::ssize(parts);
  for (const GatheredPart& part : parts) call.row += part.of.elements;
  call.rows = product(result) / call.row;
  return add_call_of_parts({Kernel::kGather, as_words(call), {}, result}, parts, model);
}

// ---- Gathers.

// Pads along this dimension alone, and does not cut or spread.
bool pads_only(const HloInstruction& pad, std::int64_t dimension) {
  for (int d = 0; d < pad.shape().rank(); ++d) {
    const auto& edges = pad.padding_config().dimensions(d);
    const std::int64_t low = edges.edge_padding_low();
    const std::int64_t high = edges.edge_padding_high();
    if (edges.interior_padding() != 0 || low < 0 || high < 0) return false;
    if (d != dimension && low + high != 0) return false;
  }
  return true;
}

// The elements at a place along a dimension: of a concatenation or a padding, those of its part.
HloInstruction* column_of(HloInstruction* x, std::int64_t dimension, std::int64_t place) {
  if (x->opcode() == kConcatenate && x->concatenate_dimension() == dimension) {
    for (HloInstruction* part : x->operands()) {
      const std::int64_t size = part->shape().dimensions(static_cast<int>(dimension));
      if (place < size) return column_of(part, dimension, place);
      place -= size;
    }
  }
  if (x->opcode() == kPad && pads_only(*x, dimension)) {
    HloInstruction* const part = x->mutable_operand(0);
    const auto d = static_cast<int>(dimension);
    const std::int64_t within = place - x->padding_config().dimensions(d).edge_padding_low();
    if (within >= 0 && within < part->shape().dimensions(d)) {
      return column_of(part, dimension, within);
    }
    Dimensions sizes = dimensions_of(*x);
    entry(sizes, dimension) = 1;
    return broadcast(x->mutable_operand(1), sizes, {});
  }
  return slice_along(x, dimension, place, 1);
}

// One gather. Its operand's dimensions are outer ones, taken whole, then chosen ones, then inner
// ones, taken whole, which are contiguous in memory.
class GatheredRows {
 public:
  explicit GatheredRows(HloInstruction& gather)
      : gather_(gather),
        numbers_(gather.gather_dimension_numbers()),
        sizes_(dimensions_of(*gather.operand(0))),
        index_sizes_(dimensions_of(*gather.operand(1))),
        type_(type_of(*gather.operand(1))) {
    inner_ = std::ssize(sizes_);
    while (inner_ > 0 && is_whole(inner_ - 1)) --inner_;
    if (numbers_.index_vector_dim() == std::ssize(index_sizes_)) index_sizes_.push_back(1);
    batch_ = other_dimensions(std::ssize(index_sizes_), {numbers_.index_vector_dim()});
  }

  bool is_of_rows() const {
    const xla::Shape& x = gather_.operand(0)->shape();
    if (!has_kernels(x.element_type()) || xla::ShapeUtil::IsZeroElementArray(gather_.shape()) ||
        (type_ != xla::S32 && type_ != xla::S64) || inner_ == 0 ||
        row_elements() < tuned().gather_fewest_elements ||
        xla::ShapeUtil::ElementsIn(x) > std::numeric_limits<std::int32_t>::max()) {
      return false;
    }
    // Whole, or one element that the result has no dimension for.
    return absl::c_all_of(counted(inner_), [this](std::int64_t d) {
      return is_whole(d) || (entry(gather_.gather_slice_sizes(), d) == 1 && is_left_out(d));
    });
  }

  // REQUIRES: is_of_rows()
  HloInstruction* replacement() {
    Dimensions outer = counted(inner_);  // dimensions of the operand
    std::erase_if(outer, [this](std::int64_t d) { return !is_whole(d); });
    const Dimensions place_sizes = joined({picked(sizes_, outer), picked(index_sizes_, batch_)});
    HloInstruction* copied = add_gather(
        {part_by_places(gather_.mutable_operand(0), places(outer, place_sizes), row_elements())},
        joined({place_sizes, inner_sizes()}), gather_);
    return transpose(copied, result_order(outer));
  }

 private:
  bool is_whole(std::int64_t d) const {
    return entry(gather_.gather_slice_sizes(), d) == entry(sizes_, d) && !is_left_out(d);
  }
  bool is_left_out(std::int64_t d) const {
    return absl::c_linear_search(numbers_.collapsed_slice_dims(), d);
  }
  absl::Span<const std::int64_t> inner_sizes() const {
    return absl::MakeConstSpan(sizes_).subspan(static_cast<std::size_t>(inner_));
  }
  std::int64_t row_elements() const { return product(inner_sizes()); }

  HloInstruction* filled(std::int64_t number, const Dimensions& sizes) const {
    return broadcast(scalar_next_to(&gather_, type_, static_cast<double>(number)), sizes, {});
  }

  // One coordinate of the indices, of the sizes of batch_.
  HloInstruction* coordinate(std::int64_t number) const {
    HloInstruction* const indices = reshape(gather_.mutable_operand(1), index_sizes_);
    return reshape(column_of(indices, numbers_.index_vector_dim(), number),
                   picked(index_sizes_, batch_));
  }

  // The number of each row, of the sizes of the outer dimensions and then of batch_. The kernel
  // takes the nearest row there is, so that a coordinate alone may be anything.
  HloInstruction* places(const Dimensions& outer, const Dimensions& sizes) const {
    const auto& map = numbers_.start_index_map();
    Dimensions longer;  // than 1: what decides
    for (std::int64_t d = 0; d < inner_; ++d) {
      if (entry(sizes_, d) != 1) longer.push_back(d);
    }
    const std::int64_t alone = longer.size() == 1 ? place_among(map, longer.front()) : -1;
    if (alone >= 0 && outer.empty()) return coordinate(alone);
    HloInstruction* sum = nullptr;
    std::int64_t step = 1;  // rows from one element along the dimension to the next
    for (std::int64_t d = inner_ - 1; d >= 0; step *= entry(sizes_, d--)) {
      HloInstruction* number = nullptr;
      const std::int64_t of_outer = place_among(outer, d);
      if (place_among(longer, d) < 0) continue;  // always the first
      if (of_outer >= 0) {
        number = iota_next_to(&gather_, shape_of(type_, sizes), of_outer);
      } else {
        const std::int64_t own = place_among(map, d);
        if (own < 0) continue;  // always the first
        const Dimensions after_outer = counted(std::ssize(batch_), std::ssize(outer));
        HloInstruction* const all = coordinate(own);
        number = broadcast(clamp(fill_like(all, 0), all,
                                 fill_like(all, static_cast<double>(entry(sizes_, d) - 1))),
                           sizes, after_outer);
      }
      if (step > 1) number = binary(kMultiply, number, filled(step, sizes));
      sum = accumulate(kAdd, sum, number);
    }
    return sum == nullptr ? filled(0, sizes) : sum;
  }

  // From outer, batch_, inner to where the gather's result has them.
  Dimensions result_order(const Dimensions& outer) const {
    const std::int64_t batch_end = std::ssize(outer) + std::ssize(batch_);
    Dimensions order;
    std::int64_t next_batch = std::ssize(outer);
    std::int64_t next_whole = 0;
    for (std::int64_t d = 0; d < gather_.shape().rank(); ++d) {
      if (place_among(numbers_.offset_dims(), d) < 0) {
        order.push_back(next_batch++);
      } else {
        const bool is_outer = next_whole < std::ssize(outer);
        order.push_back(is_outer ? next_whole : batch_end + next_whole - std::ssize(outer));
        ++next_whole;
      }
    }
    return order;
  }

  HloInstruction& gather_;
  const xla::GatherDimensionNumbers& numbers_;
  Dimensions sizes_, index_sizes_;  // with the dimension of coordinates
  xla::PrimitiveType type_;         // of indices
  std::int64_t inner_;              // the first inner dimension
  Dimensions batch_;                // dimensions of the indices, but that of coordinates
};

// ---- Concatenations.

constexpr std::int64_t kMostParts = 64;  // of a call, whose struct grows with them

// The kernel would need the operand in memory, which costs as much as the call gains.
bool is_fused_into_concatenation(HloInstruction* operand) {
  operand = before_own_reshapes(operand);
  return operand->user_count() == 1 && is_fused_by_xla(*operand);
}

// The call of a kernel that gathers only for this operand; null: there is none.
HloInstruction* own_gather(HloInstruction* operand) {
  operand = before_own_reshapes(operand);
  const bool is_own = operand->user_count() == 1 && is_call_of(*operand, Kernel::kGather);
  return is_own ? operand : nullptr;
}

// The parts that one operand adds to each of `rows` rows.
std::vector<GatheredPart> parts_of(HloInstruction* operand, std::int64_t rows) {
  HloInstruction* const gather = own_gather(operand);
  const std::int64_t each =
      gather == nullptr ? 0 : call_of<kernels::GatherCall>(*gather).rows / rows;
  if (each == 0 || each > tuned().concatenation_most_rows_of_gather ||
      call_of<kernels::GatherCall>(*gather).rows % rows != 0) {
    return {part_in_order(operand, rows)};
  }
  std::vector<GatheredPart> parts;
  for (std::int64_t i = 0; i < each; ++i) {
    for (const kernels::GatherPart& of : gather_parts(*gather)) {
      GatheredPart& part = parts.emplace_back();
      part.of = of;
      part.x = gather->mutable_operand(of.x);
      if (of.place_type == kernels::kPlacesInOrder) {
        part.of.x_at += i * of.x_step;
        part.of.x_step *= each;
        part.of.x_rows = rows;
      } else {
        part.places = gather->mutable_operand(of.places);
        part.of.place_at += i * of.place_step;
        part.of.place_step *= each;
      }
    }
  }
  return parts;
}

// ---- Sums of rows.

// The terms of a sum; nothing else uses what is between.
void take_terms(HloInstruction* value, Instructions& terms) {
  HloInstruction* const inner = before_own_reshapes(value);
  if (inner->opcode() != kAdd || inner->user_count() != 1) {
    terms.push_back(inner);
    return;
  }
  for (HloInstruction* operand : inner->operands()) take_terms(operand, terms);
}

bool is_gather_of_rows(const HloInstruction& term) {
  return is_call_of(term, Kernel::kGather) && term.user_count() == 1 &&
         call_of<kernels::GatherCall>(term).parts == 1;
}

// Each row several times, in blocks of rows that are there several times. Nothing for other
// broadcasts.
std::optional<GatheredPart> part_of_broadcast(HloInstruction& broadcast) {
  if (broadcast.opcode() != kBroadcast || broadcast.operand(0)->shape().rank() == 0) return {};
  HloInstruction* const x = broadcast.mutable_operand(0);
  Strides strides = strides_of(broadcast);
  const auto take = [&strides](std::int64_t step) -> std::int64_t {
    if (strides.empty() || strides.back().step != step) return 1;
    const std::int64_t size = strides.back().size;
    strides.pop_back();
    return size;
  };
  GatheredPart part{x};
  kernels::GatherPart& of = part.of;
  of.place_type = kernels::kPlacesRepeated;
  of.elements = of.x_step = x->shape().dimensions().back();
  of.x_rows = elements_of(*x) / of.elements;
  const std::int64_t line = take(1);  // rows one after the other
  of.place_step = line == of.elements ? take(0) : 1;
  of.place_at = line == of.elements ? take(of.elements) : line / of.elements;
  of.places = take(0);
  take(of.place_at * of.elements);  // blocks
  return strides.empty() && line % of.elements == 0 ? std::optional(part) : std::nullopt;
}

// The parts of a sum of rows, in its order; none: there is no gather among them, or XLA adds them
// as fast.
std::vector<GatheredPart> added_rows(const Instructions& terms) {
  std::vector<GatheredPart> parts;
  bool has_gather = false;
  std::int64_t row = 0;
  for (HloInstruction* term : terms) {
    GatheredPart& part = parts.emplace_back();
    if (is_gather_of_rows(*term)) {
      part.of = gather_parts(*term).front();
      part.x = term->mutable_operand(part.of.x);
      if (part.of.place_type != kernels::kPlacesInOrder) {
        part.places = term->mutable_operand(part.of.places);
      }
      has_gather = true;
    } else if (const auto repeated = part_of_broadcast(*term)) {
      part = *repeated;
    } else if (is_fused_by_xla(*term)) {
      return {};
    } else {
      continue;  // it has as many elements as the result
    }
    if (row == 0) row = part.of.elements;
    if (part.of.elements != row) return {};
  }
  if (row < tuned().add_rows_fewest_elements || !has_gather) return {};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (parts[i].x == nullptr) parts[i] = part_in_order(terms[i], elements_of(*terms[i]) / row);
  }
  return parts;
}

Status replace_sum_of_rows(HloInstruction& result) {
  HloInstruction* rectified = nullptr;
  const bool has_relu = xla::Match(&result, m::MaximumAnyOrder(m::Op(&rectified), number_equal(0)));
  if (!has_relu && result.opcode() != kAdd) return {};
  Instructions terms;
  if (has_relu) {
    take_terms(rectified, terms);
  } else {
    for (HloInstruction* operand : result.operands()) take_terms(operand, terms);
  }
  if (terms.size() < 2 || std::ssize(terms) > kernels::kMostAddedRows) return {};
  const std::vector<GatheredPart> parts = added_rows(terms);
  if (parts.empty()) return {};
  kernels::AddRowsCall call{};
  call.row = parts.front().of.elements;
  call.rows = elements_of(result) / call.row;
  call.parts = std::ssize(parts);
  call.relu = has_relu ? 1 : 0;
  return replace(result,
                 add_call_of_parts({Kernel::kAddRows, as_words(call), {}, dimensions_of(result)},
                                   parts, result));
}

// ---- Sums over a last dimension of a few elements are written out: XLA has a loop of a few turns
// for each sum, where all sums of a row can be one vectorised loop. Coordinates that are columns of
// a wide table are gathered before it.

bool is_of_same_loop(const HloInstruction& value) {
  return value.IsElementwise() && value.operand_count() > 0 && value.user_count() == 1;
}

// The terms that pairs read of each point, as they lie in memory.
View points_of(HloInstruction* value) {
  return view_of_rows(value, elements_of(*value) / value->shape().dimensions().back());
}
bool are_far_apart(const View& points) {
  return points.strides[0].step >= tuned().short_sums_fewest_far_apart;
}

// True if they are copied first, to be contiguous.
bool is_gathered(HloInstruction* value, std::int64_t sums) {
  const View points = points_of(value);
  return sums >= tuned().short_sums_fewest_gathered && are_far_apart(points) &&
         points.strides[0].step > points.strides[1].size && !points.tensor->IsElementwise();
}

using GatheredPoints = std::map<HloInstruction*, HloInstruction*>;

// Element `place` of the last dimension of a value, and of all that it is computed from.
class OneTerm {
 public:
  OneTerm(std::int64_t place, const HloInstruction& reduce, GatheredPoints& gathers)
      : place_(place), reduce_(reduce), gathers_(gathers) {}

  HloInstruction* of(HloInstruction* value) {
    if (const auto found = made_.find(value); found != made_.end()) return found->second;
    HloInstruction* const made = make(value);
    made_.emplace(value, made);
    return made;
  }

 private:
  HloInstruction* make(HloInstruction* value) {
    Dimensions sizes = dimensions_of(*value);
    const std::int64_t last = std::ssize(sizes) - 1;
    sizes.pop_back();
    if (is_of_same_loop(*value)) {
      return rebuild_on(*value, sizes, [&](HloInstruction* operand) { return of(operand); });
    }
    if (value->opcode() == kBroadcast) {
      Dimensions kept(value->dimensions().begin(), value->dimensions().end());
      HloInstruction* const inner = value->mutable_operand(0);
      if (kept.empty() || kept.back() != last) return broadcast(inner, sizes, kept);
      kept.pop_back();
      return broadcast(cut(gathered(inner)), sizes, kept);
    }
    return cut(value);
  }

  HloInstruction* gathered(HloInstruction* value) {
    if (!is_gathered(value, elements_of(reduce_))) return value;
    HloInstruction*& made = gathers_[value];
    if (made == nullptr) {
      const Dimensions sizes = dimensions_of(*value);
      made = add_gather({part_in_order(value, product(sizes) / sizes.back())}, sizes, reduce_);
    }
    return made;
  }

  HloInstruction* cut(HloInstruction* value) const {
    Dimensions sizes = dimensions_of(*value);
    sizes.pop_back();
    return reshape(slice_along(value, std::ssize(sizes), place_, 1), sizes);
  }

  std::int64_t place_;
  const HloInstruction& reduce_;
  GatheredPoints& gathers_;
  std::map<HloInstruction*, HloInstruction*> made_;
};

// The values that are broadcast and combined into the terms: no tensor of all terms is read.
void take_points(HloInstruction* value, Instructions& points) {
  if (value->opcode() == kBroadcast && !value->dimensions().empty()) {
    points.push_back(value->mutable_operand(0));
  } else if (is_of_same_loop(*value)) {
    for (HloInstruction* operand : value->operands()) take_points(operand, points);
  }
}

// True if XLA would compute it again for each element of a loop that repeats it.
bool is_spread_later(const HloInstruction& value) {
  const auto same_loop = [](const HloInstruction& one) {
    Instructions users = one.users();
    std::erase_if(users, [](auto* user) {
      return !user->IsElementwise() && user->opcode() != kReshape && user->opcode() != kBroadcast;
    });
    return one.opcode() == kBroadcast ? Instructions() : users;
  };
  return absl::c_any_of(reached_from(value, same_loop),
                        [&](auto* one) { return one->opcode() == kBroadcast; });
}

std::int64_t operations_in(const HloInstruction& value) {
  if (!is_of_same_loop(value)) return 0;
  std::int64_t count = 1;
  for (const HloInstruction* operand : value.operands()) {
    if (count <= tuned().short_sums_most_written_out) count += operations_in(*operand);
  }
  return count;
}

bool has_short_sums(HloInstruction& reduce) {
  if (reduce.opcode() != kReduce || !is_for_kernels(reduce) || !combines_by(reduce, kAdd) ||
      reduce.dimensions().size() != 1) {
    return false;
  }
  const std::int64_t last = reduce.operand(0)->shape().rank() - 1;
  const std::int64_t terms = size_of(*reduce.operand(0), last);
  // First of all, so that what follows goes over few operations.
  if (!is_of_same_loop(*reduce.operand(0)) ||
      operations_in(*reduce.operand(0)) > tuned().short_sums_most_written_out) {
    return false;
  }
  Instructions points;
  take_points(reduce.mutable_operand(0), points);
  // Terms that lie far apart, also after a copy of what can be gathered.
  const auto is_scattered = [&](HloInstruction* one) {
    return are_far_apart(points_of(one)) && !is_gathered(one, elements_of(reduce));
  };
  if (points.empty() ||
      (terms > tuned().short_sums_most_scattered &&
       (terms > tuned().short_sums_most_terms || std::ranges::any_of(points, is_scattered)))) {
    return false;
  }
  return reduce.dimensions(0) == last && !is_spread_later(reduce);
}

// ---- Facts.

struct GatherFacts {
  using Call = kernels::GatherCall;

  // Each part takes rows of a table, or of a tensor in order.
  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    const auto is_walked = [&](std::int64_t operand, std::int64_t step) {
      return rows.of(one, operand) == Rows::kNone ||
             step * call.rows == elements_of(*one.operand(operand));
    };
    return rows.divide(call.rows) &&
           std::ranges::all_of(gather_parts(one), [&](const kernels::GatherPart& part) {
             if (part.place_type == kernels::kPlacesInOrder) return is_walked(part.x, part.x_step);
             return rows.of(one, part.x) == Rows::kNone && is_walked(part.places, part.place_step);
           });
  }
  // Reads as much as it writes, however large the tables are.
  static double cycles(const Call& /*call*/, const HloInstruction& one, const ProgramSpeed& speed) {
    return kCallCycles + speed.waiting(2 * first_result_bytes(one));
  }
  static KernelWork work(const Call& call, const HloInstruction& one) {
    if (call.parts > 1) {
      return {fmt::format("{} rows of {} parts, of {} elements", call.rows, call.parts, call.row)};
    }
    return {fmt::format("{} of {} rows, of {} elements", call.rows,
                        gather_parts(one).front().x_rows, call.row)};
  }
};

struct AddRowsFacts {
  using Call = kernels::AddRowsCall;

  // Nobody needed it yet: products after it compute rows of padding, too.
  static bool keeps_rows(const Call& /*call*/, const HloInstruction& /*one*/,
                         const BatchRows& /*rows*/) {
    return false;
  }
  static double cycles(const Call& /*call*/, const HloInstruction& one, const ProgramSpeed& speed) {
    return call_cycles(one, speed);
  }
  static KernelWork work(const Call& /*call*/, const HloInstruction& /*one*/) { return {}; }
};

}  // namespace

constinit const KernelFacts kGatherFacts = facts_of<GatherFacts>();
constinit const KernelFacts kAddRowsFacts = facts_of<AddRowsFacts>();

Status replace_gather(HloInstruction& gather, PassContext& context) {
  if (gather.opcode() != kGather || context.values().is_known(&gather)) return {};
  GatheredRows rows(gather);
  if (rows.is_of_rows()) return replace(gather, rows.replacement());
  if (elements_of(gather) > 0) {
    add_remark(
        context, gather,
        fmt::format("no gather: it does not copy whole rows of at least {} float32 or float64 "
                    "by int32 or int64 places",
                    tuned().gather_fewest_elements));
  }
  return {};
}

Status replace_concatenation(HloInstruction& concatenate, PassContext& context) {
  if (concatenate.opcode() != kConcatenate || concatenate.operand_count() < 2 ||
      !is_for_kernels(concatenate) || context.values().is_known(&concatenate)) {
    return {};
  }
  const auto sizes = concatenate.shape().dimensions();
  const auto outer = static_cast<std::size_t>(concatenate.concatenate_dimension());
  const std::int64_t rows = product(sizes.subspan(0, outer));
  // XLA joins its loop of one row with those around it, which is faster but for calls that are
  // saved.
  const auto gathers = std::ranges::count_if(concatenate.operands(), own_gather);
  if (rows == 1 && gathers < tuned().concatenation_fewest_gathers_of_one_row) return {};
  std::vector<GatheredPart> parts;
  std::int64_t made = 0;  // elements of a row that XLA would compute in place
  for (HloInstruction* operand : concatenate.operands()) {
    if (is_fused_into_concatenation(operand)) made += elements_of(*operand) / rows;
    if (xla::ShapeUtil::IsZeroElementArray(operand->shape())) continue;
    for (GatheredPart& part : parts_of(operand, rows)) parts.push_back(part);
  }
  const std::int64_t row = product(sizes.subspan(outer));
  if (std::ssize(parts) > kMostParts ||
      row < tuned().concatenation_fewest_per_part * std::ssize(parts) || 2 * made > row) {
    return {};
  }
  return replace(concatenate, add_gather(parts, dimensions_of(concatenate), concatenate));
}

Status replace_added_rows(xla::HloModule& module, PassContext& /*context*/) {
  // A relu before its sum, a sum before its terms.
  Instructions order = instructions_of(module);
  std::ranges::reverse(order);
  for (HloInstruction* one : order) {
    const bool is_used = one->user_count() > 0 || one->IsRoot();
    if (is_used && is_for_kernels(*one)) TFAOT_TRY(replace_sum_of_rows(*one));
  }
  return {};
}

Status write_out_short_sum(HloInstruction& reduce, PassContext& /*context*/) {
  if (!has_short_sums(reduce)) return {};
  HloInstruction* const of = reduce.mutable_operand(0);
  GatheredPoints gathers;
  HloInstruction* sum = broadcast(reduce.mutable_operand(1), reduce.shape().dimensions(), {});
  for (std::int64_t i = 0; i < of->shape().dimensions().back(); ++i) {
    sum = binary(kAdd, sum, OneTerm(i, reduce, gathers).of(of));
    sum->set_metadata(reduce.metadata());
  }
  return replace(reduce, sum);
}

}  // namespace tfaot::toolkit::engine
