// SPDX-License-Identifier: Apache-2.0
#include "graph/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// Ops whose result sizes depend on values: TensorFlow's shape functions leave them unknown.
constexpr std::string_view kDataDependentOps =
    "Where Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 ListDiff DynamicPartition "
    "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
    "NonMaxSuppressionV5 SparseToDense";

// The start of their names.
constexpr std::array<std::string_view, 11> kRandomOps = {
    "Multinomial",     "ParameterizedTruncatedNormal", "Random",
    "StatefulRandom",  "StatefulStandardNormal",       "StatefulTruncatedNormal",
    "StatefulUniform", "StatelessMultinomial",         "StatelessParameterized",
    "StatelessRandom", "StatelessTruncatedNormal"};
constexpr std::string_view kOtherRandomOps = "TruncatedNormal XlaRngBitGenerator";

// In the order of the attributes' names: a map of protobuf has none.
void collect_functions(const tf::NodeDef& node, std::deque<std::string>& queue) {
  std::map<std::string_view, const tf::AttrValue*> sorted;
  for (const auto& [key, attribute] : node.attr()) sorted[key] = &attribute;
  for (const auto& [key, attribute] : sorted) {
    if (attribute->has_func()) queue.push_back(attribute->func().name());
    for (const auto& function : attribute->list().func()) queue.push_back(function.name());
  }
  queue.push_back(node.op());  // a call by the function's own name
}

// Custom calls that XLA computes itself or leaves out. Sorted.
constexpr std::string_view kOfXla =
    "Eigh PadToStatic ProductOfElementaryHouseholderReflectors Qr SPMDFullToShardShape "
    "SPMDShardToFullShape Sharding SliceToDynamic TopK";

constexpr std::string_view kTalkingToTheHost = "infeed outfeed recv recv-done send send-done";

// The fault of an instruction.
std::optional<std::string> fault_of(const xla::HloInstructionProto& one) {
  if (is_listed(kTalkingToTheHost, one.opcode())) return "exchanges data with a host program";
  if (one.opcode() != "custom-call" || is_listed(kOfXla, one.custom_call_target())) return {};
  return fmt::format("calls the function '{}' by its name", shortened(one.custom_call_target()));
}

using xla::HloInstruction;
using xla::HloOpcode;

bool draws(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kRng ||
      instruction.opcode() == HloOpcode::kRngGetAndUpdateState ||
      instruction.opcode() == HloOpcode::kRngBitGenerator) {
    return true;
  }
  return draws_random_numbers(instruction.metadata().op_type());
}

std::string describe(const HloInstruction& instruction) {
  const auto& node = instruction.metadata();
  if (node.op_type().empty()) return fmt::format("'{}'", instruction.name());
  return fmt::format("op '{}' (node '{}')", node.op_type(), node.op_name());
}

// All instructions that the results need, including those in loops, branches and calls.
std::vector<const HloInstruction*> needed_instructions(const xla::HloModule& module) {
  std::vector<const HloInstruction*> needed = {module.entry_computation()->root_instruction()};
  std::set<const HloInstruction*> seen(needed.begin(), needed.end());
  const auto add = [&](const HloInstruction* instruction) {
    if (seen.insert(instruction).second) needed.push_back(instruction);
  };
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const HloInstruction& instruction = *needed[i];
    for (const auto* operand : instruction.operands()) add(operand);
    for (const auto* called : instruction.called_computations()) add(called->root_instruction());
  }
  return needed;
}

}  // namespace

bool is_listed(std::string_view words, std::string_view word) {
  return !word.empty() && absl::c_linear_search(absl::StrSplit(words, ' '), word);
}

std::string shortened(const std::string& name) {
  constexpr std::size_t kShown = 300;
  return name.size() <= kShown ? name : name.substr(0, kShown) + "...";
}

std::string describe_instruction(const HloName& name, const xla::OpMetadata& metadata) {
  std::string hlo = fmt::format("HLO {} '{}'", name.opcode, shortened(std::string(name.name)));
  if (metadata.op_name().empty()) return hlo;
  return fmt::format("op '{}' (node '{}', {})", shortened(metadata.op_type()),
                     shortened(metadata.op_name()), hlo);
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
    for (const auto& node : definition->node_def()) collect_functions(node, queue);
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
    const bool is_known =
        std::ranges::any_of(found, [&](const BlamedNode& other) { return other.text == text; });
    if (!is_known) found.push_back({node.name(), text});
  });
  return found;
}

std::vector<std::string> names_of(const std::vector<BlamedNode>& nodes) {
  std::vector<std::string> names;
  for (const BlamedNode& node : nodes) names.push_back(node.name);
  return names;
}

std::vector<std::string> nodes_named_in(std::string_view message) {
  constexpr std::string_view kStart = "{{node ";
  constexpr std::string_view kEnd = "}}";
  std::vector<std::string> names;
  for (auto start = message.find(kStart); start != std::string_view::npos;
       start = message.find(kStart)) {
    message.remove_prefix(start + kStart.size());
    std::string name(message.substr(0, message.find(kEnd)));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
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
  const tf::OpDef* definition = nullptr;
  if (tf::OpRegistry::Global()->LookUpOpDef(node.op(), &definition).ok()) {
    tf::AddDefaultsToNodeDef(*definition, &node);
  }
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

bool draws_random_numbers(std::string_view operation) {
  return std::ranges::any_of(
             kRandomOps, [&](std::string_view start) { return operation.starts_with(start); }) ||
         is_listed(kOtherRandomOps, operation);
}

bool writes_variable(std::string_view op) {
  return (op.starts_with("Assign") && op.ends_with("VariableOp")) ||
         op.starts_with("ResourceScatter") || op.starts_with("ResourceApply") ||
         op.starts_with("ResourceStridedSliceAssign") || op == "Assign" || op == "AssignAdd" ||
         op == "AssignSub";
}

Status check_calls(const xla::HloModuleProto& module, const std::string& label) {
  std::vector<Error> errors;
  for (const auto& computation : module.computations()) {
    for (const auto& one : computation.instructions()) {
      const auto fault = fault_of(one);
      if (!fault) continue;
      const HloName name{one.opcode(), one.name()};
      const std::string& node = one.metadata().op_name();
      errors.push_back(Error(fmt::format("{} cannot be compiled: {} {}", label,
                                         describe_instruction(name, one.metadata()), *fault))
                           .note("a compiled model only computes: do this part outside of it")
                           .about(word_of(ProblemKind::kForeignCall),
                                  {node.empty() ? std::string(one.name()) : node}));
    }
  }
  return all_or_first(std::move(errors));
}

Status check_random_numbers(const xla::HloModule& module) {
  std::set<std::string> drawing;
  std::set<std::string> nodes;
  for (const auto* instruction : needed_instructions(module)) {
    if (!draws(*instruction)) continue;
    drawing.insert(describe(*instruction));
    const std::string& node = instruction->metadata().op_name();
    nodes.insert(node.empty() ? std::string(instruction->name()) : node);
  }
  if (drawing.empty()) return {};
  Error error(fmt::format("the model draws random numbers when it runs, by {}", *drawing.begin()));
  for (auto one = std::next(drawing.begin()); one != drawing.end(); ++one) {
    error.note("and by " + *one);
  }
  return fail(
      std::move(error)
          .note("compiled code would draw other numbers than TensorFlow")
          .note(
              "export an inference-only signature (training=False: no dropout, no noise), or make "
              "the noise an input")
          .about(word_of(ProblemKind::kRandom), {nodes.begin(), nodes.end()}));
}

}  // namespace tfaot::toolkit::engine
