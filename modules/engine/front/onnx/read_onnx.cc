// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/read_onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/hlo.h"
#include "compiler/hlo/lowering.h"
#include "front/lowering/post_order.h"
#include "front/onnx/node.h"
#include "front/onnx/onnx_tensor.h"
#include "front/onnx/operators.h"
#include "onnx-ml.pb.h"
#include "tensorflow/core/platform/env.h"
#include "tfaot/base/limits.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::NodeProto;
using onnx::SparseTensorProto;
using onnx::TensorProto;
using Names = std::set<std::string>;
using onnx::FunctionProto;
using onnx::GraphProto;
using Nodes = google::protobuf::RepeatedPtrField<NodeProto>;

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

// Nodes by number, each after those whose results it reads. A sorted graph stays as it is.
PostOrder<int> node_order(const onnx::GraphProto& graph) {
  std::map<std::string, int> maker;  // of each value
  std::vector<int> all;
  for (int i = 0; i < graph.node_size(); ++i) {
    all.push_back(i);
    for (const std::string& made : graph.node(i).output()) maker.emplace(made, i);
  }
  return post_order(all, [&](int node) {
    std::vector<int> makers;
    for (const std::string& name : names_read_by(graph.node(node))) {
      if (const auto made = maker.find(name); made != maker.end()) makers.push_back(made->second);
    }
    return makers;
  });
}

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
  const PostOrder<int> nodes = node_order(graph);
  if (!nodes.cycle.empty()) return fail(cycle_error(graph, nodes.cycle, opsets));
  google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
  for (const int node : nodes.order) sorted.Add()->Swap(graph.mutable_node(node));
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

// Makes the sparse tensors of all graphs and functions dense. Errors: indices that are wrong or not
// in order, far more zeros than values.
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

bool needs_only_shapes(const NodeProto& node) {
  return plain_domain(node.domain()).empty() &&
         (node.op_type() == "Shape" || node.op_type() == "Size");
}

// A Loop's inputs are those of its graph, and each output of one step is an input of the next: the
// condition comes first, and before it the inputs have the number of the step.
int inputs_before_outputs(const NodeProto& node) { return node.op_type() == "Loop" ? 1 : 0; }

// Adds the names of values that depend on data of the names in it, from the first node to the last.
template <typename Nodes>
void follow_data(const Nodes& nodes, Names& varying) {
  for (const NodeProto& node : nodes) {
    if (needs_only_shapes(node)) continue;
    const Names read = names_read_by(node);
    if (std::ranges::none_of(read, [&](const auto& name) { return varying.contains(name); })) {
      continue;
    }
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      const auto& inputs = attribute.g().input();
      for (int i = inputs_before_outputs(node); i < inputs.size(); ++i) {
        varying.insert(inputs[i].name());
      }
      follow_data(attribute.g().node(), varying);
    }
    varying.insert(node.output().begin(), node.output().end());
  }
  varying.erase("");
}

// The values of a graph or a function, and of the graphs inside of its nodes, by name.
struct Values {
  Names varying;  // depend on data of inputs
  Names known;    // must be known while compiling
  Names better;   // make better code if they are known, but depend on data of inputs

  std::size_t marked() const { return known.size() + better.size(); }
};

class Marking {
 public:
  // Values that a setting is computed from are not marked: they may be weights.
  Marking(const OnnxModel& model, Names& settings) : model_(model), settings_(settings) {}

  // From the last node to the first: what makes a marked value is marked too.
  template <typename Nodes>
  void visit(const Nodes& nodes, Values& values) const {
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) visit_node(*node, values);
  }

 private:
  template <typename Given, typename Marked>
  static bool any_in(const Given& given, const Marked& marked) {
    return std::ranges::any_of(given, [&](const auto& name) { return marked.contains(name); });
  }

  void visit_node(const NodeProto& node, Values& values) const {
    const bool is_known = any_in(node.output(), values.known);
    const bool is_better = any_in(node.output(), values.better);
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      for (const auto& output : attribute.g().output()) {
        if (is_known) values.known.insert(output.name());
        if (is_better) values.better.insert(output.name());
      }
      visit_steps(node, attribute.g(), values);
    }
    if (const auto* const function = function_of(model_, node)) {
      return visit_call(node, *function, values);
    }
    if (needs_only_shapes(node)) return;
    if (is_known) values.known.insert(node.input().begin(), node.input().end());
    if (is_better) values.better.insert(node.input().begin(), node.input().end());
    mark_epsilon(node);
    const OnnxOperator* const row = find_operator(plain_domain(node.domain()), node.op_type());
    if (row == nullptr) return;
    const auto add = [&node](const std::vector<int>& operands, const auto& to) {
      for (const int operand : operands) {
        if (operand < node.input_size()) to(node.input(operand));
      }
    };
    add(row->operands.known, [&](const std::string& name) { values.known.insert(name); });
    add(row->operands.settings, [&](const std::string& name) { settings_.insert(name); });
    add(row->operands.better_known, [&](const std::string& name) {
      (values.varying.contains(name) ? values.better : values.known).insert(name);
    });
  }

  // A number that is added under a root keeps it from 0: exporters write normalisations so.
  void mark_epsilon(const NodeProto& node) const {
    const bool is_own = plain_domain(node.domain()).empty();
    if (!is_own || node.input_size() == 0 || node.output_size() == 0) return;
    if (node.op_type() == "Sqrt") under_roots_.insert(node.input(0));
    if (node.op_type() == "Add" && under_roots_.contains(node.output(0))) {
      settings_.insert(node.input().begin(), node.input().end());
    }
  }

  // Again until nothing new is marked: what one step makes, the next one reads.
  void visit_steps(const NodeProto& node, const onnx::GraphProto& graph, Values& values) const {
    std::size_t before = 0;
    do {
      before = values.marked();
      visit(graph.node(), values);
      mark_steps(node, graph, values.known);
      mark_steps(node, graph, values.better);
    } while (values.marked() > before);
  }

  static void mark_steps(const NodeProto& node, const onnx::GraphProto& graph, Names& marked) {
    const int before = inputs_before_outputs(node);
    for (int i = 0; i < graph.input_size() && i < node.input_size(); ++i) {
      if (!marked.contains(graph.input(i).name())) continue;
      marked.insert(node.input(i));
      if (i >= before && i - before < graph.output_size()) {
        marked.insert(graph.output(i - before).name());
      }
    }
  }

  void visit_call(const NodeProto& call, const onnx::FunctionProto& function,
                  Values& values) const {
    Values inside;
    const auto share = [](const auto& own, const auto& given, const Names& from, Names& to) {
      for (int i = 0; i < own.size() && i < given.size(); ++i) {
        if (from.contains(own[i])) to.insert(given[i]);
      }
    };
    share(call.input(), function.input(), values.varying, inside.varying);
    follow_data(function.node(), inside.varying);
    share(call.output(), function.output(), values.known, inside.known);
    share(call.output(), function.output(), values.better, inside.better);
    visit(function.node(), inside);
    share(function.input(), call.input(), inside.known, values.known);
    share(function.input(), call.input(), inside.better, values.better);
  }

  const OnnxModel& model_;
  Names& settings_;
  mutable Names under_roots_;
};

// By name, of the graph and of the graphs inside of its nodes. REQUIRES: functions of the model do
// not call themselves.
Names needed_values(const OnnxModel& model, const onnx::GraphProto& graph) {
  Values values;
  for (const auto& input : graph.input()) values.varying.insert(input.name());
  for (const auto& initializer : graph.initializer()) values.varying.erase(initializer.name());
  follow_data(graph.node(), values.varying);
  Names settings;
  Marking(model, settings).visit(graph.node(), values);
  for (const auto& initializer : graph.initializer()) {
    const auto& sizes = initializer.dims();
    const bool is_number = std::ranges::all_of(sizes, [](auto size) { return size == 1; });
    const auto type = element_type(initializer.data_type());
    const bool is_place =
        type &&
        is_place_constant(dtype_of(*type), {sizes.data(), static_cast<std::size_t>(sizes.size())});
    if ((is_number && settings.contains(initializer.name())) ||
        (is_place && values.better.contains(initializer.name()))) {
      values.known.insert(initializer.name());
    }
  }
  values.known.erase("");
  return values.known;
}

bool is_weight_tensor(const TensorProto& tensor) {
  const auto type = element_type(tensor.data_type());
  const auto& sizes = tensor.dims();
  return type && is_weight_constant(dtype_of(*type),
                                    {sizes.data(), static_cast<std::size_t>(sizes.size())});
}

// The tensor of a Constant node; nothing for other values, or if the call of its function gives it.
std::optional<TensorProto> tensor_of_constant(const NodeProto& node) {
  if (node.op_type() != "Constant" || !plain_domain(node.domain()).empty() ||
      node.attribute_size() != 1 || node.output_size() != 1) {
    return std::nullopt;
  }
  const auto& attribute = node.attribute(0);
  if (!attribute.ref_attr_name().empty()) return std::nullopt;
  if (attribute.name() == "value") return attribute.t();
  TensorProto tensor;
  if (attribute.name() == "value_floats") {
    tensor.set_data_type(TensorProto::FLOAT);
    tensor.add_dims(attribute.floats_size());
    *tensor.mutable_float_data() = attribute.floats();
    return tensor;
  }
  if (attribute.name() == "value_ints") {
    tensor.set_data_type(TensorProto::INT64);
    tensor.add_dims(attribute.ints_size());
    *tensor.mutable_int64_data() = attribute.ints();
    return tensor;
  }
  return std::nullopt;
}

// Counts the values of each name, also in graphs inside of nodes.
using NameCounts = std::map<std::string, int>;
void count_names(const Nodes& nodes, NameCounts& counts);
void count_names(const GraphProto& graph, NameCounts& counts) {
  for (const auto& input : graph.input()) ++counts[input.name()];
  for (const auto& initializer : graph.initializer()) ++counts[initializer.name()];
  count_names(graph.node(), counts);
}
void count_names(const Nodes& nodes, NameCounts& counts) {
  for (const NodeProto& node : nodes) {
    for (const std::string& made : node.output()) ++counts[made];
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count_names(attribute.g(), counts);
    }
  }
}

std::string unused_name(const std::string& wanted, NameCounts& counts) {
  std::string name = wanted;
  for (int i = 2; counts.count(name) > 0; ++i) name = fmt::format("{}_{}", wanted, i);
  ++counts[name];
  return name;
}

void rename_reads(GraphProto& graph, const std::string& from, const std::string& to) {
  for (NodeProto& node : *graph.mutable_node()) {
    for (std::string& read : *node.mutable_input()) {
      if (read == from) read = to;
    }
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rename_reads(*attribute.mutable_g(), from, to);
    }
  }
  for (auto& output : *graph.mutable_output()) {
    if (output.name() == from) output.set_name(to);
  }
}

// Makes large Constant nodes initializers of the model's graph, also those of graphs inside of
// nodes and of the model's own functions, which then take them as inputs; likewise initializers of
// graphs inside of nodes.
class ConstantLift {
 public:
  explicit ConstantLift(OnnxModel& model) : model_(model), graph_(*model.proto.mutable_graph()) {
    count_names(graph_, names_);
  }

  void run() {
    for (FunctionProto& function : *model_.proto.mutable_functions()) visit(function);
    Place place{names_, [](const std::string& initializer) { return initializer; },
                [this](TensorProto tensor, const std::string& name) {
                  tensor.set_name(name);
                  *graph_.add_initializer() = std::move(tensor);
                }};
    visit(*graph_.mutable_node(), place);
  }

 private:
  // A graph or a function, with the graphs inside of its nodes: what they all can read.
  struct Place {
    NameCounts& names;
    // The name under which the place reads an initializer.
    std::function<std::string(const std::string& initializer)> read;
    // Makes the tensor an initializer that the place reads by this name.
    std::function<void(TensorProto, const std::string& name)> add;
  };

  void visit(FunctionProto& function) {
    if (lifted_.count(&function) > 0) return;
    const int inputs = function.input_size();
    NameCounts names;
    for (const std::string& input : function.input()) ++names[input];
    count_names(function.node(), names);
    std::vector<std::string> initializers;  // of the new inputs
    const auto add_input = [&](const std::string& initializer, const std::string& name) {
      initializers.push_back(initializer);
      function.add_input(name);
    };
    Place place{names,
                [&](const std::string& initializer) {
                  for (std::size_t i = 0; i < initializers.size(); ++i) {
                    if (initializers[i] == initializer)
                      return function.input(inputs + static_cast<int>(i));
                  }
                  std::string name = unused_name(initializer, names);
                  add_input(initializer, name);
                  return name;
                },
                [&](TensorProto tensor, const std::string& name) {
                  tensor.set_name(unused_name(function.name() + "/" + name, names_));
                  add_input(tensor.name(), name);
                  *graph_.add_initializer() = std::move(tensor);
                }};
    visit(*function.mutable_node(), place);
    lifted_[&function] = {inputs, std::move(initializers)};
  }

  void visit(Nodes& nodes, Place& place) {
    Nodes kept;
    for (NodeProto& node : nodes) {
      auto tensor = tensor_of_constant(node);
      if (tensor && is_weight_tensor(*tensor)) {
        place.add(*std::move(tensor), node.output(0));
        continue;
      }
      visit_node(node, place);
      kept.Add()->Swap(&node);
    }
    nodes.Swap(&kept);
  }

  void visit_node(NodeProto& node, Place& place) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit_inside(*attribute.mutable_g(), place);
    }
    const FunctionProto* const called = function_of(model_, node);
    if (called == nullptr) return;
    for (FunctionProto& function : *model_.proto.mutable_functions()) {
      if (&function != called) continue;
      visit(function);
      const Lifted& lifted = lifted_.at(&function);
      if (lifted.initializers.empty()) return;
      while (node.input_size() < lifted.inputs) node.add_input();
      for (const std::string& one : lifted.initializers) node.add_input(place.read(one));
      return;
    }
  }

  // Names are those of one graph and of those around it: another may have the same.
  void visit_inside(GraphProto& graph, Place& place) {
    Place inside{place.names, place.read, [&](TensorProto tensor, const std::string& name) {
                   std::string own = name;
                   if (place.names[name] > 1) {
                     own = unused_name(name, place.names);
                     rename_reads(graph, name, own);
                   }
                   place.add(std::move(tensor), own);
                 }};
    google::protobuf::RepeatedPtrField<TensorProto> kept;
    for (TensorProto& initializer : *graph.mutable_initializer()) {
      if (is_weight_tensor(initializer)) {
        const std::string name = initializer.name();
        inside.add(std::move(initializer), name);
      } else {
        *kept.Add() = std::move(initializer);
      }
    }
    graph.mutable_initializer()->Swap(&kept);
    visit(*graph.mutable_node(), inside);
  }

  struct Lifted {
    int inputs = 0;  // that the function had before
    std::vector<std::string> initializers;
  };

  OnnxModel& model_;
  GraphProto& graph_;
  NameCounts names_;
  std::map<const FunctionProto*, Lifted> lifted_;
};

bool can_be_weight(const onnx::TensorProto& tensor) {
  const auto type = element_type(tensor.data_type());
  if (!type || tensor.dims_size() == 0) return false;
  return dtype_of(*type).has_value();
}

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
  ConstantLift(model).run();
  return model;
}

std::vector<OnnxWeight> weights_of(const OnnxModel& model) {
  const onnx::GraphProto& graph = model.proto.graph();
  const std::set<std::string> constants = needed_values(model, graph);
  std::map<std::string, const onnx::TensorProto*> values;
  for (const auto& initializer : graph.initializer()) {
    const bool is_constant = constants.count(initializer.name()) > 0;
    if (!is_constant && can_be_weight(initializer)) values[initializer.name()] = &initializer;
  }
  std::set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  std::vector<OnnxWeight> weights;
  const auto add = [&](const std::string& name) {
    const auto found = values.find(name);
    if (found == values.end()) return;
    weights.push_back({name, found->second});
    values.erase(found);
  };
  for (const auto* const node : needed_nodes(graph.node(), outputs)) {
    for (const std::string& name : node->input()) add(name);
    for (const std::string& name : names_read_by(*node)) add(name);
  }
  for (const std::string& name : outputs) add(name);
  return weights;
}

}  // namespace tfaot::toolkit::engine
