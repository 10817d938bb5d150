// SPDX-License-Identifier: Apache-2.0
// XNNPACK of Debian 12 (February 2022), its operators with one thread: weights packed ahead, images
// as networks hold them.
#include <xnnpack.h>

#include <cmath>
#include <stdexcept>

#include "candidates.h"
#include "measure.h"
#include "shapes.h"
#include "window_shapes.h"

namespace tfaot::kernels_benchmark {
namespace {

using Operator = std::shared_ptr<xnn_operator>;

void check(xnn_status status) {
  if (status != xnn_status_success) throw std::runtime_error("XNNPACK refuses an operator");
}

Operator owned(xnn_operator_t made) {
  return {made, [](xnn_operator_t one) { xnn_delete_operator(one); }};
}

// `kept`: what the operator reads and writes.
void measure_operator(const std::string& name, double operations, const Operator& made,
                      const std::vector<std::shared_ptr<float>>& kept) {
  measure(name, operations, [made, kept] { xnn_run_operator(made.get(), nullptr); });
}

void measure_product(const Product& p) {
  const auto rows = static_cast<std::size_t>(p.rows), depth = static_cast<std::size_t>(p.depth),
             columns = static_cast<std::size_t>(p.columns);
  const auto rhs = floats(p.depth * p.columns), bias = floats(p.columns);
  xnn_operator_t made = nullptr;
  check(xnn_create_fully_connected_nc_f32(depth, columns, depth, columns, rhs.get(), bias.get(), 0,
                                          INFINITY, 0, &made));
  const auto lhs = floats(p.rows * p.depth), result = floats(p.rows * p.columns);
  check(xnn_setup_fully_connected_nc_f32(made, rows, lhs.get(), result.get(), nullptr));
  measure_operator("matmul/" + p.name() + "/xnnpack", p.operations(), owned(made), {lhs, result});
}

void measure_image(const Image& i) {
  const auto in = static_cast<std::size_t>(i.in_channels),
             out = static_cast<std::size_t>(i.out_channels),
             size = static_cast<std::size_t>(i.size);
  const auto window = static_cast<std::uint32_t>(i.window), pad = window / 2;
  const auto groups = i.depthwise ? static_cast<std::uint32_t>(i.in_channels) : 1U;
  const auto filter = floats(i.window * i.window * i.in_channels * i.out_channels);
  const auto bias = floats(i.out_channels);
  xnn_operator_t made = nullptr;
  check(xnn_create_convolution2d_nhwc_f32(pad, pad, pad, pad, window, window, 1, 1, 1, 1, groups,
                                          in / groups, out / groups, in, out, filter.get(),
                                          bias.get(), -INFINITY, INFINITY, 0, &made));
  const Int pixels = i.batch * i.size * i.size;
  const auto input = floats(pixels * i.in_channels), result = floats(pixels * i.out_channels);
  check(xnn_setup_convolution2d_nhwc_f32(made, static_cast<std::size_t>(i.batch), size, size,
                                         input.get(), result.get(), nullptr));
  measure_operator("convolution/" + i.name() + "/xnnpack", i.operations(), owned(made),
                   {input, result});
}

void measure_pooling(const Pooling& p) {
  const auto channels = static_cast<std::size_t>(p.channels),
             size = static_cast<std::size_t>(p.size);
  xnn_operator_t made = nullptr;
  check(xnn_create_max_pooling2d_nhwc_f32(0, 0, 0, 0, 2, 2, 2, 2, 1, 1, channels, channels,
                                          channels, -INFINITY, INFINITY, 0, &made));
  const Int elements = p.batch * p.size * p.size * p.channels;
  const auto input = floats(elements), result = floats(elements / 4);
  check(xnn_setup_max_pooling2d_nhwc_f32(made, static_cast<std::size_t>(p.batch), size, size,
                                         input.get(), result.get(), nullptr));
  measure_operator("max_pool/" + p.name() + "/xnnpack", p.operations(), owned(made),
                   {input, result});
}

}  // namespace

void measure_xnnpack() {
  check(xnn_initialize(nullptr));
  for (const Product& p : products()) {
    if (p.packed) measure_product(p);  // it has no product of two inputs yet
  }
  for (const Image& i : images()) measure_image(i);
  for (const Pooling& p : poolings()) measure_pooling(p);
}

}  // namespace tfaot::kernels_benchmark
