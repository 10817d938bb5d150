// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/algorithm/container.h"
#include "compiler/hlo/evaluate.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/kernel_facts.h"
#include "xla/array4d.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {

namespace {

// Elements along a dimension that are computed from a few neighbours each: sums of `count` elements
// from `start` on, times weights.
struct Neighbours {
  std::int64_t in = 0;     // elements of the operand
  std::int64_t count = 1;  // the same for all results
  std::vector<std::int64_t> start;
  std::vector<double> weights;  // [results, count]

  std::int64_t out() const { return static_cast<std::int64_t>(start.size()); }
};

// The rows of a matrix: a weight for each element of the operand.
using WeightRows = std::vector<std::vector<double>>;

// With the smallest count that covers all weights except zeros.
Neighbours neighbours_of(const WeightRows& rows) {
  Neighbours found;
  found.in = std::ssize(rows.front());
  const auto is_some = [](double weight) { return weight != 0; };
  std::vector<std::int64_t> ends;
  for (const auto& row : rows) {
    const auto first = std::find_if(row.begin(), row.end(), is_some);
    const auto last = std::find_if(row.rbegin(), row.rend(), is_some);
    const std::int64_t start = first == row.end() ? 0 : first - row.begin();
    const std::int64_t end = first == row.end() ? 1 : row.rend() - last;
    found.start.push_back(start);
    found.count = std::max(found.count, end - start);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.start[i] = std::min(found.start[i], found.in - found.count);
    const auto begin = rows[i].begin() + found.start[i];
    found.weights.insert(found.weights.end(), begin, begin + found.count);
  }
  return found;
}

struct SeparateWeights {
  WeightRows rows, columns;  // [i][row] and [j][column]
};

// Weights of a window for each result, [rows, columns, window rows, window columns], as products of
// a weight of its row and one of its column; nothing if they are no such products.
std::optional<SeparateWeights> separate(const xla::Array4D<double>& weights) {
  using Place = absl::Span<const std::int64_t>;
  constexpr double kRounding = 1e-5;
  SeparateWeights found;
  found.rows.resize(static_cast<std::size_t>(weights.n1()),
                    std::vector<double>(static_cast<std::size_t>(weights.n3())));
  found.columns.resize(static_cast<std::size_t>(weights.n2()),
                       std::vector<double>(static_cast<std::size_t>(weights.n4())));
  double all = 0;
  weights.Each([&](Place at, double weight) { all += at[0] == 0 && at[1] == 0 ? weight : 0; });
  if (all == 0) return {};
  weights.Each([&](Place at, double weight) {
    if (at[1] == 0) entry(entry(found.rows, at[0]), at[2]) += weight;
    if (at[0] == 0) entry(entry(found.columns, at[1]), at[3]) += weight / all;
  });
  bool is_product = true;
  weights.Each([&](Place at, double weight) {
    const double made =
        entry(entry(found.rows, at[0]), at[2]) * entry(entry(found.columns, at[1]), at[3]);
    is_product = is_product && std::abs(weight - made) <= kRounding;
  });
  return is_product ? std::optional(found) : std::nullopt;
}

// A call before it is made. The operand's memory is [batch, rows, columns, channels].
struct Resizing {
  HloInstruction* operand = nullptr;
  std::int64_t batch = 1;
  Neighbours rows, columns;
  std::int64_t channels = 1;
};

// One of `in` elements for each result.
Neighbours chosen(std::int64_t in, Dimensions places) {
  const std::size_t count = places.size();
  return {in, 1, std::move(places), std::vector(count, 1.0)};
}

// The call of tfaot_resize that computes a tensor with no other user; null: there is none.
HloInstruction* own_resize(HloInstruction* tensor) {
  tensor = before_own_reshapes(tensor);
  if (tensor->opcode() != kGetTupleElement || tensor->user_count() != 1) return nullptr;
  HloInstruction* call = tensor->mutable_operand(0);
  return is_call_of(*call, Kernel::kResize) ? call : nullptr;
}

Resizing resizing_of(HloInstruction& kernel) {
  const auto call = call_of<kernels::ResizeCall>(kernel);
  const auto words = call_words(kernel);
  const xla::Literal weights = kernel.operand(2)->literal().Convert(xla::F64).value();
  Resizing resizing{kernel.mutable_operand(1), call.batch, {}, {}, call.channels};
  auto start = words.begin() + sizeof call / sizeof words[0];
  const auto numbers = weights.data<double>();
  auto weight = numbers.begin();
  Neighbours* const both[] = {&resizing.rows, &resizing.columns};
  for (int d = 0; d < 2; ++d) {
    Neighbours& one = *both[d];
    one.in = call.in[d];
    one.count = call.taps[d];
    one.start.assign(start, start + call.out[d]);
    start += call.out[d];
    one.weights.assign(weight, weight + call.out[d] * call.taps[d]);
    weight += call.out[d] * call.taps[d];
  }
  return resizing;
}

// Merges resizes of two dimensions that are adjacent in memory into one call.
Resizing joined_with_before(Resizing resizing) {
  HloInstruction* kernel = own_resize(resizing.operand);
  if (kernel == nullptr || resizing.columns.in != 1) return resizing;
  Resizing before = resizing_of(*kernel);
  if (before.columns.in != 1 || before.columns.out() != 1) return resizing;
  const std::int64_t own_size = resizing.rows.in * resizing.channels;
  if (before.channels == own_size && resizing.batch == before.batch * before.rows.out()) {
    before.columns = resizing.rows;
    before.channels = resizing.channels;
    return before;
  }
  const std::int64_t size_before = before.rows.out() * before.channels;
  if (resizing.channels == size_before && before.batch == resizing.batch * resizing.rows.in) {
    before.columns = before.rows;
    before.rows = resizing.rows;
    before.batch = resizing.batch;
    return before;
  }
  return resizing;
}

// The number of elements of the dimensions before `end`.
std::int64_t elements_before(absl::Span<const std::int64_t> sizes, std::int64_t end) {
  return product(sizes.first(static_cast<std::size_t>(end)));
}

// Adds the call and returns its result of the dimensions `result`. If another call made the operand
// for this one alone, along a neighbouring dimension, both become one call, if it `joins`. `model`
// is replaced by it.
HloInstruction* add_resize(Resizing resizing, const Dimensions& result, const HloInstruction& model,
                           bool joins = true) {
  if (joins) resizing = joined_with_before(std::move(resizing));
  kernels::ResizeCall call{};
  call.batch = resizing.batch;
  call.channels = resizing.channels;
  KernelCall made{Kernel::kResize, {}, {resizing.operand}, result};
  Dimensions starts;
  const Neighbours* const both[] = {&resizing.rows, &resizing.columns};
  for (int d = 0; d < 2; ++d) {
    call.in[d] = both[d]->in;
    call.out[d] = both[d]->out();
    call.taps[d] = both[d]->count;
    starts.insert(starts.end(), both[d]->start.begin(), both[d]->start.end());
  }
  made.words = as_words(call);
  made.words.insert(made.words.end(), starts.begin(), starts.end());
  std::vector<double> weights = resizing.rows.weights;
  weights.insert(weights.end(), resizing.columns.weights.begin(), resizing.columns.weights.end());
  made.operands.push_back(constant_next_to(
      resizing.operand,
      xla::LiteralUtil::CreateR1<double>(weights).Convert(type_of(*resizing.operand)).value()));
  return add_kernel_call(made, model);
}

// The meaning of the dimensions of the gather's result and of the weights. [0] is about the rows of
// images, [1] about their columns. -1: there is no such dimension, as its size is 1.
struct WindowForm {
  std::int64_t row_axis = 0;                         // of the images; columns are the next one
  std::array<std::int64_t, 2> place_of = {};         // which number of a place
  std::array<std::int64_t, 2> result_of = {-1, -1};  // the weights' dimension of the results
  std::array<std::int64_t, 2> window_of = {-1, -1};  // and of the window
  Dimensions order;  // of the dot's result, in dimensions of the images
};

// By dimension of the gather's result, or of that reshaped to `sizes` without some dimensions of
// size 1: the images' dimension, or -1 and -2 for the places'. Empty: it is reshaped otherwise.
Dimensions meaning_of(const HloInstruction& gather, absl::Span<const std::int64_t> sizes) {
  const auto& offsets = gather.gather_dimension_numbers().offset_dims();
  const auto all = gather.shape().dimensions();
  Dimensions meaning;
  std::int64_t place = -1;
  std::int64_t axis = 0;
  for (std::int64_t d = 0; d < std::ssize(all); ++d) {
    const bool is_offset = absl::c_linear_search(offsets, d);
    const std::int64_t here = is_offset ? axis++ : place--;
    const std::int64_t size = entry(all, d);
    if (meaning.size() < sizes.size() && size == sizes[meaning.size()]) {
      meaning.push_back(here);
    } else if (size != 1) {
      return {};
    }
  }
  return meaning.size() == sizes.size() ? meaning : Dimensions();
}

std::optional<WindowForm> window_form(const HloInstruction& dot, const HloInstruction& gather,
                                      int side) {
  const auto& numbers = gather.gather_dimension_numbers();
  if (numbers.start_index_map_size() != 2 || numbers.collapsed_slice_dims_size() != 0 ||
      numbers.index_vector_dim() != 2 || gather.operand(1)->shape().rank() != 3) {
    return {};
  }
  WindowForm form;
  const int first = numbers.start_index_map(0) < numbers.start_index_map(1) ? 0 : 1;
  form.place_of = {first, 1 - first};
  form.row_axis = numbers.start_index_map(first);
  if (numbers.start_index_map(1 - first) != form.row_axis + 1) return {};
  const auto images = gather.operand(0)->shape().dimensions();
  for (std::int64_t d = 0; d < std::ssize(images); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const bool is_window = d == form.row_axis || d == form.row_axis + 1;
    if (!is_window && gather.gather_slice_sizes()[at] != images[at]) return {};
  }
  const auto meaning = meaning_of(gather, dot.operand(side)->shape().dimensions());
  const auto& dims = dot.dot_dimension_numbers();
  const auto& batch = side == 0 ? dims.lhs_batch_dimensions() : dims.rhs_batch_dimensions();
  const auto& batch_of_weights =
      side == 0 ? dims.rhs_batch_dimensions() : dims.lhs_batch_dimensions();
  const auto& depth =
      side == 0 ? dims.lhs_contracting_dimensions() : dims.rhs_contracting_dimensions();
  const auto& depth_of_weights =
      side == 0 ? dims.rhs_contracting_dimensions() : dims.lhs_contracting_dimensions();
  if (meaning.empty() || dot.operand(1 - side)->shape().rank() != batch.size() + depth.size()) {
    return {};
  }
  std::vector<bool> is_free(meaning.size(), true);
  for (int i = 0; i < batch.size(); ++i) {
    const std::int64_t result = -1 - entry(meaning, batch[i]);
    if (result < 0) return {};
    entry(form.result_of, result) = batch_of_weights[i];
    form.order.push_back(form.row_axis + result);
    entry(is_free, batch[i]) = false;
  }
  for (int i = 0; i < depth.size(); ++i) {
    const std::int64_t window = entry(meaning, depth[i]) - form.row_axis;
    if (window < 0 || window > 1) return {};
    entry(form.window_of, window) = depth_of_weights[i];
    entry(is_free, depth[i]) = false;
  }
  for (std::size_t d = 0; d < meaning.size(); ++d) {
    if (!is_free[d]) continue;
    if (meaning[d] < 0 || meaning[d] == form.row_axis || meaning[d] == form.row_axis + 1) {
      return {};
    }
    form.order.push_back(meaning[d]);
  }
  return form;
}

// Transposes a tensor into this order of dimensions. All others have size 1.
HloInstruction* in_order(HloInstruction* tensor, const Dimensions& order) {
  Dimensions kept = order;
  std::ranges::sort(kept);
  const Dimensions sizes = picked(tensor->shape().dimensions(), kept);
  Dimensions places;  // among the kept ones
  for (const auto d : order) places.push_back(place_among(kept, d));
  return transpose(reshape(tensor, sizes), places);
}

// Null if rows and columns of the windows depend on each other.
HloInstruction* resized_by_form(const HloInstruction& dot, HloInstruction& gather,
                                const WindowForm& form, const xla::Literal& places,
                                const xla::Literal& numbers) {
  HloInstruction* images = gather.mutable_operand(0);
  const auto sizes = images->shape().dimensions();
  const std::int64_t rows = places.shape().dimensions(0);
  const std::int64_t columns = places.shape().dimensions(1);
  const auto in = [&](std::size_t d) { return sizes[static_cast<std::size_t>(form.row_axis) + d]; };
  const auto window = [&](std::size_t d) {
    return gather.gather_slice_sizes()[static_cast<std::size_t>(form.row_axis) + d];
  };
  const auto start = [&](std::size_t d, std::int64_t i, std::int64_t j) {
    return std::clamp<std::int64_t>(places.Get<std::int64_t>({i, j, form.place_of[d]}), 0,
                                    in(d)-window(d));
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (start(0, i, j) != start(0, i, 0) || start(1, i, j) != start(1, 0, j)) return nullptr;
    }
  }
  xla::Array4D<double> weights(rows, columns, window(0), window(1));
  Dimensions at(static_cast<std::size_t>(numbers.shape().rank()), 0);
  weights.Each([&](absl::Span<const std::int64_t> place, double* weight) {
    for (const std::size_t d : {0U, 1U}) {
      if (form.result_of[d] >= 0) entry(at, form.result_of[d]) = place[d];
      if (form.window_of[d] >= 0) entry(at, form.window_of[d]) = place[2 + d];
    }
    *weight = numbers.Get<double>(at);
  });
  const auto parts = separate(weights);
  if (!parts) return nullptr;
  // The weights of a window at its place among all elements.
  const auto placed = [&](const WeightRows& windows, std::size_t d) {
    WeightRows all;
    for (std::int64_t i = 0; i < std::ssize(windows); ++i) {
      all.emplace_back(static_cast<std::size_t>(in(d)), 0.0);
      std::ranges::copy(entry(windows, i),
                        all.back().begin() + (d == 0 ? start(0, i, 0) : start(1, 0, i)));
    }
    return neighbours_of(all);
  };
  Resizing resizing{images, elements_before(sizes, form.row_axis), placed(parts->rows, 0),
                    placed(parts->columns, 1), stride_along(images->shape(), form.row_axis + 1)};
  Dimensions result(sizes.begin(), sizes.end());
  entry(result, form.row_axis) = rows;
  result[static_cast<std::size_t>(form.row_axis) + 1] = columns;
  return in_order(add_resize(std::move(resizing), result, dot), form.order);
}

// The call that does the same; null for other products.
Result<HloInstruction*> resized_windows(HloInstruction& dot, FixedValues& fixed) {
  for (const int side : {0, 1}) {
    HloInstruction* windows = dot.mutable_operand(side);
    HloInstruction* gather = windows->opcode() == kReshape ? windows->mutable_operand(0) : windows;
    const HloInstruction& weights = *dot.operand(1 - side);
    if (gather->opcode() != kGather || !fixed.is_fixed(*gather->operand(1)) ||
        !fixed.is_fixed(weights)) {
      continue;
    }
    const auto form = window_form(dot, *gather, side);
    if (!form) continue;
    TFAOT_ASSIGN(const auto places, FixedValues::value(*gather->operand(1), xla::S64));
    TFAOT_ASSIGN(const auto numbers, FixedValues::value(weights, xla::F64));
    return resized_by_form(dot, *gather, *form, places, numbers);
  }
  return nullptr;
}

// Rows of a graph's nodes, or of a sequence: the kernel that gathers rows copies them faster.
bool is_of_rows(const HloInstruction& x) {
  constexpr std::int64_t kFewestImageDimensions = 4;
  return x.shape().rank() < kFewestImageDimensions;
}

HloInstruction* gathered(HloInstruction* x, std::int64_t axis,
                         const std::vector<std::int64_t>& places) {
  Dimensions slice = dimensions_of(*x);
  entry(slice, axis) = 1;
  const auto numbers = xla::HloGatherInstruction::MakeGatherDimNumbers(
      other_dimensions(x->shape().rank(), {axis}), {axis}, {axis}, 1);
  const std::vector<std::int32_t> words(places.begin(), places.end());
  HloInstruction* const indices =
      constant_next_to(x, xla::LiteralUtil::CreateR1<std::int32_t>(words));
  return add_next_to(x, HloInstruction::CreateGather(resized(x->shape(), axis, std::ssize(places)),
                                                     x, indices, numbers, slice, false));
}

// A product with a matrix of which each result needs a few elements along one dimension.
struct SparseProduct {
  HloInstruction* x;
  std::int64_t axis;  // of x, which the matrix meets
  Neighbours neighbours;
  Dimensions order;  // of the result computed from x, in the product

  HloInstruction* in_place_of(const HloInstruction& dot, HloInstruction* made) const {
    return reshape(transpose(made, order), dot.shape().dimensions());
  }
};

// True if the kernel is faster than the operation. Single numbers are not what it is made for,
// but a product of them has a NaN in all results of a line if one number of the line is NaN.
bool is_worth_it(const SparseProduct& one) {
  const bool is_interpolation = one.neighbours.count == 2 && one.neighbours.in > 2;
  return one.neighbours.count <= tuned().resize_most_neighbours &&
         (is_interpolation || stride_along(one.x->shape(), one.axis) > 1);
}

HloInstruction* resize_along(const SparseProduct& one, const HloInstruction& model, bool joins) {
  Dimensions sizes = dimensions_of(*one.x);
  const Resizing resizing{one.x, elements_before(sizes, one.axis), one.neighbours, chosen(1, {0}),
                          stride_along(one.x->shape(), one.axis)};
  entry(sizes, one.axis) = one.neighbours.out();
  return add_resize(resizing, sizes, model, joins);
}

// For each result, the weights of all elements. `depth`: the dimension that is summed.
WeightRows matrix_rows(const xla::Literal& matrix, std::int64_t depth) {
  const auto sizes = matrix.shape().dimensions();
  WeightRows rows(static_cast<std::size_t>(entry(sizes, 1 - depth)));
  matrix.EachCell<double>([&](absl::Span<const std::int64_t> at, double weight) {
    entry(rows, entry(at, 1 - depth)).push_back(weight);
  });
  return rows;
}

// Nothing if the product is another one, or one with a batch.
Result<std::optional<SparseProduct>> sparse_product(HloInstruction& dot, FixedValues& fixed) {
  using Found = std::optional<SparseProduct>;
  const auto& numbers = dot.dot_dimension_numbers();
  if (numbers.lhs_batch_dimensions_size() != 0 || numbers.lhs_contracting_dimensions_size() != 1) {
    return Found();
  }
  const std::int64_t depths[] = {numbers.lhs_contracting_dimensions(0),
                                 numbers.rhs_contracting_dimensions(0)};
  for (const int side : {0, 1}) {
    HloInstruction* x = dot.mutable_operand(side);
    const HloInstruction& matrix = *dot.operand(1 - side);
    if (matrix.shape().rank() != 2 || !fixed.is_fixed(matrix) || fixed.is_fixed(*x) ||
        type_of(*x) != type_of(dot)) {
      continue;
    }
    TFAOT_ASSIGN(const auto values, FixedValues::value(matrix, xla::F64));
    Neighbours neighbours = neighbours_of(matrix_rows(values, depths[1 - side]));
    Dimensions order = counted(x->shape().rank());  // of x, in its operand's
    // Transposes, and reshapes that change only dimensions of one element.
    while (const auto before = x->opcode() == kTranspose ? order_of(*x) : before_reshape(*x)) {
      for (auto& d : order) {
        if (d != kSpread) d = entry(*before, d);
      }
      x = x->mutable_operand(0);
    }
    const std::int64_t axis = entry(order, depths[side]);
    if (axis < 0) return Found();
    order.erase(order.begin() + depths[side]);
    order.insert(side == 0 ? order.end() : order.begin(), axis);
    std::erase(order, kSpread);
    for (const auto d : other_dimensions(x->shape().rank(), order)) {
      order.insert(order.begin(), d);  // one element
    }
    return Found({x, axis, std::move(neighbours), std::move(order)});
  }
  return Found();
}

// Each element several times in a row: a broadcast along a new dimension that is then joined with
// the one before it. XLA leaves out dimensions of size 1 or puts them in. Not along the first
// dimension, which may be the batch.
std::optional<SparseProduct> repeated_elements(HloInstruction& reshaped) {
  HloInstruction* broadcast = reshaped.mutable_operand(0);
  if (broadcast->opcode() != kBroadcast || broadcast->user_count() != 1) return {};
  HloInstruction* x = broadcast->mutable_operand(0);
  if (is_of_rows(*x) && reshaped.user_count() > 0 &&
      std::ranges::all_of(reshaped.users(), [](auto* user) { return user->IsElementwise(); })) {
    return {};
  }
  const std::int64_t all = elements_of(*x), times = elements_of(*broadcast) / all;
  for (std::int64_t axis = 0; times > 1 && axis < x->shape().rank(); ++axis) {
    const std::int64_t in = size_of(*x, axis), inner = stride_along(x->shape(), axis);
    const xla::Shape result = resized(x->shape(), axis, in * times);
    if (in == 1 || broadcast->dimensions(axis) == 0 ||
        spread_operand(*broadcast, {{all / inner, inner}, {times, 0}, {inner, 1}}) == nullptr ||
        xla::ShapeUtil::DropDegenerateDimensions(result) !=
            xla::ShapeUtil::DropDegenerateDimensions(reshaped.shape())) {
      continue;
    }
    Dimensions start = counted(in * times);
    for (std::int64_t& place : start) place /= times;
    return SparseProduct{x, axis, chosen(in, std::move(start)), counted(x->shape().rank())};
  }
  return {};
}

// ---- Facts.

struct ResizeFacts {
  using Call = kernels::ResizeCall;

  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    return reads_images(call.batch, one, rows);
  }
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    const double result = first_result_bytes(one);
    const double lines =
        result * static_cast<double>(call.in[1]) / static_cast<double>(call.out[1]);
    return call_cycles(one, speed) + speed.slide(static_cast<double>(call.taps[0]), lines) +
           speed.slide(static_cast<double>(call.taps[1]), result);
  }
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    const std::int64_t rows = call.out[0] * call.in[1] * call.taps[0];
    const std::int64_t columns = call.out[0] * call.out[1] * call.taps[1];
    return {fmt::format("{} x {} to {} x {}, {} channels", call.in[0], call.in[1], call.out[0],
                        call.out[1], call.channels),
            2 * call.batch * call.channels * (rows + columns)};
  }
};

}  // namespace

constinit const KernelFacts kResizeFacts = facts_of<ResizeFacts>();

Status gather_chosen_rows(HloInstruction& dot, PassContext& context) {
  if (dot.opcode() != kDot || !is_for_kernels(dot)) return {};
  TFAOT_ASSIGN(const auto found, sparse_product(dot, context.fixed));
  if (!found || !is_of_rows(*found->x) || !is_worth_it(*found) || found->neighbours.count != 1 ||
      std::ranges::count(found->neighbours.weights, 1) != found->neighbours.out()) {
    return {};
  }
  return replace(dot,
                 found->in_place_of(dot, gathered(found->x, found->axis, found->neighbours.start)));
}

Status replace_resizes(HloInstruction& operation, PassContext& context) {
  if (!is_for_kernels(operation)) return {};
  std::optional<SparseProduct> found;
  if (operation.opcode() == kReshape) found = repeated_elements(operation);
  if (operation.opcode() == kDot) {
    TFAOT_ASSIGN(HloInstruction* const made, resized_windows(operation, context.fixed));
    if (made != nullptr) return replace(operation, made);
    TFAOT_ASSIGN(found, sparse_product(operation, context.fixed));
  }
  if (found && found->neighbours.count > tuned().resize_most_neighbours) {
    add_remark(context, operation,
               fmt::format("no resize: {} elements are summed for one, and the kernel sums {}",
                           found->neighbours.count, tuned().resize_most_neighbours));
  }
  if (!found || !is_worth_it(*found)) return {};
  // The words of a call of two free sizes follow neither from the start nor from the end.
  const bool joins = context.choices.smallest_free_size == 0;
  return replace(operation, found->in_place_of(operation, resize_along(*found, operation, joins)));
}

}  // namespace tfaot::toolkit::engine
