// SPDX-License-Identifier: Apache-2.0
#include "kernels/resized_windows.h"

#include <algorithm>
#include <array>
#include <optional>

#include "hlo/neighbours.h"
#include "kernels/resizing.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// What the dimensions of the gather's result and of the weights stand for. [0] is about the rows
// of images, [1] about their columns. -1: there is no such dimension, as its size is 1.
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
    const bool is_offset = std::find(offsets.begin(), offsets.end(), d) != offsets.end();
    const std::int64_t here = is_offset ? axis++ : place--;
    const std::int64_t size = all[static_cast<std::size_t>(d)];
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
      numbers.operand_batching_dims_size() != 0 || numbers.index_vector_dim() != 2 ||
      gather.operand(1)->shape().rank() != 3) {
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
    const std::int64_t result = -1 - meaning[static_cast<std::size_t>(batch[i])];
    if (result < 0) return {};
    form.result_of[static_cast<std::size_t>(result)] = batch_of_weights[i];
    form.order.push_back(form.row_axis + result);
    is_free[static_cast<std::size_t>(batch[i])] = false;
  }
  for (int i = 0; i < depth.size(); ++i) {
    const std::int64_t window = meaning[static_cast<std::size_t>(depth[i])] - form.row_axis;
    if (window < 0 || window > 1) return {};
    form.window_of[static_cast<std::size_t>(window)] = depth_of_weights[i];
    is_free[static_cast<std::size_t>(depth[i])] = false;
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

// Of a tensor some dimensions in that order. The others have the size 1.
HloInstruction* in_order(HloInstruction* tensor, const Dimensions& order) {
  Dimensions kept = order;
  std::ranges::sort(kept);
  Dimensions sizes;
  for (const auto d : kept) sizes.push_back(tensor->shape().dimensions(static_cast<int>(d)));
  Dimensions places;  // among the kept ones
  for (const auto d : order) places.push_back(std::ranges::find(kept, d) - kept.begin());
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
  WindowWeights weights{rows, columns, window(0), window(1), {}};
  Dimensions at(static_cast<std::size_t>(numbers.shape().rank()), 0);
  weights.at = [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) {
    const auto set = [&](std::int64_t dimension, std::int64_t place) {
      if (dimension >= 0) at[static_cast<std::size_t>(dimension)] = place;
    };
    set(form.result_of[0], i);
    set(form.result_of[1], j);
    set(form.window_of[0], k);
    set(form.window_of[1], l);
    return numbers.Get<double>(at);
  };
  const auto parts = separate(weights);
  if (!parts) return nullptr;
  // The weights of a window at its place among all elements.
  const auto placed = [&](const WeightRows& windows, std::size_t d) {
    WeightRows all;
    for (std::int64_t i = 0; i < std::ssize(windows); ++i) {
      all.emplace_back(static_cast<std::size_t>(in(d)), 0.0);
      std::ranges::copy(windows[static_cast<std::size_t>(i)],
                        all.back().begin() + (d == 0 ? start(0, i, 0) : start(1, 0, i)));
    }
    return neighbours_of(all);
  };
  Resizing resizing{images, size_of_part(sizes, 0, form.row_axis), placed(parts->rows, 0),
                    placed(parts->columns, 1),
                    size_of_part(sizes, form.row_axis + 2, std::ssize(sizes))};
  Dimensions result(sizes.begin(), sizes.end());
  result[static_cast<std::size_t>(form.row_axis)] = rows;
  result[static_cast<std::size_t>(form.row_axis) + 1] = columns;
  return in_order(add_resize(std::move(resizing), result, dot), form.order);
}

}  // namespace

Result<xla::HloInstruction*> resized_windows(HloInstruction& dot, FixedValues& fixed) {
  for (const int side : {0, 1}) {
    HloInstruction* windows = dot.mutable_operand(side);
    HloInstruction* gather =
        windows->opcode() == HloOpcode::kReshape ? windows->mutable_operand(0) : windows;
    const HloInstruction& weights = *dot.operand(1 - side);
    if (gather->opcode() != HloOpcode::kGather || !fixed.is_fixed(*gather->operand(1)) ||
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

}  // namespace tfaot::toolkit::engine
