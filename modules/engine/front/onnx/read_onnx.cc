// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/read_onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <vector>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/hlo.h"
#include "front/onnx/node.h"
#include "front/onnx/onnx_tensor.h"
#include "front/onnx/onnx_weights.h"
#include "onnx-ml.pb.h"
#include "tensorflow/core/platform/env.h"
#include "tfaot/base/limits.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

std::string describe(const onnx::NodeProto& node, const Opsets& opsets) {
  const auto opset = opsets.find(plain_domain(node.domain()));
  return describe_node(node, opset == opsets.end() ? 0 : opset->second);
}

// Checks that names are unique: of inputs, initializers and results of nodes.
class NameCheck {
 public:
  explicit NameCheck(const Opsets& opsets) : opsets_(opsets) {}

  Status check(const onnx::GraphProto& graph) {
    TFAOT_TRY(add_all(graph.input(), "input", inputs_));
    // An initializer with the name of an input is that input's default.
    TFAOT_TRY(add_all(graph.initializer(), "initializer", initializers_));
    for (const onnx::NodeProto& node : graph.node()) {
      for (const std::string& made : node.output()) {
        if (!made.empty()) TFAOT_TRY(add(node, made));
      }
    }
    return {};
  }

  // The outputs of a model have names of their own; those of a loop's body need not.
  static Status check_outputs(const onnx::GraphProto& graph) {
    std::set<std::string> names;
    return add_all(graph.output(), "output", names);
  }

 private:
  static Error twice(std::string text, std::vector<std::string> nodes = {}) {
    return Error(std::move(text))
        .note(
            "each value of a graph needs a name of its own; onnx.checker.check_model() finds "
            "such faults")
        .about(word_of(ProblemKind::kModel), std::move(nodes));
  }

  template <typename Values>
  static Status add_all(const Values& values, const char* what, std::set<std::string>& names) {
    for (const auto& value : values) {
      if (names.insert(value.name()).second) continue;
      return fail(twice(fmt::format("the graph has two {}s '{}'", what, value.name())));
    }
    return {};
  }

  Status add(const onnx::NodeProto& node, const std::string& made) {
    const auto [other, is_new] = makers_.emplace(made, &node);
    if (!is_new) {
      return fail(twice(fmt::format("{} makes '{}', and so does {}", describe(node, opsets_), made,
                                    describe(*other->second, opsets_)),
                        {other->second->name(), node.name()}));
    }
    const bool is_input = inputs_.contains(made);
    if (!is_input && !initializers_.contains(made)) return {};
    return fail(twice(fmt::format("{} makes '{}', which is an {} already", describe(node, opsets_),
                                  made, is_input ? "input" : "initializer"),
                      {node.name()}));
  }

  const Opsets& opsets_;
  std::set<std::string> inputs_;
  std::set<std::string> initializers_;
  std::map<std::string, const onnx::NodeProto*> makers_;
};

// Nodes by number, and the nodes whose results they wait for.
class NodeOrder {
  template <typename Vector>
  static auto& entry(Vector& vector, int i) {
    return vector[static_cast<std::size_t>(i)];
  }

 public:
  explicit NodeOrder(const onnx::GraphProto& graph)
      : makers_(static_cast<std::size_t>(graph.node_size())),
        readers_(makers_.size()),
        missing_(makers_.size()) {
    std::map<std::string, int> maker;  // of each value
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& made : graph.node(i).output()) maker.emplace(made, i);
    }
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& name : names_read_by(graph.node(i))) {
        const auto made = maker.find(name);
        if (made == maker.end()) continue;
        entry(makers_, i).push_back(made->second);
        entry(readers_, made->second).push_back(i);
        ++entry(missing_, i);
      }
    }
  }

  // The first ready node is always next. Leaves out the nodes of cycles and those after them.
  std::vector<int> sorted() {
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < std::ssize(missing_); ++i) {
      if (entry(missing_, i) == 0) ready.push(i);
    }
    std::vector<int> order;
    while (!ready.empty()) {
      order.push_back(ready.top());
      ready.pop();
      for (const int reader : entry(readers_, order.back())) {
        if (--entry(missing_, reader) == 0) ready.push(reader);
      }
    }
    return order;
  }

  // Each needs the one after it, the last the first. Call it after sorted(), which leaves them out.
  std::vector<int> cycle() const {
    std::vector<int> path = {static_cast<int>(
        std::ranges::find_if(missing_, [](int n) { return n > 0; }) - missing_.begin())};
    for (;;) {
      const int next = *std::ranges::find_if(entry(makers_, path.back()),
                                             [&](int maker) { return entry(missing_, maker) > 0; });
      const auto seen = std::ranges::find(path, next);
      if (seen != path.end()) return {seen, path.end()};
      path.push_back(next);
    }
  }

 private:
  std::vector<std::vector<int>> makers_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> missing_;  // results that a node waits for
};

Error cycle_error(const onnx::GraphProto& graph, const std::vector<int>& cycle,
                  const Opsets& opsets) {
  constexpr std::size_t kMostShown = 5;
  std::vector<std::string> names;
  std::vector<std::string> path;
  for (const int number : cycle) {
    const onnx::NodeProto& node = graph.node(number);
    names.push_back(node.name());
    if (path.size() < kMostShown) path.push_back(describe(node, opsets));
  }
  path.push_back(cycle.size() == 1 ? "its own"
                 : cycle.size() > kMostShown
                     ? fmt::format("a node, and so on: {} nodes in a circle", cycle.size())
                     : path.front());
  std::string text = path[0] + " needs a result of " + path[1];
  for (std::size_t i = 2; i < path.size(); ++i) text += ", which needs a result of " + path[i];
  return Error(std::move(text)).about(word_of(ProblemKind::kModel), std::move(names));
}

Status sort_graph(onnx::GraphProto& graph, const Opsets& opsets) {
  TFAOT_TRY(NameCheck(opsets).check(graph));
  NodeOrder nodes(graph);
  const std::vector<int> order = nodes.sorted();
  if (std::ssize(order) < graph.node_size()) {
    return fail(cycle_error(graph, nodes.cycle(), opsets));
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
  for (const int node : order) sorted.Add()->Swap(graph.mutable_node(node));
  graph.mutable_node()->Swap(&sorted);
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) TFAOT_TRY(sort_graph(*attribute.mutable_g(), opsets));
    }
  }
  return {};
}

// Puts nodes after those whose results they read, as the standard wants it, which not all exporters
// do; also in graphs inside of nodes. Fails if nodes need each other's results, or if two values of
// a graph have the same name, and says which.
Status sort_nodes(onnx::GraphProto& model, const Opsets& opsets) {
  TFAOT_TRY(NameCheck::check_outputs(model));
  return sort_graph(model, opsets);
}

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

// Of all graphs and functions of the model. Errors: indices that are wrong or not in order, far
// more zeros than values.
Status make_dense(OnnxModel& model) {
  TFAOT_TRY(make_dense(*model.proto.mutable_graph(), model.file));
  for (auto& function : *model.proto.mutable_functions()) {
    for (auto& node : *function.mutable_node()) TFAOT_TRY(make_dense(node, model.file));
  }
  return {};
}

// Counts the nodes that are lowered if each call becomes the nodes of its function: functions that
// call others twice have twice as many at each step.
class LoweredNodes {
 public:
  explicit LoweredNodes(const OnnxModel& model) : model_(model) {}

  // Errors: functions that need themselves or are nested too deep, more nodes than kMostNodes.
  Status check() {
    for (const auto& function : model_.proto.functions()) TFAOT_TRY(visit(function));
    TFAOT_ASSIGN(const double count, in(model_.proto.graph().node()));
    if (count <= static_cast<double>(kMostNodes)) return {};
    return fail(
        Error(fmt::format("has more than {} nodes once its functions are called", kMostNodes)));
  }

 private:
  Result<double> in(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    double count = 0;
    for (const auto& node : nodes) {
      count += 1;
      for (const auto& attribute : node.attribute()) {
        TFAOT_ASSIGN(const double inside, in(attribute.g().node()));
        count += inside;
      }
      const auto* const called = function_of(model_, node);
      if (called == nullptr) continue;
      TFAOT_ASSIGN(const double of_call, visit(*called));
      count += of_call;
    }
    return count;
  }

  Result<double> visit(const onnx::FunctionProto& function) {
    const auto known = counts_.find(&function);
    if (known != counts_.end()) return known->second;
    if (!open_.insert(&function).second) {
      return fail(Error(fmt::format("function '{}' calls itself", function.name())));
    }
    if (std::ssize(open_) > kMostNestedCalls) {
      return fail(
          Error(fmt::format("more than {} functions call each other in turn", kMostNestedCalls)));
    }
    TFAOT_ASSIGN(const double count, in(function.node()));
    open_.erase(&function);
    counts_[&function] = count;
    return count;
  }

  const OnnxModel& model_;
  std::set<const onnx::FunctionProto*> open_;
  std::map<const onnx::FunctionProto*, double> counts_;
};

}  // namespace

Result<OnnxModel> read_onnx(const std::string& file) {
  std::string bytes;
  const auto read = tensorflow::ReadFileToString(tensorflow::Env::Default(), file, &bytes);
  if (!read.ok()) return fail(error_of(read, "cannot read it"));
  OnnxModel model;
  model.file = file;
  if (!model.proto.ParseFromString(bytes) || !model.proto.has_graph() ||
      model.proto.opset_import_size() == 0) {
    return fail(Error::at({file}, "is not an ONNX model")
                    .note("an ONNX file holds a graph and the versions of its operators"));
  }
  Status dense = make_dense(model);
  if (!dense) return fail(std::move(dense).error().moved_to({file}));
  auto sorted = sort_nodes(*model.proto.mutable_graph(), opsets_of(model.proto.opset_import()));
  if (!sorted) return fail(std::move(sorted).error().moved_to({file}));
  Status called = LoweredNodes(model).check();
  if (!called) return fail(std::move(called).error().moved_to({file}));
  lift_onnx_constants(model);
  return model;
}

}  // namespace tfaot::toolkit::engine
