// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/kernel_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "compiler/kernels/kernel_call.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::ConvolutionCall;
using kernels::MatMulCall;
using kernels::RecurrentCall;

// Facts about calls of a kernel whose structs are known:
//   keeps_rows()      as of kernel_facts.h
//   cycles()          as kernel_cycles(); most are those of moving() and something else
//   work()            as kernel_work(), without its epilogue's function and rows of padding
//   takes_function()  of kernels with an epilogue
//   kGates            of recurrent cells
template <Kernel kernel>
struct KernelFacts;
// Those of its family.
#define TFAOT_FACTS(kernel, Family) \
  template <>                       \
  struct KernelFacts<Kernel::kernel> : Family {};

// ---- Parts that calls have in common.

// The operand after the bias, where there is one.
std::int64_t after_bias(std::int64_t epilogue) {
  constexpr auto kAnyBias = kernels::kEpilogueBias | kernels::kEpilogueRowBias;
  return (epilogue & kAnyBias) != 0 ? 4 : 3;
}
// The operand that is added to the results; 0: there is none.
std::int64_t addends_of(std::int64_t epilogue) {
  return (epilogue & kernels::kEpilogueSum) != 0 ? after_bias(epilogue) : 0;
}

// True if all operands but the first are weights, and `addends`, unless it is 0, has rows as the
// results have.
bool others_are_weights(const HloInstruction& one, const BatchRows& rows,
                        std::int64_t addends = 0) {
  for (std::int64_t i = 2; i < one.operand_count(); ++i) {
    const Rows of = rows.of(one, i);
    if (of != Rows::kNone && !(i == addends && of == Rows::kInOrder)) return false;
  }
  return true;
}

bool is_first_in_order(const HloInstruction& one, const BatchRows& rows) {
  return rows.of(one, 1) == Rows::kInOrder;
}

double first_result_bytes(const HloInstruction& one) { return bytes_of(first_shape(one)); }

double function_cycles(std::int64_t kind, double bytes, const ProgramSpeed& speed) {
  if (kind == kernels::kFunctionNone) return 0;
  const bool is_plain = kind == kernels::kFunctionLeaky || kind == kernels::kFunctionHardSigmoid ||
                        kind == kernels::kFunctionHardSwish;
  return speed.vectors(bytes) * (is_plain ? kPlainCycles : kDearCycles);
}

// The call, its first operand, its results and their function.
double moving(const HloInstruction& one, const ProgramSpeed& speed) {
  const double result = first_result_bytes(one);
  return kCallCycles + speed.waiting(bytes_of(one.operand(1)->shape()) + result) +
         function_cycles(result_function(one).kind, result, speed);
}

const char* function_text(std::int64_t function) {
  static constexpr std::pair<std::int64_t, const char*> kTexts[] = {
      {kernels::kFunctionTanh, " tanh"},
      {kernels::kFunctionSigmoid, " sigmoid"},
      {kernels::kFunctionSwish, " swish"},
      {kernels::kFunctionGelu, " gelu"},
      {kernels::kFunctionGeluTanh, " gelu"},
      {kernels::kFunctionSoftplus, " softplus"},
      {kernels::kFunctionLeaky, " leaky relu"},
      {kernels::kFunctionElu, " elu"},
      {kernels::kFunctionHardSigmoid, " hard sigmoid"},
      {kernels::kFunctionHardSwish, " hard swish"},
  };
  for (const auto& [known, text] : kTexts) {
    if (known == function) return text;
  }
  return "";
}

const char* relu_text(std::int64_t epilogue) {
  return (epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6 ? " relu6"
         : (epilogue & kernels::kEpilogueRelu) != 0                      ? " relu"
                                                                         : "";
}

std::string epilogue_text(std::int64_t epilogue) {
  std::string text;
  if ((epilogue & kernels::kEpilogueBias) != 0) text += ", then a bias";
  if ((epilogue & kernels::kEpilogueRowBias) != 0) text += ", then a bias of each row";
  if ((epilogue & kernels::kEpilogueSum) != 0) text += ", then a sum";
  if ((epilogue & kernels::kEpilogueRelu) != 0) text += ", then" + std::string(relu_text(epilogue));
  return text;
}

// ---- Products.

struct ProductFacts {
  // A product of rows in order with a packed weight.
  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    const auto call = call_of<MatMulCall>(one);
    return call.batch == 1 && call.rhs_packed != 0 && rows.divide(call.rows) &&
           call.lhs_depth_stride == 1 && call.lhs_row_stride == call.depth &&
           is_first_in_order(one, rows) && others_are_weights(one, rows, addends_of(call.epilogue));
  }
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<MatMulCall>(one);
    const auto batch = static_cast<double>(call.batch);
    const ProductSize size{call.rows, call.columns, call.depth, element_bytes(*one.operand(1))};
    const double right = bytes_of(one.operand(2)->shape());
    if (call.rhs_packed == 0) {
      return moving(one, speed) + speed.waiting(right) +
             batch * product_cycles(speed.machine(), size);
    }
    return moving(one, speed) + batch * speed.multiply(size, right);
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<MatMulCall>(one);
    return {fmt::format("{}{} x {} by {} x {}, {}{}",
                        call.batch == 1 ? "" : fmt::format("{} times ", call.batch), call.rows,
                        call.depth, call.depth, call.columns,
                        call.rhs_packed != 0 ? "packed weights" : "packed at each call",
                        epilogue_text(call.epilogue)),
            2 * call.batch * call.rows * call.columns * call.depth};
  }
  static bool takes_function(const HloInstruction& /*one*/) { return true; }
};
TFAOT_FACTS(kMatMul, ProductFacts)
template <>
struct KernelFacts<Kernel::kNarrowMatMul> : ProductFacts {
  static bool takes_function(const HloInstruction& /*one*/) { return false; }
};

template <>
struct KernelFacts<Kernel::kDenseChain> {
  using Call = kernels::DenseChainCall;

  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    return rows.divide(call_of<Call>(one).rows) && is_first_in_order(one, rows) &&
           others_are_weights(one, rows);
  }
  // The products and functions of all layers. Data between them stays in the first-level cache.
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<Call>(one);
    ProductSize size{call.rows, 0, call.depth, sizeof(float)};
    double sum = 0;
    for (const kernels::DenseLayer& layer : dense_layers(one)) {
      size.columns = layer.columns;
      const auto weights =
          static_cast<double>(kernels::panel_count(size.columns, size.element_bytes) *
                              kernels::kPanelBytes * size.depth);
      sum +=
          speed.multiply(size, weights) + (sum > 0 && weights > kSmallLayerBytes ? kCallCycles : 0);
      sum += function_cycles(layer.function.kind,
                             static_cast<double>(size.rows * size.columns * size.element_bytes),
                             speed);
      size.depth = size.columns;
    }
    return moving(one, speed) + sum;
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<Call>(one);
    std::vector<std::string> layers;
    std::int64_t weights = 0;
    std::int64_t depth = call.depth;
    for (const kernels::DenseLayer& layer : dense_layers(one)) {
      layers.push_back(fmt::format("{}{}{}", layer.columns, relu_text(layer.epilogue),
                                   function_text(layer.function.kind)));
      weights += depth * layer.columns;
      depth = layer.columns;
    }
    return {
        fmt::format("{} x {} through layers of {}", call.rows, call.depth, fmt::join(layers, ", ")),
        2 * call.rows * weights};
  }
};

template <>
struct KernelFacts<Kernel::kAttention> {
  using Call = kernels::AttentionCall;

  // As of a product of two sides that depend on the batch.
  static bool keeps_rows(const HloInstruction& /*one*/, const BatchRows& /*rows*/) { return false; }
  // Two products, and a softmax of the scores between them.
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<Call>(one);
    const ProductSize scores{call.rows, call.keys, call.depth, sizeof(float)};
    const ProductSize sums{call.rows, call.columns, call.keys, sizeof(float)};
    const double score_bytes = static_cast<double>(call.rows * call.keys) * sizeof(float);
    const double all =
        speed.waiting(bytes_of(one.operand(2)->shape()) + bytes_of(one.operand(3)->shape())) +
        static_cast<double>(call.batch) *
            (product_cycles(speed.machine(), scores) + product_cycles(speed.machine(), sums) +
             speed.vectors(score_bytes) * kDearCycles);
    return moving(one, speed) + all;
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<Call>(one);
    return {fmt::format("{} times {} queries x {} by {} keys, values of {}", call.batch, call.rows,
                        call.depth, call.keys, call.columns),
            2 * call.batch * call.rows * call.keys * (call.depth + call.columns)};
  }
};

// ---- Windows over images.

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

// Images that lie one after the other. REQUIRES: the call's first member counts them.
bool reads_images(const HloInstruction& one, const BatchRows& rows, std::int64_t addends = 0) {
  return is_first_in_order(one, rows) && others_are_weights(one, rows, addends) &&
         rows.divide(call_words(one).front());
}

// Any convolution: calls have a ConvolutionCall, or begin with one.
struct ConvolutionFacts {
  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    return reads_images(one, rows, addends_of(call_of<ConvolutionCall>(one).epilogue));
  }
  // A product of each group.
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<ConvolutionCall>(one);
    const std::int64_t channels = call.in_channels / call.groups;  // of a group
    const double depth = taps_of(call.window) * static_cast<double>(channels);
    const ProductSize size{call.batch * product(call.window.out), call.out_channels / call.groups,
                           static_cast<std::int64_t>(std::ceil(depth)),
                           element_bytes(*one.operand(1))};
    const auto groups = static_cast<double>(call.groups);
    return moving(one, speed) +
           groups * speed.multiply(size, bytes_of(one.operand(2)->shape()) / groups);
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<ConvolutionCall>(one);
    return {fmt::format("{} of {} x {}, to {} x {}{}", extent(call.window.size),
                        extent(call.window.in), call.in_channels, extent(call.window.out),
                        call.out_channels, epilogue_text(call.epilogue)),
            2 * call.batch * met_taps(call.window) * call.out_channels *
                (call.in_channels / call.groups)};
  }
  static bool takes_function(const HloInstruction& /*one*/) { return true; }
};
TFAOT_FACTS(kConvolution, ConvolutionFacts)
TFAOT_FACTS(kTransposedConvolution, ConvolutionFacts)
template <>
struct KernelFacts<Kernel::kWinogradConvolution> : ConvolutionFacts {
  // The products, and the transforms, which read and write their numbers once each.
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<kernels::WinogradCall>(one);
    const auto matrices = static_cast<double>(kernels::winograd_matrices(call));
    const ProductSize size{kernels::winograd_tiles(call), call.convolution.out_channels,
                           call.convolution.in_channels, sizeof(float)};
    const auto numbers = static_cast<double>(size.rows * (size.depth + size.columns));
    const double moved = matrices * numbers * sizeof(float) / speed.machine().vector_bytes;
    return moving(one, speed) +
           (matrices * speed.multiply(size, bytes_of(one.operand(2)->shape()) / matrices) +
            2 * moved * kPlainCycles);
  }
};

// Each channel or group is convolved by itself.
struct ChannelConvolutionFacts : ConvolutionFacts {
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<ConvolutionCall>(one);
    const std::int64_t inputs = call.in_channels / call.groups;
    return moving(one, speed) +
           speed.slide(static_cast<double>(inputs) * taps_of(call.window), first_result_bytes(one));
  }
  static bool takes_function(const HloInstruction& one) {
    return !has_base_dilation(call_of<ConvolutionCall>(one).window);
  }
};
TFAOT_FACTS(kDepthwise, ChannelConvolutionFacts)
TFAOT_FACTS(kGroupedConvolution, ChannelConvolutionFacts)

// Any pooling: calls have a PoolCall, or begin with one.
struct PoolFacts {
  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    return reads_images(one, rows);
  }
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<kernels::PoolCall>(one);
    return moving(one, speed) + speed.slide(taps_of(call.window), first_result_bytes(one));
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<kernels::PoolCall>(one);
    return {fmt::format("{} of {}, to {}, {} channels", extent(call.window.size),
                        extent(call.window.in), extent(call.window.out), call.channels),
            call.batch * met_taps(call.window) * call.channels};
  }
};
TFAOT_FACTS(kFunctionPool, PoolFacts)
TFAOT_FACTS(kLargestPool, PoolFacts)
TFAOT_FACTS(kMaxPool, PoolFacts)
TFAOT_FACTS(kRangePool, PoolFacts)
TFAOT_FACTS(kSumPool, PoolFacts)

template <>
struct KernelFacts<Kernel::kResize> {
  using Call = kernels::ResizeCall;

  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    return reads_images(one, rows);
  }
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<Call>(one);
    const double result = first_result_bytes(one);
    const double lines =
        result * static_cast<double>(call.in[1]) / static_cast<double>(call.out[1]);
    return moving(one, speed) + speed.slide(static_cast<double>(call.taps[0]), lines) +
           speed.slide(static_cast<double>(call.taps[1]), result);
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<Call>(one);
    const std::int64_t rows = call.out[0] * call.in[1] * call.taps[0];
    const std::int64_t columns = call.out[0] * call.out[1] * call.taps[1];
    return {fmt::format("{} x {} to {} x {}, {} channels", call.in[0], call.in[1], call.out[0],
                        call.out[1], call.channels),
            2 * call.batch * call.channels * (rows + columns)};
  }
};

// ---- Functions of rows.

struct RowFunctionFacts {
  // Operands as large as the first are in order, too; the others are weights. The call's first
  // member counts rows, or elements.
  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    const auto size = elements_of(*one.operand(1));
    for (std::int64_t i = 1; i < one.operand_count(); ++i) {
      const bool is_like_first = elements_of(*one.operand(i)) == size;
      const Rows of = rows.of(one, i);
      if (of != Rows::kNone && !(is_like_first && of == Rows::kInOrder)) return false;
    }
    return rows.divide(call_words(one).front());
  }
  static double over_vectors(const HloInstruction& one, const ProgramSpeed& speed, double each) {
    return moving(one, speed) + speed.vectors(bytes_of(one.operand(1)->shape())) * each;
  }
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    return over_vectors(one, speed, kDearCycles);
  }
  static KernelWork work(const HloInstruction& one) {
    const auto words = call_words(one);
    return {fmt::format("{} rows of {}", words[0], words[1])};
  }
};
TFAOT_FACTS(kSoftmax, RowFunctionFacts)
template <>
struct KernelFacts<Kernel::kGelu> : RowFunctionFacts {
  static KernelWork work(const HloInstruction& one) {
    return {fmt::format("{} elements", call_of<kernels::GeluCall>(one).size)};
  }
};
template <>
struct KernelFacts<Kernel::kRowSum> : RowFunctionFacts {
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    return over_vectors(one, speed, kPlainCycles);
  }
};
template <>
struct KernelFacts<Kernel::kLayerNorm> : RowFunctionFacts {
  // Mean, variance, result.
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    return over_vectors(one, speed, 3 * kPlainCycles);
  }
};
template <>
struct KernelFacts<Kernel::kGroupNorm> : KernelFacts<Kernel::kLayerNorm> {
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<kernels::GroupNormCall>(one);
    return {fmt::format("{} times {} points, {} groups of {} channels", call.batch, call.points,
                        call.groups, call.channels)};
  }
};

// ---- Recurrent cells.

template <std::int64_t kProducts>
struct RecurrentFacts {
  static constexpr std::int64_t kGates = kProducts;

  // All steps of a row lie together, in its operand and in its result.
  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    const auto call = call_of<RecurrentCall>(one);
    const auto may_be = [&](std::int64_t operand) { return rows.of(one, operand) != Rows::kMixed; };
    return rows.divide(call.rows) && is_first_in_order(one, rows) &&
           call.x_row * call.rows == elements_of(*one.operand(1)) &&
           rows.of(one, 2) == Rows::kNone && rows.of(one, 3) == Rows::kNone && may_be(4) &&
           (one.operand_count() < 6 || may_be(5)) && call.memory_out < 0 &&
           call.out_row * call.rows == xla::ShapeUtil::ElementsIn(one.shape().tuple_shapes(0));
  }
  // All steps' products with the state, and the functions of the gates.
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<RecurrentCall>(one);
    const ProductSize size{call.rows, kGates * call.hidden, call.features + call.hidden,
                           element_bytes(*one.operand(1))};
    const auto state = static_cast<double>(call.rows * call.hidden * size.element_bytes);
    const double functions = speed.vectors(state) * static_cast<double>(kGates + 1) * kDearCycles;
    return moving(one, speed) +
           static_cast<double>(call.steps) *
               (speed.multiply(size, bytes_of(one.operand(2)->shape())) + functions);
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<RecurrentCall>(one);
    const std::int64_t depth = call.features + call.hidden;
    return {fmt::format("{} steps of {} rows, state of {}", call.steps, call.rows, call.hidden),
            2 * call.steps * call.rows * depth * kGates * call.hidden};
  }
};
TFAOT_FACTS(kLstm, RecurrentFacts<4>)
TFAOT_FACTS(kGru, RecurrentFacts<3>)
TFAOT_FACTS(kRnn, RecurrentFacts<1>)

// ---- Places and order of elements.

template <>
struct KernelFacts<Kernel::kTopK> {
  using Call = kernels::TopKCall;

  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    return rows.divide(call_of<Call>(one).rows);
  }
  // Each element of rows in lanes is compared with the first ones, or with all others, or they are
  // sorted.
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const auto call = call_of<Call>(one);
    const std::int64_t bytes = element_bytes(*one.operand(1));
    const auto rows = static_cast<double>(call.rows), size = static_cast<double>(call.size);
    const double lanes = speed.machine().vector_bytes / static_cast<double>(bytes);
    if (bytes == sizeof(float) && are_rows_together(call, static_cast<std::int64_t>(lanes))) {
      return moving(one, speed) +
             rows * size * (kLaneCycles + static_cast<double>(call.count) * kFirstCycles) / lanes;
    }
    return moving(one, speed) + rows * size *
                                    std::min(std::ceil(size / lanes) * kMeetCycles,
                                             static_cast<double>(bytes) * kSortByteCycles);
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<Call>(one);
    const bool is_descending = (call.order & kernels::kTopKDescending) != 0;
    return {fmt::format("{} {} of {}, in {} rows", is_descending ? "largest" : "smallest",
                        call.count, call.size, call.rows)};
  }
};

template <>
struct KernelFacts<Kernel::kGather> {
  using Call = kernels::GatherCall;

  // Each part takes rows of a table, or of a tensor in order.
  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    const std::int64_t count = call_of<Call>(one).rows;
    const auto is_walked = [&](std::int64_t operand, std::int64_t step) {
      return rows.of(one, operand) == Rows::kNone ||
             step * count == elements_of(*one.operand(operand));
    };
    return rows.divide(count) &&
           std::ranges::all_of(gather_parts(one), [&](const kernels::GatherPart& part) {
             if (part.place_type == kernels::kPlacesInOrder) return is_walked(part.x, part.x_step);
             return rows.of(one, part.x) == Rows::kNone && is_walked(part.places, part.place_step);
           });
  }
  // Reads as much as it writes, however large the tables are.
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    return kCallCycles + speed.waiting(2 * first_result_bytes(one));
  }
  static KernelWork work(const HloInstruction& one) {
    const auto call = call_of<Call>(one);
    if (call.parts > 1) {
      return {fmt::format("{} rows of {} parts, of {} elements", call.rows, call.parts, call.row)};
    }
    return {fmt::format("{} of {} rows, of {} elements", call.rows,
                        gather_parts(one).front().x_rows, call.row)};
  }
};

template <>
struct KernelFacts<Kernel::kAddRows> {
  // Nobody needed it yet: products after it compute rows of padding, too.
  static bool keeps_rows(const HloInstruction& /*one*/, const BatchRows& /*rows*/) { return false; }
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    return moving(one, speed);
  }
  static KernelWork work(const HloInstruction& /*one*/) { return {}; }
};

// ---- Trees.

template <>
struct KernelFacts<Kernel::kForest> {
  using Call = kernels::ForestCall;

  static bool keeps_rows(const HloInstruction& one, const BatchRows& rows) {
    return rows.divide(call_of<Call>(one).rows) && is_first_in_order(one, rows) &&
           others_are_weights(one, rows);
  }
  static double cycles(const HloInstruction& one, const ProgramSpeed& speed) {
    const double steps = static_cast<double>(forest_size(one).steps) * kTreeStepCycles;
    return moving(one, speed) +
           std::max(steps, bytes_of(one.operand(2)->shape()) * speed.weight_cycles());
  }
  static KernelWork work(const HloInstruction& one) {
    const ForestSize size = forest_size(one);
    return {fmt::format("{} rows through {} trees, at most {} steps", call_of<Call>(one).rows,
                        size.trees, size.depth),
            size.steps};
  }
};

// ---- Facts that structs hold by themselves.

// The struct of a kernel's calls, and where it has kEpilogueShared.
template <Kernel kernel>
struct RowOf;
#define TFAOT_KERNEL_ROW(kernel, name, types, call_type, shared_member)                            \
  template <>                                                                                      \
  struct RowOf<Kernel::kernel> {                                                                   \
    using Call = kernels::call_type;                                                               \
    static const std::int64_t* shared([[maybe_unused]] const Call& call) { return shared_member; } \
  };
#include "tfaot/kernels/kernels.def"

// The part of a struct that has the epilogue and the live rows.
template <typename Call>
Call& core(Call& call) {
  return call;
}
MatMulCall& core(kernels::NarrowMatMulCall& call) { return call.product; }
ConvolutionCall& core(kernels::WinogradCall& call) { return call.convolution; }

template <typename Call>
concept HasEpilogue = requires(Call& call) {
  core(call).epilogue;
};

// Rows or images that count, for each row of the batch.
template <typename Call>
requires requires(Call& call) { call.live_rows = call.rows; }
void set_live(Call& call, std::int64_t batch) { call.live_rows = call.rows / batch; }
void set_live(ConvolutionCall& call, std::int64_t batch) {
  call.live_images = call.batch / batch;
  call.epilogue |= kernels::kEpilogueLive;
}

template <typename Call>
requires requires(const Call& call) { call.live_rows; }
bool is_live(const Call& call) { return call.live_rows != 0; }
bool is_live(const ConvolutionCall& call) { return (call.epilogue & kernels::kEpilogueLive) != 0; }

template <typename Call>
concept MaySkipPadding = requires(Call& call) {
  set_live(core(call), 1);
  is_live(core(call));
};

template <typename Call>
std::optional<std::size_t> word_at(const Call& call, const std::int64_t* member) {
  if (member == nullptr) return std::nullopt;
  return static_cast<std::size_t>(member - reinterpret_cast<const std::int64_t*>(&call));
}

// ---- From kernels known only while compiling a model.

// The result of `visit` for the facts and the row of the kernel; nothing if it is not a call of a
// kernel, or if its struct is not known.
template <typename Visit>
auto with_facts(const HloInstruction& one, Visit visit) {
  using Result = decltype(visit(KernelFacts<Kernel::kMatMul>(), RowOf<Kernel::kMatMul>()));
  const auto called = called_kernel(one);
  if (!called || !one.operand(0)->IsConstant()) return Result();
  switch (*called) {
#define TFAOT_KERNEL_ROW(kernel, name, types, call, shared) \
  case Kernel::kernel:                                      \
    return visit(KernelFacts<Kernel::kernel>(), RowOf<Kernel::kernel>());
#include "tfaot/kernels/kernels.def"
  }
  return Result();
}

// Where the call has kEpilogueShared; none: it cannot share.
std::optional<std::size_t> word_of_sharing(const HloInstruction& kernel) {
  return with_facts(kernel, [](auto /*facts*/, auto row) {
    const typename decltype(row)::Call call{};
    return word_at(call, row.shared(call));
  });
}

}  // namespace

double kernel_cycles(const HloInstruction& kernel, const ProgramSpeed& speed) {
  const auto cycles = with_facts(
      kernel, [&](auto facts, auto /*row*/) { return std::optional(facts.cycles(kernel, speed)); });
  return cycles ? *cycles : moving(kernel, speed);
}

KernelWork kernel_work(const HloInstruction& kernel) {
  KernelWork work =
      with_facts(kernel, [&](auto facts, auto /*row*/) { return facts.work(kernel); });
  const std::int64_t function = result_function(kernel).kind;
  if (function != kernels::kFunctionNone) {
    work.text += fmt::format(", then{}", function_text(function));
  }
  if (skips_padding(kernel)) work.text += ", skips rows of padding";
  return work;
}

bool keeps_rows(const HloInstruction& kernel, const BatchRows& rows) {
  return with_facts(kernel,
                    [&](auto facts, auto /*row*/) { return facts.keeps_rows(kernel, rows); });
}

std::vector<std::int64_t> live_words(const HloInstruction& kernel, const BatchRows& rows) {
  return with_facts(kernel, [&](auto facts, auto row) -> std::vector<std::int64_t> {
    using Call = typename decltype(row)::Call;
    if constexpr (MaySkipPadding<Call>) {
      if (!facts.keeps_rows(kernel, rows)) return {};
      auto call = call_of<Call>(kernel);
      set_live(core(call), rows.batch);
      std::vector<std::int64_t> words = call_words(kernel);
      std::ranges::copy(as_words(call), words.begin());
      return words;
    }
    return {};
  });
}

bool skips_padding(const HloInstruction& kernel) {
  return with_facts(kernel, [&](auto /*facts*/, auto row) {
    using Call = typename decltype(row)::Call;
    if constexpr (MaySkipPadding<Call>) {
      auto call = call_of<Call>(kernel);
      return is_live(core(call));
    }
    return false;
  });
}

std::vector<std::int64_t> shared_words(const HloInstruction& kernel) {
  const auto word = word_of_sharing(kernel);
  if (!word) return {};
  std::vector<std::int64_t> words = call_words(kernel);
  if (*word >= words.size()) return {};
  words.at(*word) |= kernels::kEpilogueShared;
  return words;
}

bool is_shared(const HloInstruction& kernel) {
  const auto word = word_of_sharing(kernel);
  if (!word) return false;
  const std::vector<std::int64_t> words = call_words(kernel);
  return *word < words.size() && (words[*word] & kernels::kEpilogueShared) != 0;
}

std::int64_t lane_bytes(const xla::HloModule& module) {
  std::int64_t most = 0;
  for (const auto* one : module.entry_computation()->instructions()) {
    if (is_shared(*one)) most = std::max(most, kernel_scratch_bytes(*one));
  }
  return most;
}

std::optional<std::size_t> word_of_epilogue(const HloInstruction& kernel) {
  return with_facts(kernel, [](auto /*facts*/, auto row) -> std::optional<std::size_t> {
    using Call = typename decltype(row)::Call;
    if constexpr (HasEpilogue<Call>) {
      Call call{};
      return word_at(call, &core(call).epilogue);
    }
    return std::nullopt;
  });
}

bool takes_function(const HloInstruction& kernel) {
  return with_facts(kernel, [&](auto facts, auto row) {
    // Functions are for float32 alone.
    if constexpr (HasEpilogue<typename decltype(row)::Call>) {
      return type_of(*kernel.operand(1)) == xla::F32 && facts.takes_function(kernel);
    }
    return false;
  });
}

kernels::ResultFunction result_function(const HloInstruction& kernel) {
  kernels::ResultFunction function{kernels::kFunctionNone, 1, 1};
  if (is_call_of(kernel, Kernel::kFunctionPool)) {
    return call_of<kernels::FunctionPoolCall>(kernel).function;
  }
  const auto word = word_of_epilogue(kernel);
  const std::int64_t epilogue = word ? call_words(kernel).at(*word) : 0;
  if ((epilogue & kernels::kEpilogueFunction) == 0) return function;
  const std::int64_t after_sum = (epilogue & kernels::kEpilogueSum) != 0 ? 1 : 0;
  const HloInstruction* const operand = kernel.operand(after_bias(epilogue) + after_sum);
  if (!operand->IsConstant()) return function;
  const auto words = operand->literal().data<std::int64_t>();
  std::memcpy(&function, words.data(), sizeof function);
  return function;
}

std::int64_t recurrent_gates(const HloInstruction& kernel) {
  return with_facts(kernel, [](auto facts, auto /*row*/) -> std::int64_t {
    if constexpr (requires { facts.kGates; }) return facts.kGates;
    return 0;
  });
}

std::int64_t recurrent_panels(const HloInstruction& kernel) {
  return recurrent_gates(kernel) == 1 ? 2 : 1;
}

}  // namespace tfaot::toolkit::engine
