// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Terms of a sum, one after the other: rounding errors grow with them.
constexpr std::int64_t kMostSummed = 512;

// The kernel for a window or a reduction; none: there is none.
std::optional<Kernel> kernel_of(const HloInstruction& pool) {
  if (reduces_by(pool, HloOpcode::kAdd)) return Kernel::kSumPool;
  if (!reduces_by(pool, HloOpcode::kMaximum)) return std::nullopt;
  // A NaN stays in a maximum of all, as in TensorFlow's reductions.
  return pool.opcode() == HloOpcode::kReduce ? Kernel::kLargestPool : Kernel::kMaxPool;
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

// True if XLA's loop is better: it adds few terms, and computes them from others, in registers. Its
// maxima, which keep NaN, are slower than the kernel's.
bool is_better_in_a_loop(const HloInstruction& x, Kernel kernel, std::int64_t count) {
  return (count <= tuned().reductions_most_in_one_loop &&
          (kernel == Kernel::kSumPool || x.IsElementwise())) ||
         x.opcode() == HloOpcode::kBroadcast || x.opcode() == HloOpcode::kReduce;
}

// The pooling of a function's results as a function of pooled numbers, which are fewer; null: the
// pooling stays after it. The largest value over a window is that of the window's largest number
// or, if the function falls before it rises, of its largest or smallest number.
HloInstruction* pool_first(KernelCall call, const kernels::PoolCall& sizes, HloInstruction& value,
                           const HloInstruction& pool) {
  HloInstruction *x = nullptr, *gate = nullptr;
  if (only_user(value) == nullptr) return nullptr;
  if (xla::Match(&value, m::AnyOf<HloInstruction>(m::Tanh(m::Op(&x)), m::Logistic(m::Op(&x))))) {
    call.operands = {x};
    return rebuild(value, call.result, {add_kernel_call(call, pool)});
  }
  kernels::FunctionPoolCall with_function{sizes, {kernels::kFunctionSwish, 1, 1}};
  if (const auto gelu = gelu_of(value)) {
    x = gelu->x;
    with_function.function.kind = function_of_form(gelu->form);
  } else if (!xla::Match(&value, m::MultiplyAnyOrder(m::Op(&x), m::Logistic(m::Op(&gate)))) ||
             x != gate) {
    return nullptr;
  }
  if (!is_float32(value)) return nullptr;
  return add_kernel_call({Kernel::kFunctionPool,
                          as_words(with_function),
                          {x},
                          call.result,
                          kernels::function_pool_scratch_bytes(sizes)},
                         pool);
}

}  // namespace

Status replace_pool(HloInstruction& pool, PassContext& /*context*/) {
  if (!is_for_kernels(pool) || pool.opcode() != HloOpcode::kReduceWindow) return {};
  const std::optional<Kernel> kernel = kernel_of(pool);
  const auto& windows = pool.window().dimensions();
  int first = 0;
  int end = pool.window().dimensions_size();
  while (first < end && is_point(windows[first])) ++first;
  if (!kernel || first == end || !is_point(windows[end - 1])) return {};
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
  const KernelCall made{*kernel, as_words(call), {pool.mutable_operand(0)}, dimensions_of(pool)};
  HloInstruction* result = nullptr;
  if (made.kernel == Kernel::kMaxPool && meets_input(call.window)) {
    result = pool_first(made, call, *pool.mutable_operand(0), pool);
  }
  return replace(pool, result != nullptr ? result : add_kernel_call(made, pool));
}

Status replace_reduction(HloInstruction& reduce, PassContext& context) {
  if (reduce.opcode() != HloOpcode::kReduce || !is_for_kernels(reduce) ||
      reduce.dimensions().empty() || context.values().is_known(&reduce)) {
    return {};
  }
  const std::optional<Kernel> kernel = kernel_of(reduce);
  if (!kernel) return {};
  const auto outer = static_cast<std::size_t>(reduce.dimensions().front());
  const auto summed = reduce.dimensions().size();
  for (std::size_t i = 0; i < summed; ++i) {
    if (reduce.dimensions()[i] != static_cast<std::int64_t>(outer + i)) return {};
  }
  const auto sizes = reduce.operand(0)->shape().dimensions();
  kernels::PoolCall call{};
  call.batch = product(sizes.subspan(0, outer));
  call.channels = product(sizes.subspan(outer + summed));
  const std::int64_t count = product(sizes.subspan(outer, summed));
  if ((*kernel == Kernel::kSumPool && count > kMostSummed) ||
      call.channels < tuned().pool_fewest_channels ||
      is_better_in_a_loop(*before_reshapes(reduce.operand(0)), *kernel, count)) {
    return {};
  }
  xla::WindowDimension window;
  window.set_size(count);
  window.set_stride(1);
  window.set_window_dilation(1);
  window.set_base_dilation(1);
  call.window = kernel_window({{&window, count, 1}});
  return replace(
      reduce,
      add_kernel_call({*kernel, as_words(call), {reduce.mutable_operand(0)}, dimensions_of(reduce)},
                      reduce));
}

}  // namespace tfaot::toolkit::engine
