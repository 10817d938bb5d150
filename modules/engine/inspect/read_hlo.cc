// SPDX-License-Identifier: Apache-2.0
#include "inspect/read_hlo.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "absl/strings/str_join.h"
#include "compiler/code/optimize.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/loop.h"
#include "compiler/kernels/kernel_facts.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "xla/service/hlo.pb.h"
#include "xla/service/hlo_parser.h"

namespace tfaot::toolkit::engine {
namespace {

// Replaces the values of a large constant in text.
constexpr std::string_view kLeftOut = "{...}";

// Computations that an instruction applies to each element.
std::set<const xla::HloComputation*> applied_computations(const xla::HloModule& module) {
  std::set<const xla::HloComputation*> applied;
  for (const HloInstruction* one : instructions_of(module)) {
    const auto opcode = one->opcode();
    if (opcode == kWhile || opcode == kConditional || opcode == kCall || opcode == kFusion)
      continue;
    for (const auto* called : one->called_computations()) applied.insert(called);
  }
  return applied;
}

Result<HloGraph> graph_of(const FileSystem& fs, const HloFile& file, const CodeSize& code) {
  TFAOT_ASSIGN(const std::string contents, read_limited(fs, file.path, kDumpFileLimit));
  const bool is_proto = file.path.ends_with(".pb");
  TFAOT_ASSIGN(const auto module, parse_module(contents, is_proto));
  HloGraph graph;
  graph.stage = file.stage;
  graph.entry = module->entry_computation()->name();
  graph.text = hlo_text(*module);
  const auto applied = applied_computations(*module);
  // Before NodeFacts: estimating costs adds computations.
  const auto computations = module->MakeComputationPostOrder();
  const NodeFacts facts(*module, {code, is_proto || contents.find(kLeftOut) == std::string::npos});
  for (const auto* computation : computations) {
    graph.computations.push_back(facts.describe(*computation));
    graph.computations.back().is_applied = applied.contains(computation);
  }
  return graph;
}

std::int64_t shape_bytes(const xla::Shape& shape) {
  return xla::ShapeUtil::ByteSizeOf(shape, sizeof(void*));
}

NodeKind node_kind(const HloInstruction& one) {
  switch (one.opcode()) {
    case kBitcast:
    case kConstant:
    case kGetTupleElement:
    case kParameter:
    case kTuple:
      return NodeKind::kData;
    case kCustomCall:
      return is_kernel_call(one) ? NodeKind::kKernel : NodeKind::kCall;
    case kConvolution:
    case kDot:
      return NodeKind::kProduct;
    case kFusion:
      return NodeKind::kFusion;
    case kCall:
    case kConditional:
    case kWhile:
      return NodeKind::kControl;
    default:
      return NodeKind::kLoop;
  }
}

// Bytes of the tensors that a kernel reads and writes, without its struct and scratch.
std::int64_t kernel_bytes(const HloInstruction& one) {
  std::int64_t bytes = shape_bytes(first_shape(one));
  for (std::int64_t i = 1; i < one.operand_count(); ++i)
    bytes += shape_bytes(one.operand(i)->shape());
  return bytes;
}

std::string attributes_of(const HloInstruction& one) {
  if (one.opcode() == kParameter) {
    return fmt::format("parameter {}", one.parameter_number());
  }
  const auto options =
      xla::HloPrintOptions::ShortParsable().set_print_metadata(false).set_print_large_constants(
          false);
  if (one.opcode() == kConstant) {
    const std::string text = one.ToString(options);
    const auto start = text.find("constant(");
    return start == std::string::npos ? "" : text.substr(start);
  }
  return absl::StrJoin(one.ExtraAttributesToString(options), ", ");
}

Result<const Pass*> pass_named(const std::string& name) {
  if (const Pass* const pass = find_pass(name)) return pass;
  Error error("there is no pass '" + name + "'");
  for (const Pass& pass : passes()) {
    error.note(std::string(pass.name) + ": " + std::string(pass.why));
  }
  return fail(std::move(error));
}

Result<std::int64_t> input_count(const std::string& word, std::int64_t parameters) {
  if (word.empty()) return parameters;
  const auto inputs = parse_number<std::int64_t>(word);
  if (inputs && *inputs >= 0 && *inputs <= parameters) return *inputs;
  return fail(Error("'" + word + "' is not a number of inputs: the module has " +
                    std::to_string(parameters) + " parameters"));
}

}  // namespace

NodeFacts::NodeFacts(const xla::HloModule& module, const FactsOptions& options)
    : has_constants_(options.has_constants) {
  if (has_constants_) costs_ = instruction_costs(module, options.code);
  for (const HloInstruction* one : instructions_of(module)) {
    if (one->opcode() != kWhile) continue;
    if (const auto turns = loop_turns(*one)) turns_[one] = *turns;
  }
}

HloComputation NodeFacts::describe(const xla::HloComputation& computation) const {
  HloComputation described;
  described.name = computation.name();
  described.root = computation.root_instruction()->name();
  described.is_fused = computation.IsFusionComputation();
  // Analyses the computation alone: a fusion's counts would hide those of its instructions.
  xla::HloCostAnalysis analysis(shape_bytes);
  const bool counted = computation.Accept(&analysis).ok();
  for (const HloInstruction* one : computation.MakeInstructionPostOrder()) {
    described.nodes.push_back(describe(*one, counted ? &analysis : nullptr));
  }
  return described;
}

HloNode NodeFacts::describe(const HloInstruction& one, const xla::HloCostAnalysis* analysis) const {
  HloNode node;
  node.name = one.name();
  node.opcode = xla::HloOpcodeString(one.opcode());
  node.kind = node_kind(one);
  node.shape = xla::ShapeUtil::HumanString(one.shape());
  for (const auto* operand : one.operands()) node.operands.emplace_back(operand->name());
  for (const auto* called : one.called_computations()) {
    node.computations.emplace_back(called->name());
  }
  node.origin = one.metadata().op_name();
  node.detail = attributes_of(one);
  if (analysis != nullptr) {
    node.flops = analysis->flop_count(one) + analysis->transcendental_count(one);
    node.bytes = analysis->bytes_accessed(one);
  }
  if (node.kind == NodeKind::kData) node.flops = node.bytes = 0;
  if (node.kind == NodeKind::kControl) node.flops = node.bytes = -1;
  if (one.opcode() == kCustomCall) {
    node.callee = one.custom_call_target();
    node.flops = -1;
  }
  if (node.kind == NodeKind::kKernel) {
    const KernelWork work = has_constants_ ? kernel_work(one) : KernelWork();
    node.flops = work.flops;
    node.bytes = kernel_bytes(one);
    node.detail = work.text;
  }
  if (const auto cost = costs_.find(&one); cost != costs_.end()) {
    node.picoseconds = std::llround(cost->second);
  }
  if (const auto turns = turns_.find(&one); turns != turns_.end()) node.turns = turns->second;
  return node;
}

Result<std::unique_ptr<xla::HloModule>> parse_module(const std::string& contents, bool is_proto) {
  if (!is_proto) {
    auto module = xla::ParseAndReturnUnverifiedModule(contents, true);
    if (!module.ok()) return fail(error_of(module.status(), "XLA cannot read this HLO"));
    return std::move(*module);
  }
  xla::HloProto proto;
  if (!proto.ParseFromString(contents) || !proto.has_hlo_module()) {
    return fail(Error("not an HLO proto"));
  }
  return module_as_it_is(proto.hlo_module());
}

Status read_hlo(const FileSystem& fs, const HloQuestion& question,
                const std::function<void(const HloGraph&)>& say) {
  CodeSize code{question.inputs, question.scratch_bytes};
  if (!question.kernels.empty()) code.kernels = question.kernels;
  if (find_machine(code.kernels) == nullptr) {
    return fail(Error("there are no kernels '" + code.kernels + "'"));
  }
  for (const HloFile& file : question.files) {
    auto graph = graph_of(fs, file, code);
    if (!graph) return fail(std::move(graph).error().moved_to({file.path}));
    say(*graph);
  }
  return {};
}

Result<std::string> run_pass(const FileSystem& fs, const PassQuestion& question) {
  TFAOT_ASSIGN(const Pass* const pass, pass_named(question.pass));
  TFAOT_ASSIGN(const std::string contents, read_limited(fs, question.file, kDumpFileLimit));
  const auto module = parse_module(contents, question.file.ends_with(".pb"));
  if (!module) return fail(Error(module.error()).moved_to({question.file}));
  TFAOT_ASSIGN(const std::int64_t inputs,
               input_count(question.inputs, (*module)->entry_computation()->num_parameters()));
  const Choices choices;
  PassContext state{**module, inputs, choices};
  TFAOT_TRY(pass->run(state));
  return hlo_text(**module);
}

}  // namespace tfaot::toolkit::engine
