// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/convolution_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/bfloat16_calls.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_facts.h"
#include "compiler/kernels/packing.h"
#include "xla/literal_util.h"
#include "xla/permutation_util.h"

namespace tfaot::toolkit::engine {

kernels::ConvolutionCall convolution_call(const HloInstruction& convolution) {
  const auto& numbers = convolution.convolution_dimension_numbers();
  const auto& input = convolution.operand(0)->shape();
  kernels::ConvolutionCall call{};
  call.batch = entry(input.dimensions(), numbers.input_batch_dimension());
  call.in_channels = entry(input.dimensions(), numbers.input_feature_dimension());
  call.out_channels = size_of(convolution, numbers.output_feature_dimension());
  call.groups = convolution.feature_group_count();
  std::vector<SpatialDimension> spatial;
  for (int d = 0; d < convolution.window().dimensions_size(); ++d) {
    spatial.push_back({&convolution.window().dimensions(d),
                       entry(input.dimensions(), numbers.input_spatial_dimensions(d)),
                       size_of(convolution, numbers.output_spatial_dimensions(d))});
  }
  call.window = kernel_window(spatial);
  return call;
}

kernels::ConvolutionCall convolution_of_rows(std::int64_t rows, std::int64_t depth,
                                             std::int64_t columns) {
  kernels::ConvolutionCall call{};
  call.batch = rows;
  call.in_channels = depth;
  call.out_channels = columns;
  call.groups = 1;
  call.window = kernel_window({});
  return call;
}

Dimensions input_order(const HloInstruction& convolution) {
  const auto& numbers = convolution.convolution_dimension_numbers();
  return joined({{numbers.input_batch_dimension()},
                 numbers.input_spatial_dimensions(),
                 {numbers.input_feature_dimension()}});
}

Dimensions output_order(const HloInstruction& convolution) {
  const auto& numbers = convolution.convolution_dimension_numbers();
  return joined({{numbers.output_batch_dimension()},
                 numbers.output_spatial_dimensions(),
                 {numbers.output_feature_dimension()}});
}

HloInstruction* plain_filter(HloInstruction* filter, const HloInstruction& convolution) {
  const auto& numbers = convolution.convolution_dimension_numbers();
  Dimensions turned;
  for (int d = 0; d < convolution.window().dimensions_size(); ++d) {
    if (convolution.window().dimensions(d).window_reversal()) {
      turned.push_back(numbers.kernel_spatial_dimensions(d));
    }
  }
  return transpose(reverse(filter, turned), filter_order(convolution));
}

HloInstruction* filter_matrices(HloInstruction* filter, const kernels::ConvolutionCall& call) {
  const std::int64_t depth = elements_of(*filter) / call.out_channels;
  HloInstruction* cut = reshape(filter, {depth, call.groups, call.out_channels / call.groups});
  return call.groups == 1 ? reshape(cut, {1, depth, call.out_channels}) : transpose(cut, {1, 0, 2});
}

bool is_depthwise(const kernels::ConvolutionCall& call) {
  return call.groups == call.in_channels && call.groups == call.out_channels;
}

// One group alone is a small convolution.
bool is_of_groups(const kernels::ConvolutionCall& call) {
  return call.groups > 1 && kernels::is_grouped(call);
}

namespace {

using kernels::ConvolutionCall;

bool has_convolution_kernel(const HloInstruction& convolution) {
  if (!is_for_kernels(convolution) || convolution.batch_group_count() != 1) return false;
  const auto spatial = convolution.window().dimensions_size();
  return spatial >= 1 && spatial <= kernels::kSpatial &&
         std::ranges::all_of(convolution.operands(), [&](const HloInstruction* operand) {
           return type_of(*operand) == type_of(convolution) && elements_of(*operand) > 0;
         });
}

// The same as a product of [batch * points, in] and [in, out].
bool is_product(const ConvolutionCall& call) {
  const auto all_are = [](const std::int64_t(&values)[kernels::kSpatial], std::int64_t wanted) {
    return std::ranges::count(values, wanted) == kernels::kSpatial;
  };
  const kernels::Window& w = call.window;
  return call.groups == 1 && all_are(w.size, 1) && all_are(w.stride, 1) && all_are(w.pad_low, 0) &&
         all_are(w.pad_high, 0) && all_are(w.base_dilation, 1);
}

std::int64_t points(const ConvolutionCall& call) { return product(call.window.out); }

// The taps of a plain filter that belong to a phase.
HloInstruction* phase_filter(HloInstruction* filter, absl::Span<const kernels::Phase> phase) {
  Dimensions limits = dimensions_of(*filter);
  Dimensions starts(limits.size(), 0);
  Dimensions strides(limits.size(), 1);
  const std::size_t spatial = limits.size() - 2;
  for (std::size_t d = 0; d < spatial; ++d) {
    const kernels::Phase& one = phase[phase.size() - spatial + d];
    starts[d] = one.first_tap;
    strides[d] = one.tap_step;
    limits[d] = one.first_tap + (one.size - 1) * one.tap_step + 1;
  }
  return slice(filter, starts, limits, strides);
}

// In the form that tfaot_transposed_convolution reads; empty if no tap reads the input.
std::vector<HloInstruction*> pack_phases(HloInstruction* filter, const ConvolutionCall& call) {
  std::vector<HloInstruction*> packed;
  const kernels::Window& w = call.window;
  const std::int64_t counts[] = {kernels::phase_count(w, 0), kernels::phase_count(w, 1),
                                 kernels::phase_count(w, 2)};
  for (std::int64_t i = 0; i < product(counts); ++i) {
    const kernels::Phase phase[] = {kernels::phase_of(w, 0, i / counts[2] / counts[1]),
                                    kernels::phase_of(w, 1, i / counts[2] % counts[1]),
                                    kernels::phase_of(w, 2, i % counts[2])};
    const bool is_empty = std::ranges::any_of(phase, [](auto& one) { return one.size == 0; });
    if (!is_empty) packed.push_back(pack(filter_matrices(phase_filter(filter, phase), call)));
  }
  return packed;
}

// The products of a call by Winograd's way, for each pair of an input's and a result's channel.
std::int64_t winograd_products(const kernels::WinogradCall& call) {
  return kernels::winograd_matrices(call) * kernels::winograd_tiles(call);
}
std::int64_t winograd_filter_bytes(const kernels::WinogradCall& call) {
  return kernels::winograd_matrices(call) * call.convolution.in_channels *
         call.convolution.out_channels * static_cast<std::int64_t>(sizeof(float));
}

// Tiles of four results a dimension, unless the image is small, or its few tiles would wait for the
// filter, which is four times the plain one. The batch does not count, so all batch sizes share the
// filter.
kernels::WinogradCall best_tiles(const ConvolutionCall& call) {
  kernels::WinogradCall two{call, 2}, four{call, 4};
  two.convolution.batch = four.convolution.batch = 1;
  const std::int64_t tiles = kernels::winograd_tiles(four);
  const std::int64_t most = tiles < tuned().winograd_many_tiles
                                ? tuned().winograd_most_cached_bytes_of_four
                                : tuned().winograd_most_bytes_of_four;
  const bool is_four = tiles >= tuned().winograd_fewest_tiles_of_four &&
                       winograd_filter_bytes(four) <= most &&
                       4 * winograd_products(four) <= 3 * winograd_products(two);
  return {call, is_four ? 4 : 2};
}

// True if Winograd's way is faster. Otherwise, moving numbers in and out takes longer than the
// products that are saved. The batch does not count: a row has the same bits in any batch.
bool is_faster_by_winograd(const kernels::WinogradCall& winograd) {
  const ConvolutionCall& call = winograd.convolution;
  const bool is_planar = product(call.window.size) > kernels::kWinogradSize;
  const bool is_four = winograd.results == 4;
  const std::int64_t least = is_planar || is_four ? 16 : 32;
  const std::int64_t least_of_both = is_four ? (is_planar ? 32 : 48) : is_planar ? 40 : 80;
  if (std::min(call.in_channels, call.out_channels) < least ||
      call.in_channels + call.out_channels < least_of_both) {
    return false;
  }
  const std::int64_t direct = product(call.window.size) * call.batch * points(call);
  return 27 * winograd_products(winograd) <= (is_planar ? 16 : 24) * direct;
}

// [matrices, in, out] of a plain filter.
HloInstruction* winograd_filter(HloInstruction* filter, const kernels::WinogradCall& winograd) {
  const ConvolutionCall& call = winograd.convolution;
  const kernels::Window& w = call.window;
  const std::int64_t matrices = kernels::winograd_matrices(winograd);
  const std::int64_t columns = kernels::winograd_inputs(winograd, 2);
  const std::int64_t taps = product(w.size);
  const auto factor = [&](int dimension, std::int64_t number, std::int64_t tap) {
    if (w.size[dimension] != kernels::kWinogradSize) return 1.0;
    return kernels::winograd_factor(winograd.results, number, tap);
  };
  xla::Array2D<float> factors(matrices, taps);
  factors.Each([&](std::int64_t matrix, std::int64_t tap, float* one) {
    *one = static_cast<float>(factor(1, matrix / columns, tap / w.size[2]) *
                              factor(2, matrix % columns, tap % w.size[2]));
  });
  HloInstruction* const left =
      constant_next_to(filter, xla::LiteralUtil::CreateR2FromArray2D(factors));
  HloInstruction* const right = reshape(filter, {taps, call.in_channels * call.out_channels});
  return reshape(contract(left, 1, right, 0), {matrices, call.in_channels, call.out_channels});
}

// `may_use_winograd`: the filter is known and may become larger, and results may round with those
// of their tile. `is_bfloat16`: numbers are multiplied so, where the kernel of that can.
KernelCall kernel_call(const ConvolutionCall& call, HloInstruction* input, HloInstruction* filter,
                       bool may_use_winograd, bool is_bfloat16) {
  if (may_use_winograd && type_of(*input) == xla::F32 && call.groups == 1 &&
      kernels::is_for_winograd(call.window)) {
    const kernels::WinogradCall winograd = best_tiles(call);
    if (is_faster_by_winograd(winograd)) {
      return {Kernel::kWinogradConvolution,
              as_words(winograd),
              {input, pack(winograd_filter(filter, winograd))}};
    }
  }
  if (is_depthwise(call)) {
    return {Kernel::kDepthwise, as_words(call), {input, filter}};
  }
  if (is_of_groups(call)) {
    return {Kernel::kGroupedConvolution, as_words(call), {input, filter}};
  }
  if (has_base_dilation(call.window)) {
    return {Kernel::kTransposedConvolution,
            as_words(call),
            {input, pack_together(pack_phases(filter, call))}};
  }
  HloInstruction* const matrices = filter_matrices(filter, call);
  if (is_bfloat16 && call.groups == 1) return bfloat16_call(call, input, matrices);
  HloInstruction* packed = pack(matrices);
  if (!is_product(call)) {
    return {Kernel::kConvolution, as_words(call), {input, packed}};
  }
  kernels::MatMulCall matmul{};
  matmul.batch = 1;
  matmul.rows = call.batch * points(call);
  matmul.columns = call.out_channels;
  matmul.depth = matmul.lhs_row_stride = call.in_channels;
  matmul.lhs_depth_stride = 1;
  matmul.rhs_packed = 1;
  matmul.epilogue = call.epilogue;
  return {Kernel::kMatMul, as_words(matmul), {input, packed}};
}

// ---- Pools.

// Terms of a sum, one after the other: rounding errors grow with them.
constexpr std::int64_t kMostSummed = 512;

// The kernel for a window or a reduction; none: there is none.
std::optional<Kernel> kernel_of(const HloInstruction& pool) {
  if (reduces_by(pool, kAdd)) return Kernel::kSumPool;
  if (!reduces_by(pool, kMaximum)) return std::nullopt;
  // A NaN stays in a maximum of all, as in TensorFlow's reductions.
  return pool.opcode() == kReduce ? Kernel::kLargestPool : Kernel::kMaxPool;
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
         x.opcode() == kBroadcast || x.opcode() == kReduce;
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
  return add_kernel_call({Kernel::kFunctionPool, as_words(with_function), {x}, call.result}, pool);
}

// ---- Facts.

// Taps of a position, on average.
double taps_of(const kernels::Window& window) {
  return static_cast<double>(met_taps(window)) / static_cast<double>(product(window.out));
}

// "28 x 28": a window's last dimensions, without the leading ones that are always 1.
std::string extent(const std::int64_t (&sizes)[kernels::kSpatial]) {
  std::size_t first = 0;
  while (first + 1 < kernels::kSpatial && sizes[first] == 1) ++first;
  return fmt::format("{}", fmt::join(sizes + first, sizes + kernels::kSpatial, " x "));
}

// Any convolution, as a product of each group: calls have a ConvolutionCall, or begin with one.
struct ConvolutionFacts {
  using Call = ConvolutionCall;

  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    return reads_images(call.batch, one, rows, addends_of(call.epilogue));
  }
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    const std::int64_t channels = call.in_channels / call.groups;  // of a group
    const double depth = taps_of(call.window) * static_cast<double>(channels);
    const ProductSize size{call.batch * product(call.window.out), call.out_channels / call.groups,
                           static_cast<std::int64_t>(std::ceil(depth)),
                           element_bytes(*one.operand(1))};
    const auto groups = static_cast<double>(call.groups);
    return call_cycles(one, speed) +
           groups * speed.multiply(size, bytes_of(one.operand(2)->shape()) / groups);
  }
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    return {fmt::format("{} of {} x {}, to {} x {}{}", extent(call.window.size),
                        extent(call.window.in), call.in_channels, extent(call.window.out),
                        call.out_channels, epilogue_text(call.epilogue)),
            2 * call.batch * met_taps(call.window) * call.out_channels *
                (call.in_channels / call.groups)};
  }
  static bool takes_function(const Call& /*call*/) { return true; }
};

// Whole numbers have more operands before the addends.
struct LowPrecisionFacts : ConvolutionFacts {
  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    const std::int64_t addends = addends_of(call.epilogue);
    return reads_images(call.batch, one, rows,
                        addends == 0 ? 0 : addends + operands_before_bias(one));
  }
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    if (is_depthwise(call)) {
      constexpr double kNumbers = 4;  // of a word
      return call_cycles(one, speed) + speed.slide(std::ceil(taps_of(call.window) / kNumbers),
                                                   kNumbers * first_result_bytes(one));
    }
    const double depth = taps_of(call.window) * static_cast<double>(call.in_channels);
    const ProductSize size{call.batch * product(call.window.out), call.out_channels / call.groups,
                           static_cast<std::int64_t>(std::ceil(depth)), sizeof(float)};
    return call_cycles(one, speed) + speed.multiply(size, bytes_of(one.operand(2)->shape()));
  }
  static bool takes_function(const Call& /*call*/) { return true; }
};

struct WinogradFacts : ConvolutionFacts {
  // The products, and the transforms, which read and write their numbers once each.
  static double cycles(const Call& /*convolution*/, const HloInstruction& one,
                       const ProgramSpeed& speed) {
    const auto call = call_of<kernels::WinogradCall>(one);
    const auto matrices = static_cast<double>(kernels::winograd_matrices(call));
    const ProductSize size{kernels::winograd_tiles(call), call.convolution.out_channels,
                           call.convolution.in_channels, sizeof(float)};
    const auto numbers = static_cast<double>(size.rows * (size.depth + size.columns));
    const double moved = matrices * numbers * sizeof(float) / speed.machine().vector_bytes;
    return call_cycles(one, speed) +
           (matrices * speed.multiply(size, bytes_of(one.operand(2)->shape()) / matrices) +
            2 * moved * kPlainCycles);
  }
};

// Each channel or group is convolved by itself.
struct ChannelConvolutionFacts : ConvolutionFacts {
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    const std::int64_t inputs = call.in_channels / call.groups;
    return call_cycles(one, speed) +
           speed.slide(static_cast<double>(inputs) * taps_of(call.window), first_result_bytes(one));
  }
  static bool takes_function(const Call& call) { return !has_base_dilation(call.window); }
};

// Any pooling: calls have a PoolCall, or begin with one.
struct PoolFacts {
  using Call = kernels::PoolCall;

  static bool keeps_rows(const Call& call, const HloInstruction& one, const BatchRows& rows) {
    return reads_images(call.batch, one, rows);
  }
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    return call_cycles(one, speed) + speed.slide(taps_of(call.window), first_result_bytes(one));
  }
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    return {fmt::format("{} of {}, to {}, {} channels", extent(call.window.size),
                        extent(call.window.in), extent(call.window.out), call.channels),
            call.batch * met_taps(call.window) * call.channels};
  }
};

}  // namespace

constinit const KernelFacts kConvolutionFacts = facts_of<ConvolutionFacts>();
constinit const KernelFacts kTransposedConvolutionFacts = facts_of<ConvolutionFacts>();
constinit const KernelFacts kLowPrecisionFacts = facts_of<LowPrecisionFacts>();
constinit const KernelFacts kWinogradConvolutionFacts = facts_of<WinogradFacts>();
constinit const KernelFacts kDepthwiseFacts = facts_of<ChannelConvolutionFacts>();
constinit const KernelFacts kGroupedConvolutionFacts = facts_of<ChannelConvolutionFacts>();
constinit const KernelFacts kFunctionPoolFacts = facts_of<PoolFacts>();
constinit const KernelFacts kLargestPoolFacts = facts_of<PoolFacts>();
constinit const KernelFacts kMaxPoolFacts = facts_of<PoolFacts>();
constinit const KernelFacts kRangePoolFacts = facts_of<PoolFacts>();
constinit const KernelFacts kSumPoolFacts = facts_of<PoolFacts>();

Status replace_convolution(HloInstruction& convolution, PassContext& context) {
  if (convolution.opcode() != kConvolution) return {};
  const WeightValues& values = context.values();
  if (values.is_known(&convolution)) return {};
  if (!has_convolution_kernel(convolution)) {
    if (elements_of(convolution) > 0) {
      add_remark(context, convolution,
                 "no convolution: its operands are not all float32, or all float64, or it has "
                 "groups of images or too many dimensions");
    }
    return {};
  }
  const Choices& choices = context.choices;
  ConvolutionCall call = convolution_call(convolution);
  if (met_taps(call.window) == 0) return {};
  HloInstruction* filter = plain_filter(convolution.mutable_operand(1), convolution);
  const Dimensions result_order = output_order(convolution);

  Epilogue epilogue;
  epilogue.last = &convolution;
  if (std::ranges::is_sorted(result_order)) {
    epilogue = find_epilogue(
        convolution, call.out_channels,
        {.scale = values.is_known(convolution.operand(1)),
         .sum = !is_depthwise(call) && !is_of_groups(call) && !has_base_dilation(call.window)},
        values);
  }
  call.epilogue = epilogue.word();
  if (epilogue.scale != nullptr) {
    filter = binary_along(kMultiply, filter, epilogue.scale, filter->shape().rank() - 1);
  }
  const bool may_use_winograd = choices.fast_math && choices.optimize == Optimization::kSpeed &&
                                values.is_known(convolution.operand(1));
  KernelCall made =
      kernel_call(call, transpose(convolution.mutable_operand(0), input_order(convolution)), filter,
                  may_use_winograd, is_for_bfloat16(*convolution.operand(1), context));
  made.result = picked(convolution.shape().dimensions(), result_order);
  epilogue.add_operands(made.operands);
  HloInstruction* result =
      transpose(add_kernel_call(made, convolution), xla::InversePermutation(result_order));
  return replace(*epilogue.last, result);
}

Status replace_pool(HloInstruction& pool, PassContext& context) {
  if (!is_for_kernels(pool) || pool.opcode() != kReduceWindow) return {};
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
    if (windows[d].base_dilation() != 1 || is_running_sum(windows[d])) {
      add_remark(context, pool,
                 fmt::format("no {}: its image is dilated, or each window goes back to the start",
                             name_of_kernel(*kernel)));
      return {};
    }
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
  if (reduce.opcode() != kReduce || !is_for_kernels(reduce) || reduce.dimensions().empty() ||
      context.values().is_known(&reduce)) {
    return {};
  }
  const std::optional<Kernel> kernel = kernel_of(reduce);
  if (!kernel) return {};
  const auto outer = static_cast<std::size_t>(reduce.dimensions().front());
  const auto summed = reduce.dimensions().size();
  for (std::size_t i = 0; i < summed; ++i) {
    if (reduce.dimensions()[i] != static_cast<std::int64_t>(outer + i)) {
      add_remark(context, reduce,
                 fmt::format("no {}: its dimensions are not neighbours, in order",
                             name_of_kernel(*kernel)));
      return {};
    }
  }
  const auto sizes = reduce.operand(0)->shape().dimensions();
  kernels::PoolCall call{};
  call.batch = product(sizes.subspan(0, outer));
  call.channels = product(sizes.subspan(outer + summed));
  const std::int64_t count = product(sizes.subspan(outer, summed));
  // More terms are summed in windows by XLA, which rounds otherwise. As the rows of a batch may be
  // channels, their number must not decide.
  constexpr std::int64_t kMostInOrder = 32;
  const bool is_in_windows = *kernel == Kernel::kSumPool && count > kMostInOrder;
  if ((*kernel == Kernel::kSumPool && count > kMostSummed) ||
      call.channels < (is_in_windows ? 2 : tuned().pool_fewest_channels) ||
      is_better_in_a_loop(*before_reshapes(reduce.operand(0)), *kernel, count)) {
    return {};
  }
  xla::WindowDimension window;
  window.set_size(count);
  window.set_stride(1);
  window.set_window_dilation(1);
  window.set_base_dilation(1);
  call.window = kernel_window({{&window, count, 1}});
  return replace_by_call(reduce, {*kernel, as_words(call), {reduce.mutable_operand(0)}});
}

}  // namespace tfaot::toolkit::engine
