// SPDX-License-Identifier: Apache-2.0
// Settles once in which order the dimensions of tensors lie. A net with channels first has
// transposes around each convolution and pool (onnx/operators/images.cc). Here they move
// towards the outputs, through operations that work in any order, until they cancel with their
// inverse. So only the ends of such a net are transposed. Values do not change.
#include <algorithm>
#include <set>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/simplify.h"
#include "compiler/hlo/tuned.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/permutation_util.h"

namespace tfaot::toolkit::engine {
namespace {

// Says if a product with a weight may swap its sides: the transposed weight is then on the left.
enum class ProductSides { kStay, kMaySwap };

struct TransposeCost {
  std::int64_t sums_within = 0;  // see rows_within()
  std::int64_t bytes = 0;        // that are moved
  // Transposes right after a convolution, which keep its kernel from adding a bias.
  std::int64_t after_convolutions = 0;

  auto operator<=>(const TransposeCost& other) const = default;  // NOLINT(modernize-use-nullptr)
};

// Of the batch. The inputs come first, and rows are their first dimension.
std::int64_t rows_of(const xla::HloModule& module) {
  const xla::HloComputation& entry = *module.entry_computation();
  if (entry.num_parameters() == 0) return 1;
  const HloInstruction& input = *entry.parameter_instruction(0);
  return input.shape().IsArray() && input.shape().rank() > 0 ? size_of(input, 0) : 1;
}

// True if elements before this dimension lie between its own.
bool is_within(const xla::Shape& shape, std::int64_t dimension) {
  return product(shape.dimensions().subspan(0, static_cast<std::size_t>(dimension))) > 1;
}

// True if a sum over these dimensions of the terms adds what lies together in a row alone, while
// the rows of a batch lie side by side in dimension d: as [steps, rows] or [heads, steps, rows].
bool lies_within(const xla::Shape& terms, std::int64_t d, absl::Span<const std::int64_t> summed) {
  return is_within(terms, d) &&
         absl::c_all_of(other_dimensions(terms.rank(), summed), [&](const std::int64_t other) {
           return other == d || terms.dimensions(static_cast<int>(other)) == 1 ||
                  (other < d && absl::c_all_of(summed, [&](auto one) { return other < one; }));
         });
}

// True if the dimension is the first one of an input, followed through operations that keep it.
bool is_of_batch(const HloInstruction& value, std::int64_t d, const WeightValues& values) {
  if (values.is_known(&value)) return false;
  const auto goes_on = [&](std::int64_t operand, std::int64_t dimension) {
    return is_of_batch(*value.operand(operand), dimension, values);
  };
  switch (value.opcode()) {
    case kParameter:
      return d == 0;
    case kTranspose:
      return goes_on(0, value.dimensions(d));
    case kReduce:
      return goes_on(
          0, entry(other_dimensions(value.operand(0)->shape().rank(), value.dimensions()), d));
    case kReshape:
      return absl::c_any_of(groups_of(value), [&](const ReshapeGroup& group) {
        return absl::c_linear_search(group.to, d) &&
               absl::c_any_of(group.from, [&](const std::int64_t from) {
                 return size_of(*value.operand(0), from) == size_of(value, d) && goes_on(0, from);
               });
      });
    case kDot: {
      const xla::DotDimensionNumbers& numbers = value.dot_dimension_numbers();
      const auto& batch = numbers.lhs_batch_dimensions();
      const Dimensions left = engine::joined(
          {batch, other_dimensions(value.operand(0)->shape().rank(),
                                   engine::joined({batch, numbers.lhs_contracting_dimensions()}))});
      const Dimensions right = other_dimensions(
          value.operand(1)->shape().rank(),
          engine::joined({numbers.rhs_batch_dimensions(), numbers.rhs_contracting_dimensions()}));
      if (d < std::ssize(left)) return goes_on(0, entry(left, d));
      return goes_on(1, entry(right, d - std::ssize(left)));
    }
    default:
      break;
  }
  if (!value.IsElementwise()) return false;
  const auto found = absl::c_find_if(value.operands(), [&](const auto* operand) {
    return operand->shape().rank() == value.shape().rank() && operand->opcode() != kBroadcast &&
           !values.is_known(operand);
  });
  return found != value.operands().end() && is_of_batch(**found, d, values);
}

// The dimension of the batch if rows lie side by side in what the operation sums. A row alone has
// its numbers one after the other, which are added in another order than by a loop over steps.
std::optional<std::int64_t> rows_within(const HloInstruction& reduce, std::int64_t rows,
                                        const WeightValues& values) {
  if (reduce.opcode() != kReduce || !is_float32(reduce) || rows == 1 || values.is_known(&reduce)) {
    return {};
  }
  const xla::Shape& terms = reduce.operand(0)->shape();
  for (const std::int64_t d : other_dimensions(terms.rank(), reduce.dimensions())) {
    if (terms.dimensions(static_cast<int>(d)) == rows &&
        lies_within(terms, d, reduce.dimensions()) &&
        (elements_of(reduce) == rows || is_of_batch(*reduce.operand(0), d, values))) {
      return d;
    }
  }
  return {};
}

// A product with a weight reads a transposed left side by its strides.
bool is_read_by_strides(const HloInstruction& transpose, const WeightValues& values) {
  return std::ranges::all_of(transpose.users(), [&](const HloInstruction* user) {
    return user->opcode() == kDot && user->operand(0) == &transpose &&
           values.is_known(user->operand(1));
  });
}

// Transposes of weights do not count. With `reads_strides`, neither do those that products with
// weights read by strides. REQUIRES: no dead code.
TransposeCost cost_of_transposes(const xla::HloModule& module, std::int64_t first_weight,
                                 bool reads_strides) {
  const WeightValues values(module, first_weight);
  const std::int64_t rows = rows_of(module);
  TransposeCost cost;
  for (const HloInstruction* one : instructions_of(module)) {
    if (rows_within(*one, rows, values)) ++cost.sums_within;
    if (one->opcode() != kTranspose || values.is_known(one) ||
        !moves_elements(one->operand(0)->shape(), one->dimensions()) ||
        (reads_strides && is_read_by_strides(*one, values))) {
      continue;
    }
    cost.bytes += xla::ShapeUtil::ByteSizeOf(one->shape());
    if (one->user_count() > 0 && one->operand(0)->opcode() == kConvolution) {
      ++cost.after_convolutions;
    }
  }
  return cost;
}

bool is_plain(const HloInstruction& dot) {
  return matrix_product(dot) && std::ranges::all_of(dot.operands(), [&](const auto* operand) {
           return type_of(*operand) == type_of(dot);
         });
}

// A product of a transposed tensor with a weight, as mixers have it along their tokens:
//
//   y[b, c, u] = sum over t of x[b, t, c] * w[t, u]
//
// is the product of the transposed weight with the untransposed tensor, [b, u, c], and a transpose
// after it, which may cancel with the one that puts tokens back. Null if the left side is no
// transpose that makes the depth the last dimension, or the columns would be too few.
HloInstruction* swapped_product(HloInstruction& dot) {
  if (!is_plain(dot)) return nullptr;
  HloInstruction* const left = dot.mutable_operand(0);
  View side{
      left,
      {entry(view_of(left).strides, dot.dot_dimension_numbers().lhs_contracting_dimensions(0))}};
  if (left->opcode() == kReshape) side = *side.before();
  if (side.tensor->opcode() != kTranspose) return nullptr;
  const Dimensions order = order_of(*side.tensor);
  const auto before = side.before();
  if (!before) return nullptr;
  HloInstruction* const x = before->tensor;
  const Dimensions sizes = dimensions_of(*x);
  const Strides all = view_of(x).strides;
  const std::int64_t depth = std::ranges::find(all, before->strides.front()) - all.begin();
  if (depth == std::ssize(all)) return nullptr;
  const std::int64_t columns = before->strides.front().step;  // before the depth is the batch
  if (columns < tuned().layouts_fewest_swapped_columns) return nullptr;

  const std::int64_t weight_depth = dot.dot_dimension_numbers().rhs_contracting_dimensions(0);
  HloInstruction* weight = dot.mutable_operand(1);
  if (weight_depth == 0) weight = transpose(weight, {1, 0});
  const Dimensions batch(sizes.begin(), sizes.begin() + depth);
  const Dimensions left_sizes = joined({batch, weight->shape().dimensions()});
  xla::DotDimensionNumbers numbers;
  for (std::int64_t d = 0; d < depth; ++d) {
    numbers.add_lhs_batch_dimensions(d);
    numbers.add_rhs_batch_dimensions(d);
  }
  numbers.add_lhs_contracting_dimensions(depth + 1);
  numbers.add_rhs_contracting_dimensions(depth);
  Dimensions result_sizes = sizes;
  entry(result_sizes, depth) = weight->shape().dimensions(0);
  HloInstruction* const swapped =
      add_next_to(&dot, HloInstruction::CreateDot(
                            shape_of(type_of(dot), result_sizes),
                            depth == 0 ? weight : broadcast(weight, left_sizes, {depth, depth + 1}),
                            x, numbers, dot.precision_config()));
  const Dimensions back = joined({without(order, place_among(order, depth)), {depth}});
  return reshape(transpose(swapped, back), dot.shape().dimensions());
}

// The shape of which the operation's is the transpose in this order.
xla::Shape shape_before(const HloInstruction& operation, const Dimensions& order) {
  return shape_of(type_of(operation), xla::PermuteInverse(operation.shape().dimensions(), order));
}

// The same as `gather`, whose operand is the transpose of `x` in this order: a gather from x, whose
// slices are the result's last dimensions, and then a transpose.
HloInstruction* gather_of_untransposed(HloInstruction& gather, const Dimensions& order,
                                       HloInstruction* x) {
  const xla::GatherDimensionNumbers& numbers = gather.gather_dimension_numbers();
  Dimensions collapsed = picked(order, numbers.collapsed_slice_dims());
  std::ranges::sort(collapsed);
  const Dimensions kept =  // dimensions of x that the result has
      picked(order, other_dimensions(std::ssize(order), numbers.collapsed_slice_dims()));
  const Dimensions places = xla::InversePermutation(sorting_order(kept));
  const std::int64_t rank = gather.shape().rank();
  const std::int64_t batch_end = rank - std::ssize(kept);
  Dimensions result_order;
  std::int64_t next_batch = 0;
  std::int64_t next_kept = 0;
  for (std::int64_t d = 0; d < rank; ++d) {
    const bool is_batch = !absl::c_linear_search(numbers.offset_dims(), d);
    result_order.push_back(is_batch ? next_batch++ : batch_end + entry(places, next_kept++));
  }
  const auto made = xla::HloGatherInstruction::MakeGatherDimNumbers(
      counted(std::ssize(kept), batch_end), collapsed, picked(order, numbers.start_index_map()),
      numbers.index_vector_dim());
  return transpose(
      add_next_to(x, HloInstruction::CreateGather(
                         shape_before(gather, result_order), x, gather.mutable_operand(1), made,
                         xla::PermuteInverse(gather.gather_slice_sizes(), order), false)),
      result_order);
}

// Maps windows or padding indexed by dimension of a transpose's result to its operand's dimensions.
template <typename Proto>
Proto before_transpose(const Dimensions& order, const Proto& results) {
  Proto operands = results;
  for (int d = 0; d < results.dimensions_size(); ++d) {
    *operands.mutable_dimensions(static_cast<int>(entry(order, d))) = results.dimensions(d);
  }
  return operands;
}

// Transposes, together with a transpose that made the operand.
HloInstruction* transpose_all(HloInstruction* operand, Dimensions order) {
  while (operand->opcode() == kTranspose) {
    for (std::int64_t& d : order) d = operand->dimensions(d);
    operand = operand->mutable_operand(0);
  }
  return transpose(operand, order);
}

// True if the value is that of a row alone without its batch.
bool loses_batch(const HloInstruction& value) {
  return value.opcode() == kReshape &&
         absl::c_equal(value.operand(0)->shape().dimensions(),
                       engine::joined({{1}, value.shape().dimensions()}));
}

// The same for what is repeated. A row alone is transposed before it loses its batch: then all that
// needs it in this order shares one tensor, as in a batch.
HloInstruction* transpose_source(HloInstruction* source, const Dimensions& order) {
  if (!loses_batch(*source)) return transpose_all(source, order);
  Dimensions with_batch = {0};
  for (const std::int64_t d : order) with_batch.push_back(d + 1);
  return reshape(transpose_all(source->mutable_operand(0), with_batch),
                 picked(source->shape().dimensions(), order));
}

// Operations, such as a scale and a shift of statistics.
constexpr int kMostCheap = 4;

// Moves transposes from the operands of operations to their results.
class Sinking {
 public:
  Sinking(xla::HloModule& module, std::int64_t first_weight, ProductSides sides)
      : module_(module), values_(module, first_weight), sides_(sides), rows_(rows_of(module)) {}

  Status run() {
    for (HloInstruction* one : instructions_of(module_)) {
      const auto rows = rows_within(*one, rows_, values_);
      if (rows) TFAOT_TRY(put_rows_first(*one, *rows));
      if (one->opcode() == kGather && !is_known(one)) TFAOT_TRY(put_points_first(*one));
    }
    for (HloInstruction* one : instructions_of(module_)) {
      if (!is_known(one) && elements_of(*one) > 0) TFAOT_TRY(replace(*one, sunk(*one)));
    }
    return {};
  }

 private:
  bool is_known(const HloInstruction* instruction) const {
    return known_.count(instruction) > 0 || values_.is_known(instruction);
  }
  bool is_moving(const HloInstruction* operand) const {
    return operand->opcode() == kTranspose && !is_known(operand) && !puts_rows_first(*operand);
  }

  // Sums the value with rows first. All else that uses it, such as a softmax, gets it back from
  // there, so that it can have these rows in their order, too.
  Status put_rows_first(HloInstruction& reduce, std::int64_t rows) const {
    HloInstruction* const value = reduce.mutable_operand(0);
    if (is_moving(value)) return {};
    const Instructions users(value->users().begin(), value->users().end());
    const Dimensions order =
        engine::joined({{rows}, other_dimensions(value->shape().rank(), {rows})});
    const Dimensions back = xla::InversePermutation(order);
    HloInstruction* const turned = transpose(value, order);
    TFAOT_TRY(checked(value->ReplaceUsesWith(users, transpose(turned, back))));
    return replace(reduce, sunk_reduce(reduce, back, turned));
  }

  // The points of all rows lie together where elements are taken from them, so they are put before
  // channels. A row alone could leave them where they are, but then its products with weights could
  // not be made before elements are taken.
  Status put_points_first(HloInstruction& gather) const {
    HloInstruction* const source = gather.mutable_operand(0);
    const auto& taken = gather.gather_dimension_numbers().start_index_map();
    if (taken.size() != 1 || taken[0] == 0 || !loses_batch(*source)) return {};
    const Dimensions order =
        engine::joined({{taken[0]}, other_dimensions(source->shape().rank(), {taken[0]})});
    return replace(gather, gather_of_untransposed(gather, xla::InversePermutation(order),
                                                  transpose_source(source, order)));
  }

  // True if a sum of its rows would become one of rows_within().
  bool puts_rows_first(const HloInstruction& transpose) const {
    return rows_ > 1 && elements_of(transpose) > rows_ && size_of(transpose, 0) == rows_ &&
           absl::c_any_of(transpose.users(), [&](const auto* user) {
             return user->opcode() == kReduce && is_float32(*user) &&
                    !absl::c_linear_search(user->dimensions(), 0) &&
                    lies_within(transpose.operand(0)->shape(), transpose.dimensions(0),
                                picked(order_of(transpose), user->dimensions())) &&
                    (elements_of(*user) == rows_ || is_of_batch(transpose, 0, values_));
           });
  }

  // The same as the operation, with the transpose of its operand after it; null: nothing changes.
  HloInstruction* sunk(HloInstruction& operation) {
    if (operation.opcode() == kTranspose) return joined(operation);
    if (operation.opcode() == kDot) {
      const bool may_swap = sides_ == ProductSides::kMaySwap && is_known(operation.operand(1)) &&
                            !is_known(operation.operand(0));
      HloInstruction* const swapped = may_swap ? swapped_product(operation) : nullptr;
      return swapped != nullptr ? swapped : dot_of_flattened(operation);
    }
    if (operation.opcode() == kConcatenate || is_elementwise(operation)) {
      return sunk_through_any(operation);
    }
    if (operation.opcode() == kReshape) {
      HloInstruction* const before = operation.mutable_operand(0);
      const bool is_back =
          before->opcode() == kReshape && before->operand(0)->shape() == operation.shape();
      if (is_back) return before->mutable_operand(0);
    }
    if (operation.operand_count() == 0 || !is_moving(operation.operand(0))) return nullptr;
    const Dimensions order = order_of(*operation.operand(0));
    HloInstruction* x = operation.mutable_operand(0)->mutable_operand(0);
    switch (operation.opcode()) {
      case kPad:
        return transpose(
            add_next_to(x, HloInstruction::CreatePad(
                               shape_before(operation, order), x, operation.mutable_operand(1),
                               before_transpose(order, operation.padding_config()))),
            order);
      case kSlice:
        return transpose(slice(x, xla::PermuteInverse(operation.slice_starts(), order),
                               xla::PermuteInverse(operation.slice_limits(), order),
                               xla::PermuteInverse(operation.slice_strides(), order)),
                         order);
      case kReverse:
        return transpose(reverse(x, picked(order, operation.dimensions())), order);
      case kReduce:
        return operation.operand_count() == 2 ? sunk_reduce(operation, order, x) : nullptr;
      case kReduceWindow:
        if (operation.operand_count() != 2) return nullptr;
        return transpose(
            add_next_to(x, HloInstruction::CreateReduceWindow(
                               shape_before(operation, order), x, operation.mutable_operand(1),
                               before_transpose(order, operation.window()), operation.to_apply())),
            order);
      case kReshape:
        return sunk_reshape(operation, order, x);
      case kGather:
        return gather_of_untransposed(operation, order, x);
      default:
        return nullptr;
    }
  }

  static bool is_elementwise(const HloInstruction& operation) {
    const auto opcode = operation.opcode();
    if (!operation.IsElementwise() || operation.operand_count() == 0 || opcode == kMap ||
        opcode == kRng || operation.HasSideEffect()) {
      return false;
    }
    const auto rank = operation.shape().rank();
    return std::ranges::all_of(operation.operands(), [&](const HloInstruction* operand) {
      return operand->shape().rank() == rank || operand->shape().rank() == 0;
    });
  }

  HloInstruction* joined(HloInstruction& operation) {
    HloInstruction* operand = operation.mutable_operand(0);
    if (operand->opcode() == kTranspose && !puts_rows_first(*operand)) {
      return transpose_all(operand, order_of(operation));
    }
    const Dimensions back = xla::InversePermutation(operation.dimensions());
    return is_made_of_less(*operand) ? untransposed(operand, back) : nullptr;
  }

  // All operands must be transposes in the same order, or free to transpose.
  HloInstruction* sunk_through_any(HloInstruction& operation) {
    const auto& all = operation.operands();
    const auto found =
        absl::c_find_if(all, [this](const auto* operand) { return is_moving(operand); });
    if (found == all.end()) return nullptr;
    const Dimensions order = order_of(**found);
    if (!absl::c_all_of(all, [&](const auto* one) { return can_untranspose(*one, order); })) {
      return nullptr;
    }
    if (operation.opcode() != kConcatenate)
      return transpose(rebuilt_before(operation, order), order);
    Instructions operands = operands_of(operation);
    for (HloInstruction*& operand : operands) operand = untransposed(operand, order);
    return transpose(concatenate(operands, entry(order, operation.concatenate_dimension())), order);
  }

  // An elementwise operation on its operands before they are transposed.
  HloInstruction* rebuilt_before(HloInstruction& operation, const Dimensions& order) {
    return rebuild_on(operation, shape_before(operation, order).dimensions(),
                      [&](HloInstruction* operand) { return untransposed(operand, order); });
  }

  static bool is_made_of_less(const HloInstruction& value) {
    return value.opcode() == kBroadcast || value.opcode() == kIota;
  }

  // True if it is computed from less by at most this many operations: any order is then free.
  bool is_cheap(const HloInstruction& value, int operations) const {
    if (value.shape().rank() == 0 || is_known(&value) || is_made_of_less(value)) return true;
    return operations > 0 && is_elementwise(value) &&
           std::ranges::all_of(value.operands(), [&](const HloInstruction* operand) {
             return is_cheap(*operand, operations - 1);
           });
  }

  // True if the value is the transpose, in this order, of one that exists or is free.
  bool can_untranspose(const HloInstruction& value, const Dimensions& order) const {
    if (is_cheap(value, kMostCheap)) return true;
    if (value.opcode() == kTranspose) return value.dimensions() == order;
    return transposed_user(value, xla::InversePermutation(order)) != nullptr;
  }

  static HloInstruction* transposed_user(const HloInstruction& value, const Dimensions& order) {
    for (HloInstruction* user : value.users()) {
      if (user->opcode() == kTranspose && user->dimensions() == order) return user;
    }
    return nullptr;
  }

  // REQUIRES: can_untranspose()
  HloInstruction* untransposed(HloInstruction* value, const Dimensions& order) {
    if (value->shape().rank() == 0) return value;
    if (is_moving(value) && value->dimensions() == order) return value->mutable_operand(0);
    const Dimensions back = xla::InversePermutation(order);
    if (value->opcode() == kBroadcast && !is_known(value)) {
      return broadcast_before(*value, order);
    }
    if (value->opcode() == kIota) {
      const auto dimension = xla::Cast<xla::HloIotaInstruction>(value)->iota_dimension();
      return iota_next_to(value, shape_before(*value, order), entry(order, dimension));
    }
    const bool known = is_known(value);
    HloInstruction* const there = known ? nullptr : transposed_user(*value, back);
    if (!known && there == nullptr && is_cheap(*value, kMostCheap)) {
      return rebuilt_before(*value, order);
    }
    HloInstruction* made = there != nullptr ? there : transpose_all(value, back);
    if (known) known_.insert(made);
    return made;
  }

  HloInstruction* broadcast_before(HloInstruction& value, const Dimensions& order) {
    Dimensions places = picked(order, value.dimensions());
    const Dimensions sorting = sorting_order(places);
    HloInstruction* source = value.mutable_operand(0);
    const bool known = is_known(source);
    if (!std::ranges::is_sorted(sorting)) source = transpose_source(source, sorting);
    if (known) known_.insert(source);
    std::ranges::sort(places);
    return broadcast(source, xla::PermuteInverse(value.shape().dimensions(), order), places);
  }

  static HloInstruction* sunk_reduce(HloInstruction& operation, const Dimensions& order,
                                     HloInstruction* x) {
    Dimensions reduced = picked(order, operation.dimensions());
    const Dimensions kept =  // by dimension of the result
        picked(order, other_dimensions(std::ssize(order), operation.dimensions()));
    const Dimensions result_order = xla::InversePermutation(sorting_order(kept));
    std::ranges::sort(reduced);
    return transpose(engine::reduce(x, operation.mutable_operand(1), reduced, operation.to_apply()),
                     result_order);
  }

  // The dimension of the result that a reshape joins a batch of one row with: the first one, or
  // that along which elements of all rows are taken.
  static std::int64_t joined_with_batch(const HloInstruction& reshape) {
    for (const HloInstruction* user : reshape.users()) {
      if (user->opcode() != kGather || user->operand(0) != &reshape) continue;
      const auto& taken = user->gather_dimension_numbers().start_index_map();
      if (taken.size() == 1) return taken[0];
    }
    return 0;
  }

  // True if a batch of one row is joined with a dimension that does not follow it in x. More rows
  // could not be joined there, and a row alone must not get other layouts than they: kernels add in
  // an order that depends on layouts.
  static bool joins_apart(const HloInstruction& operation, const Dimensions& order,
                          const xla::Shape& x) {
    const HloInstruction& before = *operation.operand(0);
    if (operation.shape().rank() == 0 || size_of(operation, 0) == 1 || size_of(before, 0) != 1) {
      return false;
    }
    const std::int64_t batch = order.front();
    std::int64_t next = batch;
    for (const ReshapeGroup& group : groups_of(operation)) {
      if (!absl::c_linear_search(group.to, joined_with_batch(operation))) continue;
      const auto first =
          absl::c_find_if(group.from, [&](std::int64_t d) { return size_of(before, d) != 1; });
      if (first != group.from.end()) next = entry(order, *first);
    }
    const auto between = [&](std::int64_t d) {
      return batch < d && d < next && entry(x.dimensions(), d) > 1;
    };
    return next < batch || std::ranges::any_of(order, between);
  }

  // The dimensions of a group must be contiguous; otherwise a transpose stays before the reshape.
  static HloInstruction* sunk_reshape(HloInstruction& operation, const Dimensions& order,
                                      HloInstruction* x) {
    if (joins_apart(operation, order, x->shape())) return nullptr;
    const std::vector<ReshapeGroup> groups = groups_of(operation);
    Dimensions places;  // by group: where its first dimension lies
    for (const ReshapeGroup& group : groups) {
      std::int64_t first = std::ssize(order);
      std::int64_t first_of_one = first;  // a batch of one row lies where a larger one does
      for (const std::int64_t d : group.from) {
        std::int64_t& found = size_of(*operation.operand(0), d) > 1 ? first : first_of_one;
        found = std::min(found, entry(order, d));
      }
      places.push_back(first < std::ssize(order) ? first : first_of_one);
    }
    Dimensions together;  // of x
    Dimensions sizes;
    Dimensions targets;  // by dimension after the reshape: which one of the result
    for (const std::int64_t g : sorting_order(places)) {
      const ReshapeGroup& group = entry(groups, g);
      for (const std::int64_t d : group.from) together.push_back(entry(order, d));
      for (const std::int64_t d : group.to) {
        targets.push_back(d);
        sizes.push_back(size_of(operation, d));
      }
    }
    if (moves_elements(x->shape(), together)) x = transpose(x, together);
    return transpose(reshape(x, sizes), xla::InversePermutation(targets));
  }

  // A product over dimensions that were transposed and joined: the weight's rows move instead.
  HloInstruction* dot_of_flattened(HloInstruction& dot) {
    HloInstruction* const flattened = dot.mutable_operand(0);
    HloInstruction* const weight = dot.mutable_operand(1);
    const auto& numbers = dot.dot_dimension_numbers();
    if (flattened->opcode() != kReshape || !is_moving(flattened->operand(0)) || !is_known(weight) ||
        numbers.lhs_contracting_dimensions_size() != 1) {
      return nullptr;
    }
    const std::vector<ReshapeGroup> groups = groups_of(*flattened);
    const auto group = std::ranges::find(groups, Dimensions{numbers.lhs_contracting_dimensions(0)},
                                         &ReshapeGroup::to);
    if (group == groups.end()) return nullptr;
    const HloInstruction& transposed = *flattened->operand(0);
    Dimensions order = order_of(transposed);
    const Dimensions places = picked(order, group->from);
    const Dimensions sorting = sorting_order(places);
    for (std::int64_t i = 0; i < std::ssize(sorting); ++i) {
      entry(order, entry(group->from, i)) = entry(places, entry(sorting, i));
    }
    HloInstruction* const x = flattened->mutable_operand(0)->mutable_operand(0);
    if (moves_elements(x->shape(), order)) return nullptr;  // others move, too

    const std::int64_t row = numbers.rhs_contracting_dimensions(0);
    Dimensions sizes = dimensions_of(*weight);
    Dimensions rows_order = counted(std::ssize(sizes) - 1 + std::ssize(sorting));
    sizes.erase(sizes.begin() + row);
    for (std::int64_t i = 0; i < std::ssize(sorting); ++i) {
      sizes.insert(sizes.begin() + row + i, size_of(transposed, entry(group->from, i)));
      entry(rows_order, row + i) = row + entry(sorting, i);
    }
    HloInstruction* const rows =
        reshape(transpose(reshape(weight, sizes), rows_order), weight->shape().dimensions());
    known_.insert(rows);
    HloInstruction* const columns = reshape(x, flattened->shape().dimensions());
    return rebuild(dot, dot.shape().dimensions(), {columns, rows});
  }

  xla::HloModule& module_;
  WeightValues values_;
  ProductSides sides_;
  std::int64_t rows_;
  std::set<const HloInstruction*> known_;  // made here
};

// Leaves the module unchanged unless fewer bytes are transposed. Where sides may swap, transposes
// that a product reads by strides are free.
Status settle(xla::HloModule& module, std::int64_t first_weight, ProductSides sides) {
  const bool reads_strides = sides == ProductSides::kMaySwap;
  const TransposeCost before = cost_of_transposes(module, first_weight, reads_strides);
  if (before == TransposeCost()) return {};
  const auto trial = module.Clone("");
  TFAOT_TRY(Sinking(*trial, first_weight, sides).run());
  TFAOT_TRY(remove_dead_code(*trial));
  if (cost_of_transposes(*trial, first_weight, reads_strides) >= before) return {};
  return Sinking(module, first_weight, sides).run();
}

}  // namespace

Status settle_layouts(xla::HloModule& module, PassContext& context) {
  return settle(module, context.inputs, ProductSides::kStay);
}

Status settle_layouts_of_calls(xla::HloModule& module, PassContext& context) {
  return settle_layouts(module, context);
}

Status swap_products(xla::HloModule& module, PassContext& context) {
  // Weights of fewer bits are right sides.
  const Choices& choices = context.choices;
  if (choices.weights_type != WeightsType::kFloat32 || choices.wants_bfloat16()) return {};
  return settle(module, context.inputs, ProductSides::kMaySwap);
}

}  // namespace tfaot::toolkit::engine
