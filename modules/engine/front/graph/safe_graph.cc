// SPDX-License-Identifier: Apache-2.0
#include "front/graph/safe_graph.h"

#include <fmt/format.h>

#include "front/lowering/post_order.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// Operations without an XLA kernel that only compute. Sorted. Read an operation's kernel before you
// add it.
constexpr std::string_view kComputing =
    "AdjustContrast AsString AudioSpectrogram BandedTriangularSolve BatchCholesky "
    "BatchMatrixBandPart BatchMatrixDeterminant BatchMatrixDiag BatchMatrixDiagPart "
    "BatchMatrixInverse BatchMatrixSetDiag BatchMatrixSolve BatchMatrixSolveLs "
    "BatchMatrixTriangularSolve BatchNormWithGlobalNormalization BatchSelfAdjointEig "
    "BatchSelfAdjointEigV2 BatchSvd BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e "
    "BesselK1 BesselK1e BesselY0 BesselY1 BlockLSTM BlockLSTMV2 CSRSparseMatrixToDense "
    "CholeskyGrad CombinedNonMaxSuppression ComputeAccidentalHits CropAndResize Dawsn "
    "DecodeBase64 DecodeCSV DecodePaddedRaw DecodeRaw DenseCountSparseOutput "
    "DenseToDenseSetOperation DenseToSparseSetOperation Dilation2D EditDistance Eig EncodeBase64 "
    "EuclideanNorm Expint ExtractGlimpse ExtractGlimpseV2 ExtractVolumePatches Fingerprint "
    "FresnelCos FresnelSin FusedPadConv2D FusedResizeAndPadConv2D GRUBlockCell "
    "HistogramFixedWidth HostConst ImageProjectiveTransformV2 ImageProjectiveTransformV3 InTopK "
    "InplaceAdd InplaceSub InplaceUpdate InvGrad IsotonicRegression LSTMBlockCell "
    "LogMatrixDeterminant Lu MatrixDeterminant MatrixExponential MatrixLogarithm MatrixSolveLs "
    "MatrixSquareRoot MaxPoolWithArgmax Mfcc NonMaxSuppression NonMaxSuppressionV2 "
    "NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps NthElement ParallelConcat ParseTensor "
    "QuantizeAndDequantize QuantizeDownAndShrinkRange QuantizeV2 QuantizedAdd QuantizedAvgPool "
    "QuantizedBiasAdd QuantizedConcat QuantizedConv2D QuantizedMatMul QuantizedMaxPool "
    "QuantizedMul QuantizedRelu QuantizedRelu6 QuantizedReshape RaggedBincount "
    "RaggedCountSparseOutput RaggedCross RaggedFillEmptyRows RaggedGather RaggedRange "
    "RaggedTensorToSparse RaggedTensorToTensor ReduceJoin RegexFullMatch RegexReplace "
    "RequantizationRange Requantize ResizeArea ResizeBicubic ScaleAndTranslate "
    "ScatterNdNonAliasingAdd SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum "
    "SelfAdjointEig SerializeTensor SetSize ShardedFilename SparseAdd SparseBincount SparseConcat "
    "SparseCountSparseOutput SparseCross SparseCrossHashed SparseCrossV2 SparseDenseCwiseAdd "
    "SparseDenseCwiseDiv SparseDenseCwiseMul SparseFillEmptyRows SparseReduceMax "
    "SparseReduceMaxSparse SparseReduceSum SparseReduceSumSparse SparseReorder SparseReshape "
    "SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN "
    "SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments "
    "SparseSlice SparseSoftmax SparseSparseMaximum SparseSparseMinimum SparseSplit "
    "SparseTensorDenseAdd SparseTensorDenseMatMul SparseToSparseSetOperation Spence "
    "StaticRegexFullMatch StaticRegexReplace StringFormat StringJoin StringLength StringLower "
    "StringNGrams StringSplit StringSplitV2 StringStrip StringToHashBucket StringToHashBucketFast "
    "StringToHashBucketStrong StringToNumber StringUpper Substr TensorListConcat "
    "TensorListConcatLists TensorListPushBackBatch TensorListResize TensorListScatter "
    "TensorListScatterIntoExistingList TensorListScatterV2 TileGrad TopK UnicodeDecode "
    "UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode UniqueWithCounts "
    "UniqueWithCountsV2 UnravelIndex UnsortedSegmentJoin";

// Loops and branches of TensorFlow 1, which become functions. Placeholders are reported elsewhere.
constexpr std::string_view kStructure =
    "Enter Exit LoopCond Merge NextIteration Placeholder PlaceholderV2 RefEnter RefExit "
    "RefIdentity RefMerge RefNextIteration RefSelect RefSwitch Switch";

// XLA would compile them to calls of functions whose names the model chooses.
constexpr std::string_view kCallingByName = "XlaCustomCall XlaCustomCallV2";

// Sorted by operation, which may have several, for different types.
const std::vector<const tf::KernelDef*>& xla_kernels() {
  static const std::vector<const tf::KernelDef*> all = [] {
    tf::XlaOpRegistry::RegisterCompilationKernels();
    auto kernels = tf::XlaOpRegistry::DeviceKernels(tf::DEVICE_CPU_XLA_JIT, true);
    std::ranges::stable_sort(kernels, {}, [](const auto* kernel) { return kernel->op(); });
    return kernels;
  }();
  return all;
}

bool has_xla_kernel(const std::string& operation) {
  return !is_listed(kCallingByName, operation) && !kernels_of(operation).empty();
}

// Null if TensorFlow has no such operation.
const tf::OpDef* definition_of(const std::string& operation) {
  const tf::OpDef* definition = nullptr;
  const auto status = tf::OpRegistry::Global()->LookUpOpDef(operation, &definition);
  return status.ok() ? definition : nullptr;
}

// The functions that a node may call, through any attribute or by its own name. Sorted by attribute
// name, since a protobuf map has no order.
std::vector<std::string> functions_named_in(const tf::NodeDef& node) {
  std::vector<std::string> names;
  std::map<std::string_view, const tf::AttrValue*> sorted;
  for (const auto& [key, attribute] : node.attr()) sorted[key] = &attribute;
  for (const auto& [key, attribute] : sorted) {
    if (attribute->has_func()) names.push_back(attribute->func().name());
    for (const auto& function : attribute->list().func()) names.push_back(function.name());
  }
  names.push_back(node.op());
  return names;
}

// The stateful counterparts of operations that call functions.
const std::map<std::string, std::string> kWithState = {
    {"PartitionedCall", "StatefulPartitionedCall"},
    {"StatelessCase", "Case"},
    {"StatelessIf", "If"},
    {"StatelessWhile", "While"}};

class Library {
 public:
  explicit Library(tf::FunctionDefLibrary& library) {
    for (auto& function : *library.mutable_function()) {
      functions_[function.signature().name()] = &function;
    }
    for (const auto& gradient : library.gradient()) {
      gradients_[gradient.function_name()] = gradient.gradient_func();
    }
  }

  tf::FunctionDef* find(const std::string& name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }

  // The functions that a node calls, and those of their gradients.
  std::vector<std::string> called_by(const tf::NodeDef& node) const {
    std::vector<std::string> called;
    for (const std::string& name : functions_named_in(node)) {
      if (find(name) == nullptr) continue;
      called.push_back(name);
      const auto gradient = gradients_.find(name);
      if (gradient != gradients_.end()) called.push_back(gradient->second);
    }
    return called;
  }

  bool has_state(const tf::NodeDef& node) const {
    if (const tf::FunctionDef* function = find(node.op())) {
      return function->signature().is_stateful();
    }
    const tf::OpDef* const definition = definition_of(node.op());
    return definition != nullptr && definition->is_stateful();
  }

 private:
  std::map<std::string, tf::FunctionDef*> functions_;
  std::map<std::string, std::string> gradients_;
};

template <typename Field, typename Stays>
void erase_others(Field& field, const Stays& stays) {
  field.erase(std::remove_if(field.begin(), field.end(), std::not_fn(stays)), field.end());
}

// As in TensorFlow, stateful operations are kept.
void remove_dead_nodes(tf::FunctionDef& function, const Library& library) {
  std::vector<std::string> roots;
  for (const auto& node : function.node_def()) {
    if (library.has_state(node)) roots.push_back(node.name());
  }
  for (const auto& [name, output] : function.ret()) roots.push_back(output);
  for (const auto& [name, node] : function.control_ret()) roots.push_back(node);
  std::set<std::string> live;
  for (const auto* node : needed_by(nodes_of(function.node_def()), roots))
    live.insert(node->name());
  erase_others(*function.mutable_node_def(),
               [&](const auto& node) { return live.contains(node.name()); });
}

class Guard {
 public:
  Guard(tf::GraphDef& graph, const GraphRules& rules)
      : graph_(graph), rules_(rules), library_(*graph.mutable_library()) {}

  Status run() {
    TFAOT_TRY(check_names());
    for (const auto& node : graph_.node()) visit(node, "");
    while (!queue_.empty()) {
      const std::string name = std::move(queue_.front());
      queue_.pop_front();
      tf::FunctionDef* function = library_.find(name);
      if (function == nullptr || !kept_.insert(name).second) continue;
      remove_dead_nodes(*function, library_);
      for (const auto& node : function->node_def()) visit(node, name);
    }
    if (!refused_.empty()) return fail(rules_.refuse(refused_));
    TFAOT_TRY(check_recursion());
    remove_unused_functions();
    spread_state();
    return {};
  }

 private:
  // Names are unique: otherwise TensorFlow might use another function or operation than the one
  // that was checked.
  Status check_names() const {
    std::set<std::string> names;
    for (const auto& function : graph_.library().function()) {
      const std::string& name = function.signature().name();
      if (!names.insert(name).second) {
        return fail(Error(fmt::format("the model has two functions of the name '{}'", name)));
      }
      if (definition_of(name) != nullptr) {
        return fail(Error(
            fmt::format("the model has a function '{}', which is an operation's name", name)));
      }
    }
    return {};
  }

  void visit(const tf::NodeDef& node, const std::string& function) {
    for (auto& name : library_.called_by(node)) queue_.push_back(std::move(name));
    if (library_.find(node.op()) != nullptr) return;
    const auto [known, is_new] = allowed_.try_emplace(node.op(), false);
    if (is_new) known->second = rules_.allows(node.op());
    if (!known->second) refused_.push_back({node.name(), describe_node(node, function)});
  }

  // TensorFlow would follow the calls until its stack is full.
  Status check_recursion() const {
    const auto called = [&](const std::string& function) {
      std::vector<std::string> names;
      for (const auto& node : library_.find(function)->node_def()) {
        for (auto& name : library_.called_by(node)) {
          if (library_.find(name) != nullptr) names.push_back(std::move(name));
        }
      }
      return names;
    };
    const auto calls = post_order<std::string>({kept_.begin(), kept_.end()}, called);
    if (calls.cycle.empty()) return {};
    return fail(Error(fmt::format("the model's function '{}' calls itself", calls.cycle.front()))
                    .note("compiled code has no recursion: express it with a loop"));
  }

  void remove_unused_functions() {
    erase_others(*graph_.mutable_library()->mutable_function(),
                 [&](const auto& function) { return kept_.contains(function.signature().name()); });
    erase_others(*graph_.mutable_library()->mutable_gradient(),
                 [&](const auto& gradient) { return kept_.contains(gradient.function_name()); });
    library_ = Library(*graph_.mutable_library());
  }

  // Repeats until nothing changes: functions may call each other in any order.
  void spread_state() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& function : *graph_.mutable_library()->mutable_function()) {
        bool stateful = function.signature().is_stateful();
        for (auto& node : *function.mutable_node_def()) stateful = spread_to(node) || stateful;
        if (stateful == function.signature().is_stateful()) continue;
        function.mutable_signature()->set_is_stateful(true);
        changed = true;
      }
    }
    for (auto& node : *graph_.mutable_node()) spread_to(node);
  }

  // True if the node has state.
  bool spread_to(tf::NodeDef& node) const {
    if (library_.has_state(node)) return true;
    const auto called = library_.called_by(node);
    const bool stateful = std::ranges::any_of(
        called, [&](const auto& name) { return library_.find(name)->signature().is_stateful(); });
    const auto other = kWithState.find(node.op());
    if (stateful && other != kWithState.end()) node.set_op(other->second);
    return stateful;
  }

  tf::GraphDef& graph_;
  const GraphRules& rules_;
  Library library_;
  std::deque<std::string> queue_;
  std::set<std::string> kept_;
  std::map<std::string, bool> allowed_;
  std::vector<BlamedNode> refused_;
};

// Operations that loading may run besides pure ones: those on variables and the checkpoint, and
// calls of functions, which are checked too.
constexpr std::string_view kLoading =
    "Assign AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp AssignVariableOp Case If "
    "IsVariableInitialized Merge Placeholder PlaceholderV2 ReadVariableOp RestoreV2 "
    "StatefulPartitionedCall Switch VarHandleOp VarIsInitializedOp Variable VariableV2 While";

GraphRules rules() {
  const auto allows = [](const std::string& operation) {
    return is_pure(operation) || is_listed(kLoading, operation);
  };
  const auto refuse = [](const std::vector<BlamedNode>& nodes) {
    Error error(fmt::format("loading the model's variables would run {}", nodes.front().text));
    for (std::size_t i = 1; i < nodes.size(); ++i) error.note("and " + nodes[i].text);
    return std::move(error)
        .note(
            "tfaot runs only operations of TensorFlow that compute and do nothing else: others "
            "may read and write files")
        .note("save the model again, with the values of its variables in it")
        .about(word_of(ProblemKind::kNoKernel), names_of(nodes));
  };
  return {allows, refuse};
}

// The operations that take a variable: those that write it, and calls of functions that do.
std::vector<std::string> operations_on_variables(const Nodes& nodes, const std::string& target) {
  std::vector<std::string> found;
  for (const auto* node : needed_by(nodes, {target})) {
    const bool takes_one = std::ranges::any_of(node->input(), [&](const std::string& input) {
      const auto* from = find_node(nodes, input);
      return !input.starts_with('^') && from != nullptr && is_variable(*from);
    });
    if (takes_one) found.push_back(node->name());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Follows the checkpoint's path to the operations that read files.
class Files {
 public:
  Files(const tf::GraphDef& graph, std::string path_node)
      : functions_(functions_of(graph.library())) {
    visit(nodes_of(graph.node()), {std::move(path_node)}, "");
  }

  // Nodes that read another file.
  const std::vector<std::string>& others() const { return others_; }

 private:
  using Names = std::set<std::string>;

  static bool is_path(const Nodes& nodes, const Names& paths, std::string input) {
    for (std::size_t i = 0; i <= nodes.size(); ++i) {  // a graph may refer to itself
      if (paths.contains(node_name(input))) return true;
      const auto* node = find_node(nodes, input);
      if (node == nullptr || node->op() != "Identity" || node->input_size() == 0) return false;
      input = node->input(0);
    }
    return false;
  }

  // `paths`: nodes and arguments that hold the path.
  void visit(const Nodes& nodes, const Names& paths, const std::string& function) {
    for (const auto& [name, node] : nodes) {
      if (node->op() == "RestoreV2" &&
          (node->input_size() == 0 || !is_path(nodes, paths, node->input(0)))) {
        others_.push_back(describe_node(*node, function));
      }
      visit_calls(nodes, paths, *node);
    }
  }

  void visit_calls(const Nodes& nodes, const Names& paths, const tf::NodeDef& node) {
    visit_call(nodes, paths, node, node.op());
    for (const auto& [key, attribute] : node.attr()) {
      // Loops and branches number their arguments differently, so none of those counts as the path.
      if (attribute.has_func()) {
        visit_call(nodes, is_call(node) ? paths : Names(), node, attribute.func().name());
      }
      for (const auto& one : attribute.list().func()) visit_call(nodes, {}, node, one.name());
    }
  }

  void visit_call(const Nodes& nodes, const Names& paths, const tf::NodeDef& node,
                  const std::string& name) {
    const auto found = functions_.find(name);
    if (found == functions_.end()) return;
    const tf::FunctionDef& function = *found->second;
    Names handed_on;
    for (int i = 0; i < function.signature().input_arg_size() && i < node.input_size(); ++i) {
      if (!paths.empty() && is_path(nodes, paths, node.input(i))) {
        handed_on.insert(function.signature().input_arg(i).name());
      }
    }
    if (!seen_.emplace(name, handed_on).second) return;
    visit(nodes_of(function.node_def()), handed_on, name);
  }

  Functions functions_;
  std::set<std::pair<std::string, Names>> seen_;
  std::vector<std::string> others_;
};

// Ops whose result sizes depend on values: TensorFlow's shape functions leave them unknown.
constexpr std::string_view kDataDependentOps =
    "Where Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 ListDiff DynamicPartition "
    "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
    "NonMaxSuppressionV5 SparseToDense";

}  // namespace

// XLA's kernels of stateless operations describe a computation; TensorFlow's versions execute it.
bool is_pure(const std::string& operation) {
  if (is_listed(kComputing, operation)) return true;
  const tf::OpDef* const definition = definition_of(operation);
  return has_xla_kernel(operation) && definition != nullptr && !definition->is_stateful();
}

bool is_compiled(const std::string& operation) {
  return has_xla_kernel(operation) || connects(operation);
}

bool connects(const std::string& operation) { return is_listed(kStructure, operation); }

bool calls_by_name(const std::string& operation) { return is_listed(kCallingByName, operation); }

std::vector<const tf::KernelDef*> kernels_of(const std::string& operation) {
  const auto& all = xla_kernels();
  std::vector<const tf::KernelDef*> found;
  for (auto kernel = std::ranges::lower_bound(all, operation, {}, &tf::KernelDef::op);
       kernel != all.end() && (*kernel)->op() == operation; ++kernel) {
    found.push_back(*kernel);
  }
  return found;
}

std::vector<std::string> operations_with_kernel() {
  std::vector<std::string> names;
  for (const auto* kernel : xla_kernels()) {
    if (names.empty() || names.back() != kernel->op()) names.push_back(kernel->op());
  }
  return names;
}

Status make_safe(tf::GraphDef& graph, const GraphRules& rules) { return Guard(graph, rules).run(); }

Result<LoadingGraph> loading_graph(const tf::MetaGraphDef& model, const tf::GraphDef& whole) {
  const Nodes nodes = nodes_of(whole.node());
  LoadingGraph loading;
  loading.restore = operations_on_variables(nodes, model.saver_def().restore_op_name());
  for (const auto& name : init_operations(model)) {
    for (auto& operation : operations_on_variables(nodes, name)) {
      loading.initialize.push_back(std::move(operation));
    }
  }
  std::vector<std::string> run = loading.restore;
  run.insert(run.end(), loading.initialize.begin(), loading.initialize.end());
  const auto kept = needed_by(nodes, run);
  tf::GraphDef& graph = loading.graph;
  graph = part_of(whole, kept);
  TFAOT_TRY(make_safe(graph, rules()));
  const std::string path = node_name(model.saver_def().filename_tensor_name());
  const Files files(graph, path);
  if (!files.others().empty()) {
    return fail(Error(fmt::format("{} reads another file than the model's variables",
                                  files.others().front()))
                    .note("save the model again, with the values of its variables in it"));
  }
  const auto* path_node = find_node(nodes, path);
  if (contains(kept, path_node)) loading.file_tensor = model.saver_def().filename_tensor_name();
  return loading;
}

std::string describe_node(const tf::NodeDef& node, const std::string& function) {
  const std::string op = shortened(node.op());
  const std::string name = shortened(node.name());
  if (function.empty()) return fmt::format("op '{}' (node '{}')", op, name);
  return fmt::format("op '{}' (node '{}' in function '{}')", op, name, shortened(function));
}

std::vector<std::string> called_functions(const tf::FunctionLibraryDefinition& library,
                                          const std::string& function) {
  std::vector<std::string> called;
  std::set<std::string> seen;
  std::deque<std::string> queue{function};
  while (!queue.empty()) {
    const std::string name = std::move(queue.front());
    queue.pop_front();
    const tf::FunctionDef* definition = library.Find(name);
    if (definition == nullptr || !seen.insert(name).second) continue;
    called.push_back(name);
    for (const auto& node : definition->node_def()) {
      for (std::string& one : functions_named_in(node)) queue.push_back(std::move(one));
    }
  }
  return called;
}

void visit_nodes(
    const SignatureFunction& function,
    const std::function<void(const tf::NodeDef&, const std::string& function)>& visit) {
  for (const std::string& name : called_functions(*function.library, function.name)) {
    for (const auto& node : function.library->Find(name)->node_def()) {
      const bool is_call = function.library->Find(node.op()) != nullptr;
      if (!is_call) visit(node, name == function.name ? "" : name);
    }
  }
}

std::vector<BlamedNode> find_nodes(const SignatureFunction& function,
                                   const std::function<bool(const tf::NodeDef&)>& wanted) {
  std::vector<BlamedNode> found;
  visit_nodes(function, [&](const tf::NodeDef& node, const std::string& holder) {
    if (!wanted(node)) return;
    const auto text = describe_node(node, holder);
    if (!contains(found, text, &BlamedNode::text)) found.push_back({node.name(), text});
  });
  return found;
}

std::vector<std::string> names_of(const std::vector<BlamedNode>& nodes) {
  return mapped(nodes, &BlamedNode::name);
}

std::vector<std::string> nodes_named_in(std::string_view message) {
  constexpr std::string_view kStart = "{{node ";
  constexpr std::string_view kEnd = "}}";
  std::vector<std::string> names;
  for (auto start = message.find(kStart); start != std::string_view::npos;
       start = message.find(kStart)) {
    message.remove_prefix(start + kStart.size());
    add_new(names, std::string(message.substr(0, message.find(kEnd))));
  }
  return names;
}

Error no_kernel_for(const std::vector<BlamedNode>& nodes, const std::string& label) {
  Error error(fmt::format("XLA cannot compile {}: no kernel for {}", label, nodes.front().text));
  for (std::size_t i = 1; i < nodes.size(); ++i) error.note("nor for " + nodes[i].text);
  return std::move(
             error.note("do this part outside of the model, or express it with ops that XLA knows"))
      .about(word_of(ProblemKind::kNoKernel), names_of(nodes));
}

tf::NodeDef with_defaults(tf::NodeDef node) {
  const tf::OpDef* const definition = definition_of(node.op());
  if (definition != nullptr) tf::AddDefaultsToNodeDef(*definition, &node);
  return node;
}

bool has_no_xla_kernel(const tf::NodeDef& node) {
  static const std::set<std::string_view> kCompiledWithoutKernel = {
      "PartitionedCall", "StatefulPartitionedCall", "_Arg", "_Retval", "NoOp", "Placeholder"};
  if (kCompiledWithoutKernel.contains(node.op())) return false;
  const auto has_kernel = [](const tf::NodeDef& one) {
    return tf::FindKernelDef(tf::DeviceType(tf::DEVICE_CPU_XLA_JIT), one, nullptr, nullptr).ok();
  };
  // Most nodes need no copy, which may hold a large constant.
  return !has_kernel(node) && !has_kernel(with_defaults(node));
}

bool has_data_dependent_shape(std::string_view operation) {
  return is_listed(kDataDependentOps, operation);
}

bool writes_variable(std::string_view op) {
  return (op.starts_with("Assign") && op.ends_with("VariableOp")) ||
         op.starts_with("ResourceScatter") || op.starts_with("ResourceApply") ||
         op.starts_with("ResourceStridedSliceAssign") || op == "Assign" || op == "AssignAdd" ||
         op == "AssignSub";
}

}  // namespace tfaot::toolkit::engine
