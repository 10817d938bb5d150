// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/hlo/weight_values.h"
#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {

namespace {

using xla::HloInstruction;
using xla::HloOpcode;

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

// True if the kernel finds the same place without the conversion. XLA's conversions of numbers that
// are out of range give the nearest integer, too.
bool keeps_place(const HloInstruction& convert) {
  const auto from = type_of(*convert.operand(0));
  const bool narrows = from == xla::S64 && type_of(convert) == xla::S32;
  return !narrows && place_type(from) != kernels::kPlacesInOrder;
}

// The elements of a row of the operand that a slice takes, if its outer dimensions, `count`
// elements, are whole and it cuts only one dimension. Nothing for other slices.
struct CutRow {
  std::int64_t first, operand_elements;
};
std::optional<CutRow> cut_row(const HloInstruction& slice, std::int64_t count) {
  const auto sizes = slice.operand(0)->shape().dimensions();
  const auto rank = std::ssize(sizes);
  std::int64_t rows = 1;
  std::int64_t d = 0;
  const auto size = [&](std::int64_t at) { return entry(sizes, at); };
  const auto is_whole = [&](std::int64_t at) {
    return entry(slice.shape().dimensions(), at) == size(at);
  };
  while (d < rank && rows < count) {
    if (!is_whole(d)) return std::nullopt;
    rows *= size(d++);
  }
  while (d < rank && is_whole(d) && size(d) == 1) ++d;
  if (rows != count || d == rank || slice.slice_strides(d) != 1) return std::nullopt;
  std::int64_t inner = 1;
  for (std::int64_t after = d + 1; after < rank; ++after) {
    if (!is_whole(after)) return std::nullopt;
    inner *= size(after);
  }
  return CutRow{slice.slice_starts(d) * inner, size(d) * inner};
}

// An instruction as `count` rows: row r begins at element at + r * step of `base`.
struct StridedRows {
  xla::HloInstruction* base;
  std::int64_t at, step;
};
// Looks through reshapes and slices.
StridedRows strided_rows(HloInstruction* instruction, std::int64_t count) {
  StridedRows rows = {instruction, 0, elements_of(*instruction) / count};
  while (true) {
    if (rows.base->opcode() == HloOpcode::kReshape) {
      rows.base = rows.base->mutable_operand(0);
      continue;
    }
    if (rows.base->opcode() != HloOpcode::kSlice) return rows;
    const auto cut = cut_row(*rows.base, count);
    if (!cut) return rows;
    rows = {rows.base->mutable_operand(0), rows.at + cut->first, cut->operand_elements};
  }
}

// A part of the rows of a gather: each takes a row of a tensor, by its number or in order.
struct GatheredPart {
  xla::HloInstruction* x = nullptr;
  xla::HloInstruction* places = nullptr;  // null: there is no operand
  kernels::GatherPart of{};               // numbers of operands are not set
};

// Row i takes row i of `x`, which has as many.
GatheredPart part_in_order(HloInstruction* x, std::int64_t rows) {
  const StridedRows strided = strided_rows(x, rows);
  GatheredPart part{strided.base};
  part.of.x_at = strided.at;
  part.of.x_step = strided.step;
  part.of.x_rows = rows;
  part.of.elements = elements_of(*x) / rows;
  return part;
}

// Rows of `x` by `places`. A conversion of the places, or a slice that computes them, becomes part
// of the call.
GatheredPart part_by_places(HloInstruction* x, HloInstruction* places, std::int64_t elements) {
  const std::int64_t rows = elements_of(*places);
  while (true) {
    const bool passes = places->opcode() == HloOpcode::kReshape ||
                        (places->opcode() == HloOpcode::kConvert && keeps_place(*places));
    if (!passes) break;
    places = places->mutable_operand(0);
  }
  const StridedRows strided = strided_rows(places, rows);
  GatheredPart part{x, strided.base};
  part.of.x_step = part.of.elements = elements;
  part.of.x_rows = elements_of(*x) / elements;
  part.of.place_type = place_type(type_of(*strided.base));
  part.of.place_at = strided.at;
  part.of.place_step = strided.step;
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

std::int64_t place_in(absl::Span<const std::int64_t> values, std::int64_t value) {
  return std::ranges::find(values, value) - values.begin();
}

// One gather: its operand's dimensions are outer ones, taken whole, then some that are chosen, then
// inner ones, taken whole, which lie together in memory.
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
    for (std::int64_t d = 0; d < std::ssize(index_sizes_); ++d) {
      if (d != numbers_.index_vector_dim()) batch_.push_back(d);
    }
  }

  bool is_of_rows() const {
    const xla::Shape& x = gather_.operand(0)->shape();
    if (!has_kernels(x.element_type()) || xla::ShapeUtil::IsZeroElementArray(gather_.shape()) ||
        (type_ != xla::S32 && type_ != xla::S64) || inner_ == 0 ||
        row_elements() < tuned().gather_fewest_elements ||
        xla::ShapeUtil::ElementsIn(x) > std::numeric_limits<std::int32_t>::max()) {
      return false;
    }
    for (std::int64_t d = 0; d < inner_; ++d) {
      if (!is_whole(d) && !is_chosen(d)) return false;
    }
    return true;
  }

  // REQUIRES: is_of_rows()
  HloInstruction* replacement() {
    Dimensions outer;  // dimensions of the operand
    Dimensions result_sizes;
    for (std::int64_t d = 0; d < inner_; ++d) {
      if (is_whole(d)) outer.push_back(d);
    }
    for (const std::int64_t d : outer) result_sizes.push_back(entry(sizes_, d));
    for (const std::int64_t d : batch_) result_sizes.push_back(entry(index_sizes_, d));
    const Dimensions place_sizes = result_sizes;
    for (std::int64_t d = inner_; d < std::ssize(sizes_); ++d) {
      result_sizes.push_back(entry(sizes_, d));
    }
    HloInstruction* copied = add_gather(
        {part_by_places(gather_.mutable_operand(0), places(outer, place_sizes), row_elements())},
        result_sizes, gather_);
    return transpose(copied, result_order(outer));
  }

 private:
  bool is_whole(std::int64_t d) const {
    return entry(gather_.gather_slice_sizes(), d) == entry(sizes_, d) && !is_left_out(d);
  }
  bool is_left_out(std::int64_t d) const {
    return place_in(numbers_.collapsed_slice_dims(), d) < numbers_.collapsed_slice_dims_size() ||
           place_in(numbers_.operand_batching_dims(), d) < numbers_.operand_batching_dims_size();
  }
  // One element, which the result has no dimension for.
  bool is_chosen(std::int64_t d) const {
    return entry(gather_.gather_slice_sizes(), d) == 1 && is_left_out(d);
  }
  std::int64_t row_elements() const {
    return product(absl::MakeConstSpan(sizes_).subspan(static_cast<std::size_t>(inner_)));
  }

  HloInstruction* filled(std::int64_t number, const Dimensions& sizes) const {
    return broadcast(scalar_next_to(&gather_, type_, static_cast<double>(number)), sizes, {});
  }
  HloInstruction* counted(const Dimensions& sizes, std::int64_t dimension) const {
    return add_next_to(&gather_, HloInstruction::CreateIota(shape_of(type_, sizes), dimension));
  }

  // One coordinate of the indices, of the sizes of batch_.
  HloInstruction* coordinate(std::int64_t number) const {
    HloInstruction* const indices = reshape(gather_.mutable_operand(1), index_sizes_);
    Dimensions sizes;
    for (const std::int64_t d : batch_) sizes.push_back(entry(index_sizes_, d));
    return reshape(slice_along(indices, numbers_.index_vector_dim(), number, 1), sizes);
  }

  // The number of each row, of the sizes of the outer dimensions and then of batch_. The kernel
  // takes the nearest row there is, so that a coordinate alone may be anything.
  HloInstruction* places(const Dimensions& outer, const Dimensions& sizes) const {
    if (inner_ == 1 && place_in(numbers_.start_index_map(), 0) == 0 &&
        numbers_.start_index_map_size() == 1) {
      return coordinate(0);
    }
    HloInstruction* sum = nullptr;
    std::int64_t step = 1;  // rows from one element along the dimension to the next
    for (std::int64_t d = inner_ - 1; d >= 0; step *= entry(sizes_, d--)) {
      HloInstruction* number = nullptr;
      const std::int64_t of_outer = place_in(outer, d);
      const std::int64_t of_batch = place_in(numbers_.operand_batching_dims(), d);
      if (of_outer < std::ssize(outer)) {
        number = counted(sizes, of_outer);
      } else if (of_batch < numbers_.operand_batching_dims_size()) {
        const auto dimension = numbers_.start_indices_batching_dims(static_cast<int>(of_batch));
        number = counted(sizes, std::ssize(outer) + place_in(batch_, dimension));
      } else {
        const std::int64_t own = place_in(numbers_.start_index_map(), d);
        if (own == numbers_.start_index_map_size()) continue;  // always the first
        Dimensions after_outer(batch_.size());
        std::iota(after_outer.begin(), after_outer.end(), std::ssize(outer));
        HloInstruction* const all = coordinate(own);
        number = broadcast(clamp(fill_like(all, 0), all,
                                 fill_like(all, static_cast<double>(entry(sizes_, d) - 1))),
                           sizes, after_outer);
      }
      if (step > 1) number = binary(HloOpcode::kMultiply, number, filled(step, sizes));
      sum = accumulate(HloOpcode::kAdd, sum, number);
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
      if (place_in(numbers_.offset_dims(), d) == numbers_.offset_dims_size()) {
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

// The kernel would need it in memory, which costs as much as it gains.
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

std::int64_t own_gathers(const HloInstruction& concatenate) {
  return std::ranges::count_if(concatenate.operands(), [](HloInstruction* operand) {
    return own_gather(operand) != nullptr;
  });
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
void take_terms(HloInstruction* value, std::vector<HloInstruction*>& terms) {
  HloInstruction* const inner = before_own_reshapes(value);
  if (inner->opcode() != HloOpcode::kAdd || inner->user_count() != 1) {
    terms.push_back(inner);
    return;
  }
  for (HloInstruction* operand : inner->operands()) take_terms(operand, terms);
}

bool is_gather_of_rows(const HloInstruction& term) {
  return is_call_of(term, Kernel::kGather) && term.user_count() == 1 &&
         call_of<kernels::GatherCall>(term).parts == 1;
}

// Each row several times: dimensions of the operand in one block, without its last one, which has
// new ones on both sides. Nothing for other broadcasts.
std::optional<GatheredPart> part_of_broadcast(HloInstruction& broadcast) {
  if (broadcast.opcode() != HloOpcode::kBroadcast) return {};
  HloInstruction* const x = broadcast.mutable_operand(0);
  const auto kept = broadcast.dimensions();
  const std::int64_t last = broadcast.shape().rank() - 1;
  if (kept.empty() || kept.back() != last) return {};
  GatheredPart part{x};
  kernels::GatherPart& of = part.of;
  of.place_type = kernels::kPlacesRepeated;
  of.elements = of.x_step = x->shape().dimensions().back();
  of.x_rows = elements_of(*x) / of.elements;
  of.place_step = of.place_at = of.places = 1;
  // From the last dimension but one to the first: new ones, kept ones, new ones, kept ones.
  enum { kEach, kRows, kBlocks, kAllBlocks } at = kEach;
  for (std::int64_t d = last - 1; d >= 0; --d) {
    const std::int64_t size = entry(broadcast.shape().dimensions(), d);
    if (size == 1) continue;
    const bool is_kept = std::ranges::find(kept, d) != kept.end();
    if (is_kept && (at == kEach || at == kBlocks)) at = at == kEach ? kRows : kAllBlocks;
    if (!is_kept && at == kRows) at = kBlocks;
    if (!is_kept && at == kAllBlocks) return {};
    if (at == kEach) of.place_step *= size;
    if (at == kRows) of.place_at *= size;
    if (at == kBlocks) of.places *= size;
  }
  return part;
}

struct AddedRows {
  std::vector<GatheredPart> parts;
  bool has_gather = false;
};

std::optional<AddedRows> added_rows(const std::vector<HloInstruction*>& terms) {
  AddedRows added;
  std::int64_t row = 0;
  std::vector<HloInstruction*> whole;
  for (HloInstruction* term : terms) {
    if (is_gather_of_rows(*term)) {
      GatheredPart& part = added.parts.emplace_back();
      part.of = gather_parts(*term).front();
      part.x = term->mutable_operand(part.of.x);
      if (part.of.place_type != kernels::kPlacesInOrder) {
        part.places = term->mutable_operand(part.of.places);
      }
      added.has_gather = true;
    } else if (const auto part = part_of_broadcast(*term)) {
      added.parts.push_back(*part);
    } else {
      if (is_fused_by_xla(*term)) return {};
      whole.push_back(term);
    }
  }
  for (const GatheredPart& part : added.parts) {
    if (row != 0 && part.of.elements != row) return {};
    row = part.of.elements;
  }
  if (row < tuned().add_rows_fewest_elements || !added.has_gather) return {};
  for (HloInstruction* term : whole) {
    added.parts.push_back(part_in_order(term, elements_of(*term) / row));
  }
  return added;
}

Status replace_sum_of_rows(HloInstruction& result) {
  HloInstruction* rectified = nullptr;
  const bool has_relu = xla::Match(&result, m::MaximumAnyOrder(m::Op(&rectified), number_equal(0)));
  if (!has_relu && result.opcode() != HloOpcode::kAdd) return {};
  Instructions terms;
  if (has_relu) {
    take_terms(rectified, terms);
  } else {
    for (HloInstruction* operand : result.operands()) take_terms(operand, terms);
  }
  if (terms.size() < 2 || std::ssize(terms) > kernels::kMostAddedRows) return {};
  const auto added = added_rows(terms);
  if (!added) return {};
  kernels::AddRowsCall call{};
  call.row = added->parts.front().of.elements;
  call.rows = elements_of(result) / call.row;
  call.parts = std::ssize(added->parts);
  call.relu = has_relu ? 1 : 0;
  return replace(result,
                 add_call_of_parts({Kernel::kAddRows, as_words(call), {}, dimensions_of(result)},
                                   added->parts, result));
}

// ---- Sums over a last dimension of a few elements are written out: XLA has a loop of a few turns
// for each sum, where all sums of a row can be one vectorised loop. Coordinates that are columns of
// a wide table are gathered before it.

bool is_of_same_loop(const HloInstruction& value) {
  return value.IsElementwise() && value.operand_count() > 0 && value.user_count() == 1;
}

// The terms that pairs read of each point, as they lie in memory.
StridedRows points_of(HloInstruction* value) {
  return strided_rows(value, elements_of(*value) / value->shape().dimensions().back());
}

// True if they are copied first, so that they are contiguous.
bool is_gathered(HloInstruction* value, std::int64_t sums) {
  const StridedRows points = points_of(value);
  return sums >= tuned().short_sums_fewest_gathered &&
         points.step >= tuned().short_sums_fewest_far_apart &&
         points.step > value->shape().dimensions().back() && !points.base->IsElementwise();
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
      Instructions operands;
      for (HloInstruction* operand : value->operands()) operands.push_back(of(operand));
      return rebuild(*value, sizes, operands);
    }
    if (value->opcode() == HloOpcode::kBroadcast) {
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

// True if values of few elements meet in it, each with each: no tensor of all terms is read.
bool has_pairs(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kBroadcast) return !value.dimensions().empty();
  return is_of_same_loop(value) && std::ranges::any_of(value.operands(), [](const auto* operand) {
           return has_pairs(*operand);
         });
}

// True if pairs read terms that lie far apart, also after a copy of what can be gathered.
bool is_scattered(HloInstruction* value, std::int64_t sums) {
  if (value->opcode() == HloOpcode::kBroadcast && !value->dimensions().empty()) {
    HloInstruction* const points = value->mutable_operand(0);
    return points_of(points).step >= tuned().short_sums_fewest_far_apart &&
           !is_gathered(points, sums);
  }
  return is_of_same_loop(*value) && std::ranges::any_of(value->operands(), [&](auto* operand) {
           return is_scattered(operand, sums);
         });
}

// True if XLA would compute it again for each element of a loop that repeats it. `seen`: the
// instructions looked at already.
bool is_spread_later(const HloInstruction& value, std::set<const HloInstruction*>& seen) {
  if (!seen.insert(&value).second) return false;
  return std::ranges::any_of(value.users(), [&](const auto* user) {
    return user->opcode() == HloOpcode::kBroadcast ||
           ((user->IsElementwise() || user->opcode() == HloOpcode::kReshape) &&
            is_spread_later(*user, seen));
  });
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
  if (reduce.opcode() != HloOpcode::kReduce || !is_for_kernels(reduce) ||
      !combines_by(reduce, HloOpcode::kAdd) || reduce.dimensions().size() != 1) {
    return false;
  }
  const xla::Shape& of = reduce.operand(0)->shape();
  const std::int64_t last = of.rank() - 1;
  const std::int64_t terms = of.dimensions(static_cast<int>(last));
  // First of all, so that what follows goes over few operations.
  if (!is_of_same_loop(*reduce.operand(0)) ||
      operations_in(*reduce.operand(0)) > tuned().short_sums_most_written_out) {
    return false;
  }
  if (terms > tuned().short_sums_most_scattered &&
      (terms > tuned().short_sums_most_terms ||
       is_scattered(reduce.mutable_operand(0), elements_of(reduce)))) {
    return false;
  }
  std::set<const HloInstruction*> seen;
  return reduce.dimensions(0) == last && has_pairs(*reduce.operand(0)) &&
         !is_spread_later(reduce, seen);
}

}  // namespace

Status replace_gather(HloInstruction& gather, PassContext& context) {
  if (gather.opcode() != HloOpcode::kGather || context.values().is_known(&gather)) return {};
  GatheredRows rows(gather);
  return rows.is_of_rows() ? replace(gather, rows.replacement()) : Status();
}

Status replace_concatenation(HloInstruction& concatenate, PassContext& context) {
  if (concatenate.opcode() != HloOpcode::kConcatenate || concatenate.operand_count() < 2 ||
      !is_for_kernels(concatenate) || context.values().is_known(&concatenate)) {
    return {};
  }
  const auto sizes = concatenate.shape().dimensions();
  const auto outer = static_cast<std::size_t>(concatenate.concatenate_dimension());
  const std::int64_t rows = product(sizes.subspan(0, outer));
  // XLA joins its loop of one row with those around it, which is faster but for calls that are
  // saved.
  if (rows == 1 && own_gathers(concatenate) < tuned().concatenation_fewest_gathers_of_one_row)
    return {};
  std::vector<GatheredPart> parts;
  std::int64_t made = 0;  // elements of a row that XLA would compute in place
  for (HloInstruction* operand : concatenate.operands()) {
    if (is_fused_into_concatenation(operand)) {
      made += elements_of(*operand) / rows;
    }
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
    sum = binary(HloOpcode::kAdd, sum, OneTerm(i, reduce, gathers).of(of));
    sum->set_metadata(reduce.metadata());
  }
  return replace(reduce, sum);
}

}  // namespace tfaot::toolkit::engine
