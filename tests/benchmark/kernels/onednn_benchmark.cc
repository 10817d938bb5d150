// SPDX-License-Identifier: Apache-2.0
// oneDNN 2.6 of Debian 12: weights in the layout it likes best, images as networks hold them.
#include <dnnl.hpp>

#include "candidates.h"
#include "measure.h"
#include "shapes.h"
#include "window_shapes.h"

namespace tfaot::kernels_benchmark {
namespace {

using Tag = dnnl::memory::format_tag;
constexpr auto kFloat = dnnl::memory::data_type::f32;

// A primitive, its memories filled, and the stream it runs on.
void measure_primitive(const std::string& name, double operations, const dnnl::engine& engine,
                       const dnnl::primitive& primitive,
                       const std::vector<std::pair<int, dnnl::memory::desc>>& arguments) {
  std::unordered_map<int, dnnl::memory> memories;
  for (const auto& [argument, desc] : arguments) {
    dnnl::memory memory(desc, engine);
    auto* const data = static_cast<float*>(memory.get_data_handle());
    for (std::size_t i = 0; i < desc.get_size() / 4; ++i) {
      data[i] = 0.01F * static_cast<float>(i % 97);
    }
    memories.emplace(argument, memory);
  }
  measure(name, operations, [primitive, memories, stream = dnnl::stream(engine)]() mutable {
    primitive.execute(stream, memories);
    stream.wait();
  });
}

void measure_product(const dnnl::engine& engine, const Product& p) {
  const bool batched = p.batch > 1;
  const auto dims = [&](Int a, Int b) {
    return batched ? dnnl::memory::dims{p.batch, a, b} : dnnl::memory::dims{a, b};
  };
  const Tag plain = batched ? Tag::abc : Tag::ab, transposed = batched ? Tag::acb : Tag::ba;
  const Tag weights = p.packed ? Tag::any : p.columns < p.depth ? transposed : plain;
  const dnnl::matmul::desc desc({dims(p.rows, p.depth), kFloat, plain},
                                {dims(p.depth, p.columns), kFloat, weights},
                                {dims(p.rows, p.columns), kFloat, plain});
  const dnnl::matmul::primitive_desc made(desc, engine);
  measure_primitive("matmul/" + p.name() + "/onednn", p.operations(), engine, dnnl::matmul(made),
                    {{DNNL_ARG_SRC, made.src_desc()},
                     {DNNL_ARG_WEIGHTS, made.weights_desc()},
                     {DNNL_ARG_DST, made.dst_desc()}});
}

void measure_image(const dnnl::engine& engine, const Image& i) {
  const Int pad = i.window / 2;
  const dnnl::memory::dims filter =
      i.depthwise ? dnnl::memory::dims{i.in_channels, 1, 1, i.window, i.window}
                  : dnnl::memory::dims{i.out_channels, i.in_channels, i.window, i.window};
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
      {{i.batch, i.in_channels, i.size, i.size}, kFloat, Tag::nhwc}, {filter, kFloat, Tag::any},
      {{i.batch, i.out_channels, i.size, i.size}, kFloat, Tag::nhwc}, {1, 1}, {pad, pad},
      {pad, pad});
  const dnnl::convolution_forward::primitive_desc made(desc, engine);
  measure_primitive("convolution/" + i.name() + "/onednn", i.operations(), engine,
                    dnnl::convolution_forward(made),
                    {{DNNL_ARG_SRC, made.src_desc()},
                     {DNNL_ARG_WEIGHTS, made.weights_desc()},
                     {DNNL_ARG_DST, made.dst_desc()}});
}

void measure_pooling(const dnnl::engine& engine, const Pooling& p) {
  const dnnl::pooling_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max,
      {{p.batch, p.channels, p.size, p.size}, kFloat, Tag::nhwc},
      {{p.batch, p.channels, p.size / 2, p.size / 2}, kFloat, Tag::nhwc}, {2, 2}, {2, 2}, {0, 0},
      {0, 0});
  const dnnl::pooling_forward::primitive_desc made(desc, engine);
  measure_primitive("max_pool/" + p.name() + "/onednn", p.operations(), engine,
                    dnnl::pooling_forward(made),
                    {{DNNL_ARG_SRC, made.src_desc()}, {DNNL_ARG_DST, made.dst_desc()}});
}

}  // namespace

void measure_onednn() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  for (const Product& p : products()) measure_product(engine, p);
  for (const Image& i : images()) measure_image(engine, i);
  for (const Pooling& p : poolings()) measure_pooling(engine, p);
}

}  // namespace tfaot::kernels_benchmark
