// SPDX-License-Identifier: Apache-2.0
// Our kernels, every level this machine runs.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "candidates.h"
#include "layer_shapes.h"
#include "measure.h"
#include "row_shapes.h"
#include "selection_shapes.h"
#include "shapes.h"
#include "tests/support/kernel_levels.h"
#include "tfaot/kernels/abi.h"
#include "window_shapes.h"

namespace tfaot::kernels_benchmark {
namespace {

using kernels_test::Kernel;
using kernels_test::Level;

template <typename T>
void measure_product(const std::string& operation, const std::string& level, Kernel kernel,
                     const Product& p) {
  constexpr Int kBytes = sizeof(T);
  kernels::MatMulCall c = {};
  c.batch = p.batch;
  c.rows = p.rows;
  c.columns = p.columns;
  c.depth = p.depth;
  c.lhs_batch_stride = p.rows * p.depth;
  c.lhs_row_stride = p.depth;
  c.lhs_depth_stride = 1;
  c.rhs_packed = p.packed ? 1 : 0;
  c.rhs_batch_stride = p.depth * p.columns;
  // Attention: scores are a product with the transposed keys, results one with the values.
  c.rhs_depth_stride = p.columns < p.depth ? 1 : p.columns;
  c.rhs_column_stride = p.columns < p.depth ? p.depth : 1;
  c.epilogue = p.packed ? kernels::kEpilogueBias | kernels::kEpilogueRelu : 0;
  const auto lhs = numbers<T>(p.batch * p.rows * p.depth), bias = numbers<T>(p.columns);
  const auto rhs = numbers<T>(p.packed ? kernels::panel_count(p.columns, kBytes) * p.depth *
                                             kernels::panel_columns(kBytes)
                                       : p.batch * p.depth * p.columns);
  const auto result = numbers<T>(p.batch * p.rows * p.columns);
  const auto scratch = numbers<T>(kernels::matmul_scratch_bytes(c, kBytes) / kBytes);
  const auto run = [=] {
    void* out[] = {result.get(), scratch.get()};
    const void* in[] = {&c, lhs.get(), rhs.get(), bias.get()};
    kernel(out, in);
  };
  measure(operation + "/" + p.name() + "/" + level, p.operations(), run);
}

// `type`: of kernels::NarrowType; 0: float32.
void measure_layers(const Level& level, const char* type_name, Int type, const Layers& l) {
  kernels::NarrowMatMulCall c = {};
  c.rhs_type = type;
  c.product.batch = 1;
  c.product.rows = l.rows;
  c.product.columns = c.product.depth = c.product.lhs_row_stride = l.width;
  c.product.lhs_depth_stride = 1;
  c.product.rhs_packed = 1;
  const Int bytes = type == 0 ? 4 : kernels::narrow_bytes(type);
  std::vector<std::shared_ptr<float>> weights;
  const Int size = l.width * l.width * bytes;
  for (Int i = 0; i < l.count; ++i) {
    weights.push_back(floats(size / 4));
    std::memset(weights.back().get(), 0x3C,
                static_cast<std::size_t>(size));  // a plain number in each type
  }
  const auto lhs = floats(l.rows * l.width), result = floats(l.rows * l.width);
  const auto scale = floats(l.width);
  const auto scratch = floats(kernels::narrow_scratch_bytes(c) / 4);
  const auto run = [=, kernel = type == 0 ? level.f32.matmul : level.f32.narrow_matmul] {
    for (const auto& one : weights) {
      void* out[] = {result.get(), scratch.get()};
      const void* in[] = {&c, lhs.get(), one.get(), scale.get()};
      kernel(out, in);
    }
  };
  measure(std::string("layers/") + l.name() + "/" + type_name + "/" + level.name, l.operations(),
          run);
}

kernels::Window window_of(Int size, Int window, Int stride) {
  kernels::Window w = {};
  for (int d = 0; d < kernels::kSpatial; ++d) {
    const bool used = d > 0;
    w.in[d] = used ? size : 1;
    w.out[d] = used ? size / stride : 1;
    w.size[d] = used ? window : 1;
    w.stride[d] = used ? stride : 1;
    w.pad_low[d] = w.pad_high[d] = used && stride == 1 ? window / 2 : 0;
    w.base_dilation[d] = w.window_dilation[d] = 1;
  }
  return w;
}

// The same convolution of bfloat16 and of whole numbers.
void measure_low_precision(const Level& level, const std::string& name, double operations,
                           const kernels::ConvolutionCall& convolution) {
  for (const Int type : {kernels::kElementFloat32, kernels::kElementUint8}) {
    const bool is_whole = type != kernels::kElementFloat32;
    kernels::LowPrecisionCall c = {};
    c.convolution = convolution;
    c.input_type = c.result_type = type;
    c.most = 255;
    c.addend_type = kernels::kElementFloat32;
    const Int pixels =
        c.convolution.batch * c.convolution.window.in[1] * c.convolution.window.in[2];
    const Int points =
        c.convolution.batch * c.convolution.window.out[1] * c.convolution.window.out[2];
    const auto input = floats(pixels * c.convolution.in_channels);
    const auto result = floats(points * c.convolution.out_channels);
    const auto filter = floats(kernels::panel_count(c.convolution.out_channels, 4) *
                               kernels::low_precision_words(c) * 16);
    const auto offset = floats(c.convolution.out_channels);
    const auto scratch = floats(kernels::low_precision_scratch_bytes(c) / 4);
    measure(name + "/" + level.name + (is_whole ? "_int8" : "_bfloat16"), operations,
            [=, kernel = level.f32.low_precision] {
              void* out[] = {result.get(), scratch.get()};
              const void* in[] = {&c, input.get(), filter.get(), offset.get(), offset.get()};
              kernel(out, in);
            });
  }
}

void measure_image(const Level& level, const Image& i) {
  kernels::ConvolutionCall c = {};
  c.batch = i.batch;
  c.window = window_of(i.size, i.window, 1);
  c.in_channels = i.in_channels;
  c.out_channels = i.out_channels;
  c.groups = i.depthwise ? i.in_channels : 1;
  const Int pixels = i.batch * i.size * i.size;
  const auto input = floats(pixels * i.in_channels), result = floats(pixels * i.out_channels);
  const auto filter =
      floats(kernels::panel_count(i.out_channels, 4) * i.window * i.window * i.in_channels * 16);
  const auto scratch = floats(kernels::convolution_scratch_bytes(c, 4) / 4);
  const auto run = [=, kernel = i.depthwise ? level.f32.depthwise : level.f32.convolution] {
    void* out[] = {result.get(), scratch.get()};
    const void* in[] = {&c, input.get(), filter.get()};
    kernel(out, in);
  };
  measure("convolution/" + i.name() + "/" + level.name, i.operations(), run);
  if (!i.depthwise) {
    measure_low_precision(level, "convolution/" + i.name(), i.operations(), c);
  }
  if (i.depthwise || !kernels::is_for_winograd(c.window)) return;
  for (const Int results : {2, 4}) {
    const kernels::WinogradCall winograd{c, results};
    const auto matrices = floats(kernels::panel_count(i.out_channels, 4) *
                                 kernels::winograd_matrices(winograd) * i.in_channels * 16);
    const auto numbers = floats(kernels::winograd_scratch_bytes(winograd) / 4);
    measure("convolution/" + i.name() + "/" + level.name + "_winograd" + std::to_string(results),
            i.operations(), [=, kernel = level.f32.winograd_convolution] {
              void* out[] = {result.get(), numbers.get()};
              const void* in[] = {&winograd, input.get(), matrices.get()};
              kernel(out, in);
            });
  }
}

void measure_sequence(const Level& level, const Sequence& s) {
  kernels::ConvolutionCall c = {};
  c.batch = s.batch;
  c.window = window_of(s.size, s.window, 1);
  c.window.in[1] = c.window.out[1] = c.window.size[1] = 1;
  c.window.pad_low[1] = c.window.pad_high[1] = 0;
  c.window.window_dilation[2] = s.dilation;
  c.window.pad_low[2] = c.window.pad_high[2] = s.window / 2 * s.dilation;
  c.in_channels = c.out_channels = c.groups = s.channels;
  const Int elements = s.batch * s.size * s.channels;
  const auto input = floats(elements), result = floats(elements);
  const auto filter = floats(s.window * s.channels);
  const auto run = [=, kernel = level.f32.depthwise] {
    void* out[] = {result.get(), nullptr};
    const void* in[] = {&c, input.get(), filter.get()};
    kernel(out, in);
  };
  measure("depthwise/" + s.name() + "/" + level.name, s.operations(), run);
}

void measure_transposed(const Level& level, const Transposed& t) {
  kernels::ConvolutionCall c = {};
  c.batch = t.batch;
  c.window = window_of(t.size, t.window, 1);
  c.in_channels = t.in_channels;
  c.out_channels = t.out_channels;
  c.groups = 1;
  for (int d = 1; d < kernels::kSpatial; ++d) {
    c.window.out[d] = t.size * t.stride;
    c.window.base_dilation[d] = t.stride;
    c.window.pad_low[d] = t.window - 1 - (t.window - t.stride) / 2;
    c.window.pad_high[d] = t.stride - 2 + t.window - c.window.pad_low[d];
  }
  const Int pixels = t.batch * t.size * t.size;
  const auto input = floats(pixels * t.in_channels);
  const auto result = floats(pixels * t.stride * t.stride * t.out_channels);
  const auto filter = floats(kernels::panel_count(t.out_channels, 4) * t.window * t.window *
                             t.in_channels * kernels::panel_columns(4));
  const auto scratch = floats(kernels::transposed_scratch_bytes(c, 4) / 4);
  const auto run = [=, kernel = level.f32.transposed_convolution] {
    void* out[] = {result.get(), scratch.get()};
    const void* in[] = {&c, input.get(), filter.get()};
    kernel(out, in);
  };
  measure("transposed_convolution/" + t.name() + "/" + level.name, t.operations(), run);
}

void measure_resized(const Level& level, const Resized& r) {
  kernels::ResizeCall c = {};
  c.batch = r.batch;
  c.channels = r.channels;
  std::vector<Int> starts;
  for (int d = 0; d < 2; ++d) {
    c.in[d] = r.size;
    c.out[d] = 2 * r.size;
    c.taps[d] = 2;
    for (Int i = 0; i < c.out[d]; ++i)
      starts.push_back(std::clamp<Int>((i - 1) / 2, 0, r.size - 2));
  }
  std::vector<Int> words(sizeof c / sizeof(Int));
  std::memcpy(words.data(), &c, sizeof c);
  words.insert(words.end(), starts.begin(), starts.end());
  const Int pixels = r.batch * r.size * r.size;
  const auto input = floats(pixels * r.channels), result = floats(4 * pixels * r.channels);
  const auto weights = floats(8 * r.size);
  const auto scratch = floats(kernels::resize_scratch_bytes(c, 4) / 4);
  const auto run = [=, kernel = level.f32.resize] {
    void* out[] = {result.get(), scratch.get()};
    const void* in[] = {words.data(), input.get(), weights.get()};
    kernel(out, in);
  };
  measure("resize/" + r.name() + "/" + level.name, r.operations(), run);
}

// Some of the elements are equal.
void measure_selection(const Level& level, const Selected& s) {
  const kernels::TopKCall c = {s.rows, s.size, s.count, kernels::kTopKDescending};
  const auto x = floats(s.rows * s.size), values = floats(s.rows * s.count);
  const auto places = floats(s.rows * s.count);
  const auto scratch = floats(kernels::top_k_scratch_bytes(c, 4) / 4);
  for (Int i = 0; i < s.rows * s.size; ++i) {
    x.get()[i] = static_cast<float>(i * 7919 % 65537 % (4 * s.size));
  }
  const auto run = [=, kernel = level.f32.top_k] {
    void* out[] = {values.get(), places.get(), scratch.get()};
    const void* in[] = {&c, x.get()};
    kernel(out, in);
  };
  measure("top_k/" + s.name() + "/" + level.name, s.operations(), run);
}

void measure_gather(const Level& level, const Gathered& g) {
  const kernels::GatherCall c = {g.rows, g.parts * g.elements, g.parts};
  const auto x = floats(g.table * g.elements), result = floats(g.rows * g.parts * g.elements);
  std::vector<Int> places;
  for (Int i = 0; i < g.rows; ++i) places.push_back(i * 7919 % g.table);
  kernels::GatherPart part = {};
  part.x = 1;
  part.x_step = part.elements = g.elements;
  part.x_rows = g.table;
  part.place_type = kernels::kPlacesInt64;
  part.places = 2;
  part.place_step = 1;
  std::vector<Int> words(sizeof c / sizeof(Int));
  std::memcpy(words.data(), &c, sizeof c);
  for (Int i = 0; i < g.parts; ++i) {
    Int of[sizeof part / sizeof(Int)];
    std::memcpy(of, &part, sizeof part);
    words.insert(words.end(), std::begin(of), std::end(of));
  }
  const auto run = [=, kernel = level.f32.gather] {
    const void* in[] = {words.data(), x.get(), places.data()};
    kernel(result.get(), in);
  };
  measure("gather/" + g.name() + "/" + level.name, g.operations(), run);
}

void measure_pooling(const Level& level, const Pooling& p) {
  kernels::PoolCall c = {};
  c.batch = p.batch;
  c.window = window_of(p.size, p.window, p.stride);
  c.channels = p.channels;
  const auto input = floats(p.batch * p.size * p.size * p.channels);
  const auto result = floats(p.batch * kernels::pooled_elements(c));
  const auto run = [=, kernel = level.f32.max_pool] {
    const void* in[] = {&c, input.get()};
    kernel(result.get(), in);
  };
  measure("max_pool/" + p.name() + "/" + level.name, p.operations(), run);
}

void measure_sum(const Level& level, const Summed& s) {
  kernels::PoolCall c = {};
  c.batch = s.batch;
  c.window = window_of(1, 1, 1);
  c.window.in[2] = c.window.size[2] = s.positions;
  c.channels = s.channels;
  const auto input = floats(s.batch * s.positions * s.channels);
  const auto result = floats(s.batch * s.channels);
  const auto run = [=, kernel = level.f32.sum_pool] {
    const void* in[] = {&c, input.get()};
    kernel(result.get(), in);
  };
  measure("sum_pool/" + s.name() + "/" + level.name, s.operations(), run);
}

void measure_rows(const Level& level, const Rows& r) {
  const Int size = r.rows * r.columns;
  const auto x = floats(size), y = floats(size), result = floats(size);
  const auto add = [&](const std::string& name, Kernel kernel, const auto& call) {
    const auto run = [=] {
      const void* in[] = {&call, x.get(), y.get(), y.get()};
      kernel(result.get(), in);
    };
    measure(name + "/" + r.name() + "/" + level.name, static_cast<double>(size), run);
  };
  add("softmax", level.f32.softmax, kernels::SoftmaxCall{r.rows, r.columns, 0.25});
  add("layer_norm", level.f32.layer_norm, kernels::LayerNormCall{r.rows, r.columns, 1e-5});
  add("group_norm", level.f32.group_norm, kernels::GroupNormCall{1, r.rows, r.columns, 1, 1e-5});
  add("row_sum", level.f32.row_sum,
      kernels::RowSumCall{r.rows, r.columns, kernels::kRowSumOfSquaredDifferences});
  add("gelu", level.f32.gelu, kernels::GeluCall{size, kernels::kGeluErf});
  add("gelu_tanh", level.f32.gelu, kernels::GeluCall{size, kernels::kGeluTanh});
}

void measure_recurrence(const std::string& operation, const std::string& level, Kernel kernel,
                        Int gates, const Recurrence& r) {
  kernels::RecurrentCall c = {};
  c.rows = r.rows;
  c.steps = Recurrence::kSteps;
  c.hidden = r.hidden;
  c.features = r.features;
  c.x_step = r.features != 0 ? r.features : gates * r.hidden;
  c.x_row = c.steps * c.x_step;
  for (Int gate = 0; gate < gates; ++gate) c.x_gate[gate] = gate * r.hidden;
  c.out_row = r.hidden;
  c.memory_out = -1;
  const auto x = floats(c.rows * c.x_row), bias = floats(4 * r.hidden + 32);
  const auto weights = floats((r.features + r.hidden) * (gates * r.hidden + 32));
  const auto state = floats(r.rows * r.hidden), result = floats(r.rows * r.hidden);
  const auto scratch = floats(kernels::recurrent_scratch_bytes(c) / 4);
  const auto run = [=] {
    void* out[] = {result.get(), scratch.get()};
    const void* in[] = {&c, x.get(), weights.get(), bias.get(), state.get(), state.get()};
    kernel(out, in);
  };
  measure(operation + "/" + r.name() + "/" + level, r.operations(gates), run);
}

}  // namespace

void measure_ours() {
  for (const Level& level : kernels_test::all_levels()) {
    if (!kernels_test::runs_here(level)) continue;
    for (const Product& p : products()) {
      measure_product<float>("matmul", level.name, level.f32.matmul, p);
    }
    for (const Product& p : double_products()) {
      measure_product<double>("matmul_f64", level.name, level.f64.matmul, p);
    }
    for (const Layers& l : layers()) {
      measure_layers(level, "float32", 0, l);
      measure_layers(level, "bfloat16", kernels::kBfloat16, l);
      measure_layers(level, "float16", kernels::kFloat16, l);
      measure_layers(level, "int8", kernels::kInt8, l);
    }
    for (const Image& i : images()) measure_image(level, i);
    for (const Sequence& s : sequences()) measure_sequence(level, s);
    for (const Transposed& t : transposed_images()) measure_transposed(level, t);
    for (const Resized& r : resized_images()) measure_resized(level, r);
    for (const Pooling& p : poolings()) measure_pooling(level, p);
    for (const Summed& s : sums()) measure_sum(level, s);
    for (const Selected& s : selections()) measure_selection(level, s);
    for (const Gathered& g : gathers()) measure_gather(level, g);
    for (const Rows& r : rows()) measure_rows(level, r);
    for (const Recurrence& r : recurrences()) {
      measure_recurrence("lstm", level.name, level.f32.lstm, 4, r);
      measure_recurrence("gru", level.name, level.f32.gru, 3, r);
      measure_recurrence("rnn", level.name, level.f32.rnn, 1, r);
    }
  }
}

}  // namespace tfaot::kernels_benchmark
