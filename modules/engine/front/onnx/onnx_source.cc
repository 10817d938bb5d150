// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/onnx_source.h"

#include <cstring>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/lowering.h"
#include "front/lowering/post_order.h"
#include "front/onnx/operators.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/core/platform/env.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/records/model_files.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::FunctionProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::SparseTensorProto;
using onnx::TensorProto;

using NodeProtos = google::protobuf::RepeatedPtrField<NodeProto>;

// The type of the same name. DT_INVALID for types that XLA lacks, except strings.
tensorflow::DataType tf_type_of(int onnx_type) {
  const std::string name = onnx_type == TensorProto::FLOAT16 ? "HALF" : onnx_type_name(onnx_type);
  tensorflow::DataType type = tensorflow::DT_INVALID;
  const bool is_known = tensorflow::DataType_Parse("DT_" + name, &type);
  return is_known && !name.ends_with("INT4") ? type : tensorflow::DT_INVALID;
}

std::string describe(const NodeProto& node, const Opsets& opsets) {
  return describe_node(node, opset_of(node, opsets));
}

Error name_twice(std::string text, std::vector<std::string> nodes = {}) {
  return Error(std::move(text))
      .note(
          "each value of a graph needs a name of its own; onnx.checker.check_model() finds such "
          "faults")
      .about(word_of(ProblemKind::kModel), std::move(nodes));
}

// The names of the values. Error: two values have the same name.
template <typename Values>
Result<Names> unique_names(const Values& values, const char* what) {
  Names names;
  for (const auto& value : values) {
    if (names.insert(value.name()).second) continue;
    return fail(name_twice(fmt::format("the graph has two {}s '{}'", what, value.name())));
  }
  return names;
}

// Names are unique: of inputs, initializers and results of nodes. But an initializer with the name
// of an input is that input's default.
Status check_names(const GraphProto& graph, const Opsets& opsets) {
  TFAOT_ASSIGN(const Names inputs, unique_names(graph.input(), "input"));
  TFAOT_ASSIGN(const Names initializers, unique_names(graph.initializer(), "initializer"));
  std::map<std::string, const NodeProto*> makers;
  for (const NodeProto& node : graph.node()) {
    for (const std::string& made : node.output()) {
      if (made.empty()) continue;
      const auto [other, is_new] = makers.emplace(made, &node);
      if (!is_new) {
        return fail(name_twice(fmt::format("{} makes '{}', and so does {}", describe(node, opsets),
                                           made, describe(*other->second, opsets)),
                               {other->second->name(), node.name()}));
      }
      const bool is_input = inputs.contains(made);
      if (!is_input && !initializers.contains(made)) continue;
      return fail(
          name_twice(fmt::format("{} makes '{}', which is an {} already", describe(node, opsets),
                                 made, is_input ? "input" : "initializer"),
                     {node.name()}));
    }
  }
  return {};
}

// Node numbers in topological order. A sorted graph keeps its order.
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
    const NodeProto& node = graph.node(number);
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

// Sorts nodes topologically, as the standard demands but not all exporters do. Errors name nodes
// that form a cycle, or values with the same name.
Status sort_graph(onnx::GraphProto& graph, const Opsets& opsets) {
  TFAOT_TRY(check_names(graph, opsets));
  const PostOrder<int> nodes = node_order(graph);
  if (!nodes.cycle.empty()) return fail(cycle_error(graph, nodes.cycle, opsets));
  google::protobuf::RepeatedPtrField<NodeProto> sorted;
  for (const int node : nodes.order) sorted.Add()->Swap(graph.mutable_node(node));
  graph.mutable_node()->Swap(&sorted);
  return {};
}

Error at_tensor(const TensorProto& tensor, const std::string& what) {
  return Error(fmt::format("tensor '{}' {}", tensor.name(), what));
}

// Dense and row-major. Errors: its type, a negative or overflowing size.
Result<xla::Shape> shape_of_tensor(const TensorProto& tensor) {
  const auto type = element_type(tensor.data_type());
  if (!type) {
    return fail(at_tensor(tensor, fmt::format("has values of {}, which cannot be compiled",
                                              onnx_type_name(tensor.data_type()))));
  }
  if (static_cast<std::size_t>(tensor.dims_size()) > kMostDimensions) {
    return fail(at_tensor(tensor, fmt::format("has {} dimensions, but at most {} are allowed",
                                              tensor.dims_size(), kMostDimensions)));
  }
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.dims()) {
    if (size < 0 || size > kMostTensorElements / std::max<std::int64_t>(elements, 1)) {
      return fail(at_tensor(tensor, fmt::format("has a dimension of size {}", size)));
    }
    elements *= size;
  }
  const std::vector<std::int64_t> sizes(tensor.dims().begin(), tensor.dims().end());
  return shape_of(*type, sizes);
}

// A pruned net has few zeros for each value; a hostile file may claim any number.
constexpr std::int64_t kMostZerosOfAValue = 100;

Error at_sparse(const SparseTensorProto& sparse, const std::string& what) {
  return Error(fmt::format("sparse tensor '{}' {}", sparse.values().name(), what));
}

// The row-major position of each value. Its index is one number, or one for each dimension.
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
  const Dimensions indexed = is_linear ? Dimensions{xla::ShapeUtil::ElementsIn(shape)}
                                       : picked(shape.dimensions(), counted(rank));
  auto number = indices.data<std::int64_t>().begin();
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < values; ++i) {
    std::int64_t place = 0;
    bool is_inside = true;
    for (const std::int64_t size : indexed) {
      const std::int64_t index = *number++;
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

// The value of a Constant node.
Status make_dense(onnx::AttributeProto& attribute, const std::string& model_file) {
  if (attribute.name() != "sparse_value" || !attribute.has_sparse_tensor()) return {};
  TFAOT_ASSIGN(*attribute.mutable_t(), dense_tensor(attribute.sparse_tensor(), model_file));
  attribute.clear_sparse_tensor();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  return {};
}

Status make_dense(GraphProto& graph, const std::string& model_file) {
  for (const SparseTensorProto& sparse : graph.sparse_initializer()) {
    TFAOT_ASSIGN(*graph.add_initializer(), dense_tensor(sparse, model_file));
  }
  graph.clear_sparse_initializer();
  return {};
}

template <typename Given>
bool any_in(const Given& given, const Names& marked) {
  return std::ranges::any_of(given, [&](const auto& name) { return marked.contains(name); });
}

// True for ONNX's own operator of this name.
bool is_operator(const NodeProto& node, std::string_view name) {
  return node.op_type() == name && plain_domain(node.domain()).empty();
}

bool is_shape(const NodeProto& node) {
  return is_operator(node, "Shape") || is_operator(node, "Size");
}

// Names of values, and those from which the data of each is computed, or the other way round.
using DataFlow = std::map<std::string, Names>;

// The sources of each value of the graph, and of graphs inside its nodes.
DataFlow data_sources(const NodeProtos& nodes) {
  DataFlow sources;
  for_each_node(nodes, [&](const NodeProto& node) {
    Names read(node.input().begin(), node.input().end());
    if (is_shape(node)) read.clear();
    for (const auto& attribute : node.attribute()) {
      const GraphProto& graph = attribute.g();
      read.merge(names_of(graph.output()));
      // Outputs are inputs in the next step. A Loop has the step's number before the condition.
      const int before = node.op_type() == "Loop" ? 1 : 0;
      for (int i = 0; i < graph.input_size(); ++i) {
        Names& from = sources[graph.input(i).name()];
        if (i < node.input_size()) from.insert(node.input(i));
        if (i >= before && i - before < graph.output_size())
          from.insert(graph.output(i - before).name());
      }
    }
    for (const std::string& made : node.output()) {
      if (!made.empty()) sources[made].insert(read.begin(), read.end());
    }
  });
  return sources;
}

DataFlow reversed(const DataFlow& sources) {
  DataFlow users;
  for (const auto& [made, from] : sources) {
    for (const std::string& name : from) users[name].insert(made);
  }
  return users;
}

// The names, and all to which the flow leads from them.
Names reached(const DataFlow& flow, Names names) {
  std::vector<std::string> open(names.begin(), names.end());
  while (!open.empty()) {
    const auto next = flow.find(open.back());
    open.pop_back();
    if (next == flow.end()) continue;
    for (const std::string& name : next->second) {
      if (names.insert(name).second) open.push_back(name);
    }
  }
  return names;
}

absl::Span<const std::int64_t> sizes_of(const TensorProto& tensor) {
  return {tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size())};
}

// What the shapes of tensors are read as.
Names values_of_shapes(const NodeProtos& nodes) {
  Names made;
  for_each_node(nodes, [&](const NodeProto& node) {
    if (is_shape(node)) made.insert(node.output().begin(), node.output().end());
  });
  return made;
}

// The names of values that must be known at compile time, in the graph and the graphs inside its
// nodes.
Names needed_values(const GraphProto& graph) {
  const DataFlow sources = data_sources(graph.node());
  Names inputs = names_of(graph.input());
  for (const auto& initializer : graph.initializer()) inputs.erase(initializer.name());
  const DataFlow users = reversed(sources);
  const Names varying = reached(users, inputs);
  Names under_roots;
  for_each_node(graph.node(), [&](const NodeProto& node) {
    if (is_operator(node, "Sqrt")) under_roots.insert(node.input().begin(), node.input().end());
  });
  Names known;
  Names better;    // make better code if they are known, but depend on inputs
  Names settings;  // values that these are computed from may be weights
  for_each_node(graph.node(), [&](const NodeProto& node) {
    // Exporters write normalisations with an epsilon that is added under a square root.
    if (is_operator(node, "Add") && any_in(node.output(), under_roots))
      settings.insert(node.input().begin(), node.input().end());
    const OnnxOperator* const row = find_operator(plain_domain(node.domain()), node.op_type());
    if (row == nullptr) return;
    const auto add = [&node](const std::vector<int>& operands, const auto& place_of) {
      for (const int operand : operands) {
        if (operand < node.input_size()) place_of(node.input(operand)).insert(node.input(operand));
      }
    };
    add(row->operands.known, [&](const auto&) -> Names& { return known; });
    add(row->operands.settings, [&](const auto&) -> Names& { return settings; });
    add(row->operands.better_known,
        [&](const std::string& name) -> Names& { return varying.contains(name) ? better : known; });
  });
  // Whole numbers beside a size say what to do with it, as in n == 17.
  const Names of_shapes = reached(users, values_of_shapes(graph.node()));
  for_each_node(graph.node(), [&](const NodeProto& node) {
    Names beside;
    bool reads_size = false;
    for (const std::string& name : node.input()) {
      if (varying.contains(name)) continue;
      beside.insert(name);
      reads_size = reads_size || of_shapes.contains(name);
    }
    if (reads_size) better.merge(beside);
  });
  known = reached(sources, std::move(known));
  better = reached(sources, std::move(better));
  for (const TensorProto& initializer : graph.initializer()) {
    const auto sizes = sizes_of(initializer);
    const bool is_number = std::ranges::all_of(sizes, [](auto size) { return size == 1; });
    const auto type = element_type(initializer.data_type());
    const bool is_place = type && is_place_constant(dtype_of(*type), sizes);
    const bool is_whole = type && xla::primitive_util::IsIntegralType(*type);
    const bool is_setting = is_number || (is_whole && sizes.size() == 1);
    if ((is_setting && settings.contains(initializer.name())) ||
        (is_place && better.contains(initializer.name()))) {
      known.insert(initializer.name());
    }
  }
  return known;
}

bool is_weight_tensor(const TensorProto& tensor) {
  const auto type = element_type(tensor.data_type());
  return type && is_weight_constant(dtype_of(*type), sizes_of(tensor));
}

// The tensor of a Constant node; nothing for other values, or if a function's call supplies it.
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

// The model's own function that the node calls; null if it calls an operator.
const FunctionProto* function_of(const onnx::ModelProto& model, const NodeProto& node) {
  const auto& functions = model.functions();
  const auto found = std::ranges::find_if(functions, [&](const FunctionProto& function) {
    return function.name() == node.op_type() && function.overload() == node.overload() &&
           plain_domain(function.domain()) == plain_domain(node.domain());
  });
  return found == functions.end() ? nullptr : &*found;
}

// The nodes that are needed to compute the values, in order.
template <typename Given>
auto needed_nodes(Given& nodes, Names values) {
  std::vector<decltype(&*nodes.begin())> needed;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (!any_in(node->output(), values)) continue;
    values.merge(names_read_by(*node));
    needed.push_back(&*node);
  }
  std::ranges::reverse(needed);
  return needed;
}

// Simplifies a model to the nodes that its outputs need, sorted, where each value has a name of its
// own. Calls of the model's functions become the functions' nodes. Large Constant nodes become
// initializers of the model's graph, and so do large initializers of graphs inside nodes. Sparse
// tensors become dense.
class Flattening {
 public:
  explicit Flattening(OnnxModel& model) : model_(model), graph_(*model.proto.mutable_graph()) {}

  // Errors: values with the same name, cycles, a call that does not fit its function, recursive
  // functions, calls nested too deep, more than kMostNodes nodes; sparse tensors with indices that
  // are wrong or out of order, or with far more zeros than values.
  Status run() {
    // Output names of the model are unique; those of a loop's body need not be.
    TFAOT_TRY(unique_names(graph_.output(), "output"));
    TFAOT_TRY(prepare(graph_));
    names_ = names_of(graph_.input());
    names_.merge(names_of(graph_.initializer()));
    for (const NodeProto& node : graph_.node()) {
      names_.insert(node.output().begin(), node.output().end());
    }
    Scope scope;
    for (const std::string& name : names_) scope.names.emplace(name, name);
    return flatten(graph_, scope);
  }

 private:
  struct Call {
    const NodeProto& node;
    const FunctionProto& function;
    Opsets opsets;  // of the function
  };
  // A graph or a function, with the new names of its values.
  struct Scope {
    const Call* call = nullptr;     // of the function that holds it; null: none
    const Scope* around = nullptr;  // whose values a graph inside a node sees
    std::map<std::string, std::string> names = {};
  };

  Status prepare(GraphProto& graph) const {
    TFAOT_TRY(make_dense(graph, model_.file));
    return sort_graph(graph, opsets_of(model_.proto.opset_import()));
  }

  Status flatten(GraphProto& graph, Scope& scope) {
    NodeProtos nodes;
    for (NodeProto* const node : needed_nodes(*graph.mutable_node(), names_of(graph.output()))) {
      TFAOT_TRY(add(std::move(*node), scope, nodes));
    }
    graph.mutable_node()->Swap(&nodes);
    for (auto& output : *graph.mutable_output()) output.set_name(read(scope, output.name()));
    return {};
  }

  Status flatten_inside(GraphProto& graph, const Scope& around) {
    TFAOT_TRY(prepare(graph));
    Scope scope{around.call, &around};
    for (auto& input : *graph.mutable_input()) input.set_name(define(scope, input.name()));
    google::protobuf::RepeatedPtrField<TensorProto> kept;
    for (TensorProto& initializer : *graph.mutable_initializer()) {
      const std::string name = initializer.name();
      if (is_weight_tensor(initializer) && !scope.names.contains(name)) {
        scope.names[name] = lifted(std::move(initializer), scope);
        continue;
      }
      initializer.set_name(define(scope, name));
      *kept.Add() = std::move(initializer);
    }
    graph.mutable_initializer()->Swap(&kept);
    return flatten(graph, scope);
  }

  Status add(NodeProto node, Scope& scope, NodeProtos& nodes) {
    if (++count_ > kMostNodes) {
      return fail(
          Error(fmt::format("has more than {} nodes once its functions are called", kMostNodes)));
    }
    node.clear_metadata_props();
    if (scope.call != nullptr) take_from_call(node, *scope.call);
    for (std::string& input : *node.mutable_input()) input = read(scope, input);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) TFAOT_TRY(flatten_inside(*attribute.mutable_g(), scope));
      TFAOT_TRY(make_dense(attribute, model_.file));
    }
    auto tensor = tensor_of_constant(node);
    if (tensor && is_weight_tensor(*tensor)) {
      tensor->set_name(node.output(0));
      set_value(scope, node.output(0), lifted(*std::move(tensor), scope), nodes);
      return {};
    }
    for (std::string& output : *node.mutable_output()) output = define(scope, output);
    if (const auto* const function = function_of(model_.proto, node)) {
      return add_call({node, *function, opsets_of(function->opset_import())}, nodes);
    }
    *nodes.Add() = std::move(node);
    return {};
  }

  Status add_call(const Call& call, NodeProtos& nodes) {
    const auto& [node, function, opsets] = call;
    if (node.input_size() > function.input_size() || node.output_size() > function.output_size()) {
      return fail(Error(fmt::format("{} has {} inputs and {} outputs, but its function {} and {}",
                                    describe_node(node, 0), node.input_size(), node.output_size(),
                                    function.input_size(), function.output_size()))
                      .about(word_of(ProblemKind::kModel), {node.name()}));
    }
    if (contains(open_, &function))
      return fail(Error(fmt::format("function '{}' calls itself", function.name())));
    if (std::ssize(open_) > kMostNestedCalls) {
      return fail(
          Error(fmt::format("more than {} functions call each other in turn", kMostNestedCalls)));
    }
    Scope scope{&call};
    Names wanted;
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      scope.names.emplace(function.output(i), node.output(i));
      wanted.insert(function.output(i));
    }
    for (int i = 0; i < function.input_size(); ++i) {
      set_value(scope, function.input(i), i < node.input_size() ? node.input(i) : "", nodes);
    }
    model_.calls.push_back(node);
    open_.push_back(&function);
    for (const NodeProto* const one : needed_nodes(function.node(), wanted)) {
      TFAOT_TRY(add(*one, scope, nodes));
    }
    open_.pop_back();
    return {};
  }

  // Resolves what the node of a function leaves to the call: attributes, the version of its domain.
  static void take_from_call(NodeProto& node, const Call& call) {
    auto& attributes = *node.mutable_attribute();
    for (int i = attributes.size() - 1; i >= 0; --i) {
      const std::string referred = attributes[i].ref_attr_name();
      if (referred.empty()) continue;
      const std::string name = attributes[i].name();
      const onnx::AttributeProto* given = nullptr;
      for (const auto* const all : {&call.function.attribute_proto(), &call.node.attribute()}) {
        const auto found = std::ranges::find(*all, referred, &onnx::AttributeProto::name);
        if (found != all->end()) given = &*found;
      }
      if (given == nullptr) {
        attributes.DeleteSubrange(i, 1);  // the operator's default
        continue;
      }
      attributes[i] = *given;
      attributes[i].set_name(name);
    }
    node.set_name(call.node.name() + "/" + node.name());
    const std::int64_t opset = opset_of(node, call.opsets);
    auto& property = *node.add_metadata_props();
    property.set_key(kOpsetProperty);
    property.set_value(std::to_string(opset));
  }

  // Makes the tensor an initializer of the model's graph, one for all calls of a function. Returns
  // its name.
  std::string lifted(TensorProto tensor, const Scope& scope) {
    if (scope.call != nullptr) {
      tensor.set_name(scope.call->function.name() + "/" + tensor.name());
      const auto [known, is_new] = of_functions_.try_emplace(tensor.SerializeAsString());
      if (!is_new) return known->second;
      tensor.set_name(known->second = unused_name(tensor.name()));
    } else if (scope.around != nullptr) {
      tensor.set_name(unused_name(tensor.name()));
    }
    return (*graph_.add_initializer() = std::move(tensor)).name();
  }

  // Lets the name stand for the value. If it has another one, a call's result, that is computed.
  static void set_value(Scope& scope, const std::string& name, const std::string& value,
                        NodeProtos& nodes) {
    const auto [known, is_new] = scope.names.try_emplace(name, value);
    if (is_new || known->second == value) return;
    NodeProto& copy = *nodes.Add();
    copy.set_op_type("Identity");
    copy.add_input(value);
    copy.add_output(known->second);
  }

  std::string define(Scope& scope, const std::string& name) {
    if (name.empty()) return name;
    const auto [known, is_new] = scope.names.try_emplace(name);
    if (is_new) known->second = unused_name(name);
    return known->second;
  }

  // The new name of a value that a node reads. Functions see no values but their own.
  std::string read(const Scope& scope, const std::string& name) {
    for (const Scope* at = &scope; at != nullptr; at = at->around) {
      if (const auto found = at->names.find(name); found != at->names.end()) return found->second;
    }
    return scope.call == nullptr || name.empty() ? name : unused_name(name);
  }

  std::string unused_name(const std::string& wanted) {
    std::string name = wanted;
    for (int& last = last_numbers_.try_emplace(wanted, 1).first->second;
         !names_.insert(name).second;) {
      name = fmt::format("{}_{}", wanted, ++last);
    }
    return name;
  }

  OnnxModel& model_;
  GraphProto& graph_;
  std::int64_t count_ = 0;  // of nodes
  std::vector<const FunctionProto*> open_;
  Names names_;
  std::map<std::string, int> last_numbers_;          // of names like "x_2"
  std::map<std::string, std::string> of_functions_;  // names of lifted tensors
};

bool can_be_weight(const onnx::TensorProto& tensor) {
  const auto type = element_type(tensor.data_type());
  return type && tensor.dims_size() > 0 && dtype_of(*type);
}

// The values of a repeated field as bytes: of each the lower `width`.
template <typename Field>
std::string raw_bytes(const Field& field, std::size_t width) {
  std::string bytes;
  for (const auto value : field) {
    bytes.append(reinterpret_cast<const char*>(&value), std::min(width, sizeof value));
  }
  return bytes;
}

// Reads the field that the standard prescribes for the type. `width`: of an element.
std::string typed_bytes(const TensorProto& tensor, std::size_t width) {
  switch (tensor.data_type()) {
    case TensorProto::FLOAT:
    case TensorProto::COMPLEX64:
      return raw_bytes(tensor.float_data(), width);
    case TensorProto::DOUBLE:
    case TensorProto::COMPLEX128:
      return raw_bytes(tensor.double_data(), width);
    case TensorProto::INT64:
      return raw_bytes(tensor.int64_data(), width);
    case TensorProto::UINT64:
    case TensorProto::UINT32:
      return raw_bytes(tensor.uint64_data(), width);
    case TensorProto::BOOL: {
      std::string bytes;
      for (const auto value : tensor.int32_data()) bytes += value == 0 ? '\0' : '\1';
      return bytes;
    }
    default:
      return raw_bytes(tensor.int32_data(), width);
  }
}

Result<std::uint64_t> number_in(const TensorProto& tensor, const std::string& text) {
  if (const auto number = parse_number<std::uint64_t>(text)) return *number;
  return fail(
      at_tensor(tensor, fmt::format("has external data at '{}', which is not a number", text)));
}

Result<std::string> external_bytes(const TensorProto& tensor, const std::string& model_file,
                                   std::uint64_t size) {
  std::string location;
  std::uint64_t offset = 0;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      TFAOT_ASSIGN(offset, number_in(tensor, entry.value()));
    }
    if (entry.key() == "length") {
      TFAOT_ASSIGN(const std::uint64_t length, number_in(tensor, entry.value()));
      if (length != size) {
        return fail(at_tensor(
            tensor, fmt::format("has {} bytes of external data instead of {}", length, size)));
      }
    }
  }
  const RealFileSystem files;
  const bool is_name = !location.empty() && location.find('\0') == std::string::npos;
  const auto path = file_of_model(files, model_file, Path(model_file).parent_path() / location);
  if (!is_name || !path) {
    return fail(at_tensor(tensor, fmt::format("has its values in '{}'", location))
                    .note("external data must lie in the folder of the model"));
  }
  const auto cannot_read = [&](const std::string& why) {
    return fail(Error::at({path->string()}, why)
                    .note("the model keeps values there: copy the file with the model"));
  };
  const auto file = files.open(*path);
  if (!file) return cannot_read(file.error().message());
  TFAOT_ASSIGN(const std::uint64_t there, (*file)->size());
  if (there < offset || there - offset < size) {
    return cannot_read(
        fmt::format("ends before the {} bytes of tensor '{}' at {}", size, tensor.name(), offset));
  }
  return (*file)->read_range({offset, size});
}

// Reads a model and flattens it. Errors name the file: it cannot be read, is not an ONNX model, or
// Flattening fails.
Result<OnnxModel> read_onnx(const std::string& file) {
  std::string bytes;
  TFAOT_TRY(checked(tensorflow::ReadFileToString(tensorflow::Env::Default(), file, &bytes),
                    "cannot read it"));
  OnnxModel model;
  model.file = file;
  if (!model.proto.ParseFromString(bytes) || !model.proto.has_graph() ||
      model.proto.opset_import_size() == 0) {
    return fail(Error::at({file}, "is not an ONNX model")
                    .note("an ONNX file holds a graph and the versions of its operators"));
  }
  const Status flat = Flattening(model).run();
  if (!flat) return fail(Error(flat.error()).moved_to({file}));
  return model;
}

// The initializers that are weights, in order of first use by the outputs.
std::vector<const TensorProto*> weights_of(const OnnxModel& model) {
  const onnx::GraphProto& graph = model.proto.graph();
  const Names constants = needed_values(graph);
  std::map<std::string, const TensorProto*> values;
  for (const auto& initializer : graph.initializer()) {
    if (!constants.contains(initializer.name()) && can_be_weight(initializer)) {
      values[initializer.name()] = &initializer;
    }
  }
  std::vector<const TensorProto*> weights;
  const auto add = [&](const std::string& name) {
    if (const auto found = values.extract(name)) weights.push_back(found.mapped());
  };
  for (const NodeProto& node : graph.node()) {
    for (const std::string& name : node.input()) add(name);
    for (const std::string& name : names_read_by(node)) add(name);
  }
  for (const std::string& name : names_of(graph.output())) add(name);
  return weights;
}

// Refuses outputs of strings, such as the labels of a classifier.
Status check_no_strings(const std::vector<ModelTensor>& outputs) {
  for (const ModelTensor& output : outputs) {
    if (output.type != tensorflow::DT_STRING) continue;
    return fail(Error(fmt::format("output '{}' has dtype string, which compiled models cannot have",
                                  output.name))
                    .note("if it holds a classifier's labels: train with integer labels, or remove "
                          "the output from the model")
                    .about(word_of(ProblemKind::kDtype), {output.name}));
  }
  return {};
}

// A weight that an operator computes from its attributes.
struct MadeWeight {
  std::string name;
  std::shared_ptr<const xla::Literal> value;
};

class OnnxLowering final : public SignatureLowering {
 public:
  OnnxLowering(const OnnxModel& model, const std::vector<ModelTensor>& inputs,
               const std::vector<ModelTensor>& outputs, const LoweringOptions& options)
      : SignatureLowering(inputs, outputs, options.fixed_shapes),
        follows_sizes_(options.follows_sizes),
        model_(model),
        opsets_(opsets_of(model.proto.opset_import())) {}

  Status add_weights() {
    for (const TensorProto* const weight : weights_of(model_)) {
      TFAOT_ASSIGN(xla::Shape shape, shape_of_tensor(*weight));
      weights_.push_back(
          {weight->name(), std::move(shape), [weight, file = model_.file]() -> Result<Value> {
             TFAOT_ASSIGN(auto value, read_tensor(*weight, file));
             return std::make_shared<xla::Literal>(std::move(value));
           }});
    }
    // The domain whose operators may have weights in their attributes.
    if (opsets_.contains("ai.onnx.ml")) find_made_weights();
    return {};
  }

  Result<LoweredModel> lower(std::int64_t batch_size) const override {
    try {
      return lower_graph(batch_size, nullptr);
    } catch (const Refusal& refusal) {
      return fail(refusal.error());
    }
  }

 private:
  // `unknown`: takes the weights that operators make, except those of `made_`. Throws a Refusal.
  Result<LoweredModel> lower_graph(std::int64_t batch_size,
                                   std::vector<MadeWeight>* unknown) const {
    xla::XlaBuilder builder(fmt::format("tfaot_bs{}", batch_size));
    OnnxScope scope(model_, opsets_, builder);
    scope.state().follows_sizes = follows_sizes_;
    TFAOT_ASSIGN(const auto parameters, add_parameters(scope, batch_size));
    scope.keep_by([&](const std::string& name, const xla::Literal& value) {
      // Branches and steps may make different values of the same name.
      const auto is_it = [&](const MadeWeight& made) {
        return made.name == name && *made.value == value;  // by bytes: -0 differs from 0
      };
      const auto found = std::ranges::find_if(made_, is_it);
      if (found != made_.end()) return entry(parameters, found - made_.begin());
      if (unknown != nullptr && std::ranges::none_of(*unknown, is_it))
        unknown->push_back({name, std::make_shared<xla::Literal>(value.Clone())});
      return xla::ConstantLiteral(&builder, value);
    });
    scope.lower(model_.proto.graph());
    std::vector<xla::XlaOp> results = scope.outputs_of(model_.proto.graph());
    for (std::size_t i = 0; i < results.size(); ++i) {
      TFAOT_TRY(check_made(builder, results[i], outputs_[i]));
    }
    TFAOT_ASSIGN(LoweredModel lowered, built(builder, std::move(results)));
    return finished(std::move(lowered), batch_size);
  }

  // Lowers the graph for one row to find the weights that operators make. Other values that they
  // make for more rows are constants.
  void find_made_weights() {
    std::int64_t rows = 1;
    for (const ModelTensor& input : inputs_) {
      if (!fixed_shapes_ && input.shape[0] >= 0) rows = input.shape[0];
    }
    std::vector<MadeWeight> made;
    try {
      if (!lower_graph(rows, &made)) return;  // lower() says it
    } catch (const Refusal&) {
      return;
    }
    made_ = std::move(made);
    for (const MadeWeight& one : made_) {
      weights_.push_back(
          {one.name, one.value->shape(), [value = one.value]() -> Result<Value> { return value; }});
    }
  }

  // Returns the weights of `made_`; all other parameters are set in the scope by name.
  Result<std::vector<xla::XlaOp>> add_parameters(OnnxScope& scope, std::int64_t batch_size) const {
    TFAOT_ASSIGN(const auto all, parameters(scope.builder(), batch_size));
    const std::size_t inputs = inputs_.size();
    const std::size_t named = all.size() - made_.size();
    for (std::size_t i = 0; i < named; ++i) {
      scope.set(i < inputs ? inputs_[i].name : weights_[i - inputs].name, all[i]);
    }
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(named), all.end());
  }

  // Checks that the output has its declared type, as callers read it as that.
  static Status check_made(const xla::XlaBuilder& builder, xla::XlaOp made,
                           const ModelTensor& output) {
    TFAOT_ASSIGN(const xla::Shape shape, or_internal(builder.GetShape(made)));
    const tensorflow::DataType type = tensorflow_type(shape.element_type());
    if (type == output.type) return {};
    return fail(Error(fmt::format("output '{}' is declared as {}, but the graph makes {}",
                                  output.name, type_name(output.type), type_name(type)))
                    .note("declare the type that is made, or put a Cast before the output")
                    .about(word_of(ProblemKind::kDtype), {output.name}));
  }

  const bool follows_sizes_;
  const OnnxModel& model_;
  Opsets opsets_;
  std::vector<MadeWeight> made_;  // the last of the weights
};

Result<ModelTensor> tensor_of(const onnx::ValueInfoProto& value) {
  ModelTensor tensor;
  tensor.name = tensor.tensor = value.name();
  if (!value.type().has_tensor_type()) {
    return fail(Error(fmt::format("'{}' is not a tensor: a sequence, an optional value or a map",
                                  value.name()))
                    .note("compiled models have tensors as inputs and outputs; a classifier of "
                          "scikit-learn, XGBoost or LightGBM has them if you export it with "
                          "zipmap=False")
                    .about(word_of(ProblemKind::kDtype), {value.name()}));
  }
  const auto& type = value.type().tensor_type();
  tensor.type = tf_type_of(type.elem_type());
  if (tensor.type == tensorflow::DT_INVALID) {
    return fail(Error(fmt::format("'{}' has dtype {}, which compiled models cannot have",
                                  value.name(), onnx_type_name(type.elem_type())))
                    .about(word_of(ProblemKind::kDtype), {value.name()}));
  }
  tensor.rank_known = type.has_shape();
  for (const auto& dimension : type.shape().dim()) {
    const std::int64_t size = dimension.has_dim_value() ? dimension.dim_value() : -1;
    add_dimension(tensor, size, dimension.dim_param());
  }
  return tensor;
}

// Inputs with a value in the config become initializers.
Status fix_inputs(onnx::GraphProto& graph, const std::vector<ModelConstant>& constants) {
  const Names initializers = names_of(graph.initializer());
  for (std::size_t i = 0; i < constants.size(); ++i) {
    auto& inputs = *graph.mutable_input();
    Names names = names_of(inputs);
    std::erase_if(names, [&](const auto& name) { return initializers.contains(name); });
    const ModelConstant& constant = constants[i];
    if (!names.contains(constant.name)) {
      return fail(no_place_for(constant, i, "input", names));
    }
    const auto input = std::ranges::find(inputs, constant.name, &onnx::ValueInfoProto::name);
    TFAOT_ASSIGN(const ModelTensor tensor, tensor_of(*input));
    TFAOT_ASSIGN(
        std::string bytes,
        constant_bytes(constant, i, {"input", tensor.type, tensor.rank_known, tensor.shape}));
    onnx::TensorProto& value = *graph.add_initializer();
    value.set_name(constant.name);
    value.set_data_type(input->type().tensor_type().elem_type());
    for (const std::int64_t size : constant.shape) value.add_dims(size);
    value.set_raw_data(std::move(bytes));
    inputs.erase(input);
  }
  return {};
}

class OnnxSource final : public SourceModel {
 public:
  explicit OnnxSource(OnnxModel model) : model_(std::move(model)) {}

  Status read_signature(const JobModel& job) {
    const onnx::GraphProto& graph = model_.proto.graph();
    const Names initializers = names_of(graph.initializer());
    for (const auto& value : graph.input()) {
      if (initializers.count(value.name()) > 0) continue;
      TFAOT_ASSIGN(ModelTensor input, tensor_of(value));
      inputs_.push_back(std::move(input));
    }
    for (const auto& value : graph.output()) {
      TFAOT_ASSIGN(ModelTensor output, tensor_of(value));
      outputs_.push_back(std::move(output));
    }
    return set_open_sizes(inputs_, job);
  }

  std::vector<CheckedOperation> operations() const override {
    std::map<std::string, CheckedOperation> rows;
    visit_needed([&](const NodeProto& node) {
      CheckedOperation& row = rows[operator_name(node)];
      row.operation = operator_name(node);
      row.nodes.push_back({node.name(), ""});
      if (function_of(model_.proto, node) != nullptr) {
        row.support = OperationSupport::kStructure;
      } else if (find_operator(plain_domain(node.domain()), node.op_type()) == nullptr) {
        row.support = OperationSupport::kRefused;
        row.advice = node.op_type() == "ZipMap"
                         ? "export the model with zipmap=False"
                         : "replace it by operators that 'tfaot check --ops --format onnx' "
                           "lists";
      }
    });
    return mapped(rows, &decltype(rows)::value_type::second);
  }

  Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const override {
    if (!options.any_opset) TFAOT_TRY(check_opsets(model_.proto));
    TFAOT_TRY(check_no_strings(outputs_));
    TFAOT_TRY(
        check_signature("the graph", inputs_, outputs_, {.fixed_shapes = options.fixed_shapes}));
    auto lowering = std::make_unique<OnnxLowering>(model_, inputs_, outputs_, options);
    if (!options.embed_weights) TFAOT_TRY(lowering->add_weights());
    return lowering;
  }

  std::vector<Variable> variables() const override {
    return mapped(weights_of(model_), [](const TensorProto* weight) {
      const auto sizes = sizes_of(*weight);
      return Variable{
          weight->name(), type_name(tf_type_of(weight->data_type())), {sizes.begin(), sizes.end()}};
    });
  }

  std::vector<std::string> output_origins() const override {
    std::map<std::string, std::string> makers;
    for (const auto& node : model_.proto.graph().node()) {
      for (const auto& output : node.output()) makers[output] = node.name();
    }
    return mapped(outputs_, [&](const ModelTensor& output) { return makers[output.name]; });
  }

  std::map<std::string, std::int64_t> operation_counts() const override {
    std::map<std::string, std::int64_t> counts;
    visit_needed([&](const onnx::NodeProto& node) { ++counts[operator_name(node)]; });
    return counts;
  }

 private:
  static std::string operator_name(const onnx::NodeProto& node) {
    const std::string domain = plain_domain(node.domain());
    return domain.empty() ? node.op_type() : domain + "." + node.op_type();
  }

  // Includes the nodes of inner graphs and of called functions, and the calls.
  template <typename Visit>
  void visit_needed(const Visit& visit) const {
    for_each_node(model_.calls, visit);
    for_each_node(model_.proto.graph().node(), visit);
  }

  OnnxModel model_;
};

}  // namespace

std::optional<xla::PrimitiveType> element_type(int onnx_type) {
  xla::PrimitiveType type;
  const auto found = tensorflow::DataTypeToPrimitiveType(tf_type_of(onnx_type), &type);
  return found.ok() ? std::optional(type) : std::nullopt;
}

std::string onnx_type_name(int onnx_type) {
  return onnx::TensorProto_DataType_IsValid(onnx_type)
             ? onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(onnx_type))
             : fmt::format("type {}", onnx_type);
}

Result<xla::Literal> read_tensor(const TensorProto& tensor, const std::string& model_file) {
  TFAOT_ASSIGN(const xla::Shape shape, shape_of_tensor(tensor));
  const auto size = static_cast<std::uint64_t>(xla::ShapeUtil::ByteSizeOf(shape));
  std::string kept;
  const std::string* bytes = &kept;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    TFAOT_ASSIGN(kept, external_bytes(tensor, model_file, size));
  } else if (tensor.has_raw_data()) {
    bytes = &tensor.raw_data();
  } else {
    const auto width = xla::ShapeUtil::ByteSizeOfPrimitiveType(shape.element_type());
    kept = typed_bytes(tensor, static_cast<std::size_t>(width));
  }
  if (bytes->size() != size) {
    return fail(
        at_tensor(tensor, fmt::format("of shape {} has {} bytes of values instead of {}",
                                      xla::ShapeUtil::HumanString(shape), bytes->size(), size)));
  }
  xla::Literal literal(shape);
  if (size > 0) std::memcpy(literal.untyped_data(), bytes->data(), size);
  if (shape.element_type() == xla::PRED) {
    make_bools(static_cast<char*>(literal.untyped_data()), size);
  }
  return literal;
}

Result<ModelFunctions> onnx_functions(const std::string& file) {
  TFAOT_ASSIGN(const OnnxModel model, read_onnx(file));
  std::string producer = model.proto.producer_name();
  if (const auto& version = model.proto.producer_version(); !version.empty()) {
    producer += " " + version;
  }
  return one_function(std::move(producer), ModelFormat::kOnnx, file);
}

Result<std::unique_ptr<SourceModel>> load_onnx_source(const JobModel& job) {
  TFAOT_ASSIGN(OnnxModel model, read_onnx(job.source));
  TFAOT_TRY(fix_inputs(*model.proto.mutable_graph(), job.constants));
  auto source = std::make_unique<OnnxSource>(std::move(model));
  TFAOT_TRY(source->read_signature(job));
  return source;
}

}  // namespace tfaot::toolkit::engine
