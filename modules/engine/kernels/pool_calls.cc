// SPDX-License-Identifier: Apache-2.0
#include "kernels/pool_calls.h"

#include "kernels/activation.h"
#include "kernels/gelu_calls.h"
#include "kernels/kernel_call.h"
#include "kernels/layer_functions.h"
#include "kernels/window.h"
#include "tfaot/kernels/abi.h"
#include "xla/literal.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Of a reduction.
constexpr std::int64_t kFewestChannels = 8;  // a vector of the narrowest kernels twice
constexpr std::int64_t kMostSummed = 512;    // one after the other; rounding errors grow with them
constexpr std::int64_t kMostInOneLoop = 32;  // XLA reduces more in windows first, a slow loop

// "max_pool", "sum_pool", or nothing: of a window or of a reduction.
std::string kernel_of(const HloInstruction& pool) {
  const HloInstruction* root = pool.to_apply()->root_instruction();
  const HloInstruction* start = pool.operand(1);
  if (pool.operand_count() != 2 || start->opcode() != HloOpcode::kConstant ||
      pool.to_apply()->num_parameters() != 2 || root->operand_count() != 2 ||
      root->operand(0)->opcode() != HloOpcode::kParameter ||
      root->operand(1)->opcode() != HloOpcode::kParameter || root->operand(0) == root->operand(1)) {
    return "";
  }
  if (root->opcode() == HloOpcode::kAdd && start->literal().IsAll(0)) return "sum_pool";
  const bool starts_lowest =
      start->literal() == xla::LiteralUtil::MinValue(pool.shape().element_type());
  return root->opcode() == HloOpcode::kMaximum && starts_lowest ? "max_pool" : "";
}

bool is_point(const xla::WindowDimension& window) {
  return window.size() == 1 && window.stride() == 1 && window.padding_low() == 0 &&
         window.padding_high() == 0 && window.base_dilation() == 1;
}

// A window over nearly everything before a point: XLA makes a tree of it, which is faster than any
// window.
bool is_running_sum(const xla::WindowDimension& window) {
  constexpr std::int64_t kLongWindow = 8;
  return window.size() >= kLongWindow &&
         window.padding_low() + window.padding_high() >= window.size() - 1;
}

// No window is completely in the padding, where an activation would get no number.
bool meets_input(const kernels::Window& window) {
  for (int d = 0; d < kernels::kSpatial; ++d) {
    if (window.window_dilation[d] != 1 || window.pad_low[d] >= window.size[d] ||
        window.pad_high[d] >= window.size[d]) {
      return false;
    }
  }
  return true;
}

// The tensors that XLA makes in the loop of a reduction over them, or for which it has a better
// loop.
bool is_made_in_loop(const HloInstruction& x, std::int64_t count) {
  return (x.IsElementwise() && count <= kMostInOneLoop) || x.opcode() == HloOpcode::kBroadcast ||
         x.opcode() == HloOpcode::kReduce;
}

// What tfaot_function_pool makes; nothing: only XLA makes it.
std::optional<kernels::ResultFunction> function_of_kernel(const Activation& activation) {
  if (activation.output->shape().element_type() != xla::F32) return {};
  if (const auto gelu = gelu_of(*activation.output); gelu && gelu->x == activation.input) {
    return kernels::ResultFunction{function_of_form(gelu->form), 1, 1};
  }
  const auto found = function_of(*activation.input);
  if (!found || found->result != activation.output || found->function != kernels::kFunctionSwish) {
    return {};
  }
  return kernels::ResultFunction{found->function, found->above, found->below};
}

// The call, followed by the activation that came before the pooling.
HloInstruction* pool_first(KernelCall call, const kernels::PoolCall& sizes,
                           const Activation& activation, const HloInstruction& pool) {
  call.operands = {activation.input};
  if (activation.course == Course::kRises) return apply(activation, add_kernel_call(call, pool));
  if (const auto function = function_of_kernel(activation)) {
    call.kernel = "function_pool";
    call.words = as_words(kernels::FunctionPoolCall{sizes, *function});
    call.scratch_bytes = kernels::function_pool_scratch_bytes(sizes);
    return add_kernel_call(call, pool);
  }
  call.kernel = "range_pool";
  const std::int64_t size = product(call.result);
  call.result = {2, size};  // flat, so that XLA makes one loop of it
  HloInstruction* range = add_kernel_call(call, pool);
  const auto half = [&](std::int64_t which) {
    HloInstruction* slice = range->parent()->AddInstruction(
        HloInstruction::CreateSlice(shape_of(pool.shape().element_type(), {1, size}), range,
                                    {which, 0}, {which + 1, size}, {1, 1}));
    return apply(activation, reshape(slice, {size}));
  };
  return reshape(binary(HloOpcode::kMaximum, half(0), half(1)), pool.shape().dimensions());
}

}  // namespace

Status replace_pool(HloInstruction& pool) {
  if (!pool.shape().IsArray() || !has_kernels(pool.shape().element_type()) ||
      xla::ShapeUtil::IsZeroElementArray(pool.shape()) ||
      xla::ShapeUtil::IsZeroElementArray(pool.operand(0)->shape())) {
    return {};
  }
  const std::string kernel = kernel_of(pool);
  const auto& windows = pool.window().dimensions();
  int first = 0;
  int end = pool.window().dimensions_size();
  while (first < end && is_point(windows[first])) ++first;
  if (kernel.empty() || first == end || !is_point(windows[end - 1])) return {};
  while (is_point(windows[end - 1])) --end;
  if (end - first > kernels::kSpatial) return {};

  std::vector<SpatialDimension> spatial;
  for (int d = first; d < end; ++d) {
    if (windows[d].base_dilation() != 1 || is_running_sum(windows[d])) return {};
    spatial.push_back(
        {&windows[d], pool.operand(0)->shape().dimensions(d), pool.shape().dimensions(d)});
  }
  const auto sizes = pool.shape().dimensions();
  kernels::PoolCall call{};
  call.batch = product(sizes.subspan(0, static_cast<std::size_t>(first)));
  call.channels = product(sizes.subspan(static_cast<std::size_t>(end)));
  call.window = kernel_window(spatial);
  const KernelCall made{kernel, as_words(call), {pool.mutable_operand(0)}, dimensions_of(pool)};
  const auto activation = find_activation(*pool.mutable_operand(0));
  if (kernel == "max_pool" && activation && meets_input(call.window)) {
    return checked(pool.ReplaceAllUsesWith(pool_first(made, call, *activation, pool)));
  }
  return checked(pool.ReplaceAllUsesWith(add_kernel_call(made, pool)));
}

Status replace_reduction(HloInstruction& reduce) {
  if (reduce.dimensions().empty()) return {};
  const auto outer = static_cast<std::size_t>(reduce.dimensions().front());
  const auto summed = reduce.dimensions().size();
  HloInstruction* x = reduce.mutable_operand(0);
  while (x->opcode() == HloOpcode::kReshape) x = x->mutable_operand(0);
  if (reduce.operand_count() != 2 || !has_kernels(reduce.shape().element_type()) ||
      xla::ShapeUtil::IsZeroElementArray(reduce.operand(0)->shape())) {
    return {};
  }
  std::string kernel = kernel_of(reduce);
  if (kernel == "max_pool") kernel = "largest_pool";  // a NaN stays, as in TensorFlow's reductions
  for (std::size_t i = 0; i < summed; ++i) {
    if (reduce.dimensions(static_cast<std::int64_t>(i)) != static_cast<std::int64_t>(outer + i))
      return {};
  }
  const auto sizes = reduce.operand(0)->shape().dimensions();
  kernels::PoolCall call{};
  call.batch = product(sizes.subspan(0, outer));
  call.channels = product(sizes.subspan(outer + summed));
  const std::int64_t count = product(sizes.subspan(outer, summed));
  if (kernel.empty() || (kernel == "sum_pool" && count > kMostSummed) ||
      call.channels < kFewestChannels || is_made_in_loop(*x, count)) {
    return {};
  }
  xla::WindowDimension window;
  window.set_size(count);
  window.set_stride(1);
  window.set_window_dilation(1);
  window.set_base_dilation(1);
  call.window = kernel_window({{&window, count, 1}});
  return checked(reduce.ReplaceAllUsesWith(add_kernel_call(
      {kernel, as_words(call), {reduce.mutable_operand(0)}, dimensions_of(reduce)}, reduce)));
}

}  // namespace tfaot::toolkit::engine
