// SPDX-License-Identifier: Apache-2.0
#include "onnx/sparse_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "hlo/hlo.h"
#include "onnx/onnx_tensor.h"
#include "tfaot/base/limits.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::SparseTensorProto;
using onnx::TensorProto;

// A pruned net has few zeros for each value; a hostile file makes many of nothing.
constexpr std::int64_t kMostZerosOfAValue = 100;

Error at_sparse(const SparseTensorProto& sparse, const std::string& what) {
  return Error(fmt::format("sparse tensor '{}' {}", sparse.values().name(), what));
}

// The row-major place of each value. Indices: one number, or one for each dimension.
Result<std::vector<std::int64_t>> value_places(const SparseTensorProto& sparse,
                                               const xla::Shape& shape, std::int64_t values,
                                               const std::string& model_file) {
  TFAOT_ASSIGN(const xla::Literal indices, read_tensor(sparse.indices(), model_file));
  const std::int64_t rank = shape.rank();
  const auto sizes = indices.shape().dimensions();
  const bool is_linear = sizes.size() == 1 && sizes[0] == values;
  const bool is_tuples = sizes.size() == 2 && sizes[0] == values && sizes[1] == rank;
  if (indices.shape().element_type() != xla::S64 || !(is_linear || is_tuples)) {
    return fail(at_sparse(sparse, "has indices of another type or shape than its values need"));
  }
  const auto numbers = indices.data<std::int64_t>();
  const std::int64_t elements = xla::ShapeUtil::ElementsIn(shape);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < values; ++i) {
    std::int64_t place = is_linear ? numbers[static_cast<std::size_t>(i)] : 0;
    bool is_inside = !is_linear || (place >= 0 && place < elements);
    for (std::int64_t d = 0; d < rank && !is_linear; ++d) {
      const std::int64_t index = numbers[static_cast<std::size_t>(i * rank + d)];
      const std::int64_t size = shape.dimensions(static_cast<int>(d));
      is_inside = is_inside && index >= 0 && index < size;
      place = place * size + index;
    }
    if (!is_inside) return fail(at_sparse(sparse, fmt::format("has no place for value {}", i)));
    if (!places.empty() && place <= places.back()) {
      return fail(at_sparse(sparse, fmt::format("has value {} out of order", i)));
    }
    places.push_back(place);
  }
  return places;
}

Result<TensorProto> dense_tensor(const SparseTensorProto& sparse, const std::string& model_file) {
  TensorProto dense;
  dense.set_name(sparse.values().name());
  dense.set_data_type(sparse.values().data_type());
  *dense.mutable_dims() = sparse.dims();
  TFAOT_ASSIGN(const xla::Shape shape, shape_of_tensor(dense));
  TFAOT_ASSIGN(const xla::Literal values, read_tensor(sparse.values(), model_file));
  const std::int64_t count = values.element_count();
  const std::int64_t most = std::max(kMostMadeElements, kMostZerosOfAValue * count);
  if (xla::ShapeUtil::ElementsIn(shape) > most) {
    return fail(at_sparse(sparse, fmt::format("has {} values for {} elements", count,
                                              xla::ShapeUtil::ElementsIn(shape))));
  }
  TFAOT_ASSIGN(const auto places, value_places(sparse, shape, count, model_file));
  std::string bytes(static_cast<std::size_t>(xla::ShapeUtil::ByteSizeOf(shape)), '\0');
  const std::size_t size = count == 0 ? 0 : static_cast<std::size_t>(values.size_bytes() / count);
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::memcpy(bytes.data() + static_cast<std::size_t>(places[i]) * size,
                static_cast<const char*>(values.untyped_data()) + i * size, size);
  }
  dense.set_raw_data(std::move(bytes));
  return dense;
}

Status make_dense(onnx::GraphProto& graph, const std::string& model_file);

// `node`: a Constant may hold a sparse tensor, and all nodes may hold graphs.
Status make_dense(onnx::NodeProto& node, const std::string& model_file) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) TFAOT_TRY(make_dense(*attribute.mutable_g(), model_file));
    if (attribute.name() != "sparse_value" || !attribute.has_sparse_tensor()) continue;
    TFAOT_ASSIGN(*attribute.mutable_t(), dense_tensor(attribute.sparse_tensor(), model_file));
    attribute.clear_sparse_tensor();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
  }
  return {};
}

Status make_dense(onnx::GraphProto& graph, const std::string& model_file) {
  for (const SparseTensorProto& sparse : graph.sparse_initializer()) {
    TFAOT_ASSIGN(*graph.add_initializer(), dense_tensor(sparse, model_file));
  }
  graph.clear_sparse_initializer();
  for (auto& node : *graph.mutable_node()) TFAOT_TRY(make_dense(node, model_file));
  return {};
}

}  // namespace

Status make_dense(OnnxModel& model) {
  TFAOT_TRY(make_dense(*model.proto.mutable_graph(), model.file));
  for (auto& function : *model.proto.mutable_functions()) {
    for (auto& node : *function.mutable_node()) TFAOT_TRY(make_dense(node, model.file));
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
