// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_call.h"

#include <cstddef>

#include "tfaot/kernels/abi.h"
#include "tfaot/kernels/rows.h"
#include "tfaot/records/symbols.h"
#include "xla/literal_util.h"
#include "xla/util.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;

namespace {

// The structs that follow a call's struct.
template <typename Call, typename Part>
std::vector<Part> parts_after(const HloInstruction& kernel, std::int64_t count) {
  const auto words = call_words(kernel);
  std::vector<Part> parts(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(&parts[i], &words.at((sizeof(Call) + i * sizeof(Part)) / sizeof words[0]),
                sizeof(Part));
  }
  return parts;
}

}  // namespace

bool is_kernel_call(const HloInstruction& instruction) {
  return instruction.opcode() == xla::HloOpcode::kCustomCall &&
         instruction.custom_call_target().starts_with(kSymbolPrefix);
}

std::string_view kernel_name(const HloInstruction& kernel) {
  return std::string_view(kernel.custom_call_target()).substr(kSymbolPrefix.size());
}

KernelKind kernel_kind(const HloInstruction& instruction) {
  if (!is_kernel_call(instruction) || !instruction.operand(0)->IsConstant()) {
    return KernelKind::kOther;
  }
  const std::string_view name = kernel_name(instruction);
  if (name.starts_with("matmul_") || name.starts_with("narrow_matmul_")) return KernelKind::kMatMul;
  for (const char* way : {"convolution_", "transposed_convolution_", "winograd_convolution_"}) {
    if (name.starts_with(way)) return KernelKind::kConvolution;
  }
  if (name.starts_with("dense_chain_")) return KernelKind::kDenseChain;
  if (name.starts_with("resize_")) return KernelKind::kResize;
  if (name.starts_with("top_k_")) return KernelKind::kTopK;
  if (name.starts_with("gather_")) return KernelKind::kGather;
  if (name.starts_with("attention_")) return KernelKind::kAttention;
  for (const char* way : {"depthwise_", "grouped_convolution_"}) {
    if (name.starts_with(way)) return KernelKind::kDepthwise;
  }
  if (name.starts_with("forest_")) return KernelKind::kForest;
  for (const char* cell : {"lstm_", "gru_", "rnn_"}) {
    if (name.starts_with(cell)) return KernelKind::kRecurrent;
  }
  for (const char* function : {"gelu_", "group_norm_", "layer_norm_", "row_sum_", "softmax_"}) {
    if (name.starts_with(function)) return KernelKind::kRows;
  }
  return name.find("_pool_") == std::string_view::npos ? KernelKind::kOther : KernelKind::kPool;
}

std::vector<std::int64_t> call_words(const HloInstruction& kernel) {
  const auto words = kernel.operand(0)->literal().data<std::int64_t>();
  return {words.begin(), words.end()};
}

bool skips_padding(const HloInstruction& kernel) {
  switch (kernel_kind(kernel)) {
    case KernelKind::kMatMul:
      return call_of<kernels::MatMulCall>(kernel).live_rows != 0;
    case KernelKind::kForest:
      return call_of<kernels::ForestCall>(kernel).live_rows != 0;
    case KernelKind::kDenseChain:
      return call_of<kernels::DenseChainCall>(kernel).live_rows != 0;
    case KernelKind::kRecurrent:
      return call_of<kernels::RecurrentCall>(kernel).live_rows != 0;
    case KernelKind::kConvolution:
    case KernelKind::kDepthwise:
      return (call_of<kernels::ConvolutionCall>(kernel).epilogue & kernels::kEpilogueLive) != 0;
    default:
      return false;
  }
}

std::optional<std::size_t> word_of_epilogue(const HloInstruction& kernel) {
  constexpr std::size_t kWord = sizeof(std::int64_t);
  switch (kernel_kind(kernel)) {
    case KernelKind::kMatMul:
      return offsetof(kernels::MatMulCall, epilogue) / kWord;
    case KernelKind::kConvolution:
    case KernelKind::kDepthwise:
      return offsetof(kernels::ConvolutionCall, epilogue) / kWord;
    default:
      return std::nullopt;
  }
}

kernels::ResultFunction result_function(const HloInstruction& kernel) {
  kernels::ResultFunction function{kernels::kFunctionNone, 1, 1};
  if (is_kernel_call(kernel) && kernel_name(kernel).starts_with("function_pool_")) {
    return call_of<kernels::FunctionPoolCall>(kernel).function;
  }
  const auto word = word_of_epilogue(kernel);
  const std::int64_t epilogue = word ? call_words(kernel).at(*word) : 0;
  if ((epilogue & kernels::kEpilogueFunction) == 0) return function;
  constexpr std::int64_t kAnyBias = kernels::kEpilogueBias | kernels::kEpilogueRowBias;
  const std::int64_t before =
      ((epilogue & kAnyBias) != 0 ? 1 : 0) + ((epilogue & kernels::kEpilogueSum) != 0 ? 1 : 0);
  const HloInstruction* const operand = kernel.operand(3 + before);
  if (!operand->IsConstant()) return function;
  const auto words = operand->literal().data<std::int64_t>();
  std::memcpy(&function, words.data(), sizeof function);
  return function;
}

std::vector<kernels::DenseLayer> dense_layers(const HloInstruction& kernel) {
  const auto call = call_of<kernels::DenseChainCall>(kernel);
  return parts_after<kernels::DenseChainCall, kernels::DenseLayer>(kernel, call.layers);
}

ForestSize forest_size(const HloInstruction& kernel) {
  const auto call = call_of<kernels::ForestCall>(kernel);
  ForestSize size;
  for (const auto& block :
       parts_after<kernels::ForestCall, kernels::ForestBlock>(kernel, call.blocks)) {
    size.trees += block.trees;
    size.depth = std::max(size.depth, block.depth);
    size.steps += block.trees * block.depth * call.rows;
  }
  return size;
}

std::int64_t recurrent_gates(const HloInstruction& kernel) {
  const std::string_view name = kernel_name(kernel);
  return name.starts_with("lstm_") ? 4 : name.starts_with("gru_") ? 3 : 1;
}

std::int64_t recurrent_panels(const HloInstruction& kernel) {
  return recurrent_gates(kernel) == 1 ? 2 : 1;
}

std::int64_t element_bytes(const HloInstruction& tensor) {
  return tensor.shape().element_type() == xla::F64 ? 8 : 4;
}

HloInstruction* add_kernel_call(const KernelCall& call, const HloInstruction& model) {
  xla::HloComputation& computation = *call.operands.front()->parent();
  const auto type = call.operands.front()->shape().element_type();
  std::vector<HloInstruction*> operands = {computation.AddInstruction(
      HloInstruction::CreateConstant(xla::LiteralUtil::CreateR1<std::int64_t>(call.words)))};
  operands.insert(operands.end(), call.operands.begin(), call.operands.end());
  std::vector<xla::Shape> shapes;
  for (const HloInstruction* operand : operands) {
    shapes.push_back(shape_of(operand->shape().element_type(), operand->shape().dimensions()));
  }
  const std::string target =
      std::string(kSymbolPrefix) + call.kernel + (type == xla::F64 ? "_f64" : "_f32");
  const xla::Shape result = shape_of(type, call.result);
  std::vector<xla::Shape> results = {result};
  results.insert(results.end(), call.more_results.begin(), call.more_results.end());
  // Whole cache lines, so that temporaries after it are aligned.
  results.push_back(shape_of(xla::U8, {xla::RoundUpTo(call.scratch_bytes, kLineBytes)}));
  const xla::Shape shape =
      call.scratch_bytes == 0 ? result : xla::ShapeUtil::MakeTupleShape(results);
  HloInstruction* made =
      computation.AddInstruction(HloInstruction::CreateCustomCall(shape, operands, target, shapes));
  made->set_metadata(model.metadata());
  if (call.scratch_bytes == 0) return made;
  return computation.AddInstruction(HloInstruction::CreateGetTupleElement(result, made, 0));
}

HloInstruction* result_of_kernel(HloInstruction* first, std::int64_t number) {
  HloInstruction* const call = first->mutable_operand(0);
  return first->parent()->AddInstruction(HloInstruction::CreateGetTupleElement(
      call->shape().tuple_shapes(static_cast<int>(number)), call, number));
}

Status replace_operands(HloInstruction& kernel, const std::vector<HloInstruction*>& operands) {
  std::vector<xla::Shape> shapes;
  for (const HloInstruction* one : operands) {
    shapes.push_back(shape_of(one->shape().element_type(), one->shape().dimensions()));
  }
  HloInstruction* made = kernel.parent()->AddInstruction(HloInstruction::CreateCustomCall(
      kernel.shape(), operands, kernel.custom_call_target(), shapes));
  made->set_metadata(kernel.metadata());
  return checked(kernel.ReplaceAllUsesWith(made));
}

Status extend_kernel_call(HloInstruction& kernel, const std::vector<std::int64_t>& words,
                          HloInstruction* operand) {
  auto operands = std::vector<HloInstruction*>(kernel.operands().begin(), kernel.operands().end());
  operands.front() = kernel.parent()->AddInstruction(
      HloInstruction::CreateConstant(xla::LiteralUtil::CreateR1<std::int64_t>(words)));
  operands.push_back(operand);
  return replace_operands(kernel, operands);
}

namespace {

// Where the call has kEpilogueShared; none: it cannot share.
std::optional<std::size_t> word_of_sharing(const HloInstruction& kernel) {
  const KernelKind kind = kernel_kind(kernel);
  if (kind == KernelKind::kOther) return std::nullopt;
  constexpr std::size_t kWord = sizeof(std::int64_t);
  const std::string_view name = kernel_name(kernel);
  if (kind == KernelKind::kMatMul || name.starts_with("convolution_") ||
      name.starts_with("winograd_convolution_")) {
    return word_of_epilogue(kernel);
  }
  if (name.starts_with("attention_")) return offsetof(kernels::AttentionCall, shared) / kWord;
  if (name.starts_with("gelu_")) return offsetof(kernels::GeluCall, shared) / kWord;
  if (name.starts_with("group_norm_")) return offsetof(kernels::GroupNormCall, shared) / kWord;
  if (name.starts_with("layer_norm_")) return offsetof(kernels::LayerNormCall, shared) / kWord;
  if (name.starts_with("row_sum_")) return offsetof(kernels::RowSumCall, shared) / kWord;
  if (name.starts_with("softmax_")) return offsetof(kernels::SoftmaxCall, shared) / kWord;
  return std::nullopt;
}

}  // namespace

std::vector<std::int64_t> shared_words(const HloInstruction& kernel) {
  const auto word = word_of_sharing(kernel);
  if (!word) return {};
  std::vector<std::int64_t> words = call_words(kernel);
  if (*word >= words.size()) return {};
  words.at(*word) |= kernels::kEpilogueShared;
  return words;
}

bool is_shared(const HloInstruction& kernel) {
  const auto word = word_of_sharing(kernel);
  if (!word) return false;
  const std::vector<std::int64_t> words = call_words(kernel);
  return *word < words.size() && (words[*word] & kernels::kEpilogueShared) != 0;
}

std::int64_t kernel_scratch_bytes(const HloInstruction& kernel) {
  if (!kernel.shape().IsTuple()) return 0;
  return xla::ShapeUtil::ByteSizeOf(kernel.shape().tuple_shapes().back());
}

void set_kernel_level(xla::HloModuleProto& module, const std::string& suffix) {
  for (auto& computation : *module.mutable_computations()) {
    for (auto& instruction : *computation.mutable_instructions()) {
      auto& target = *instruction.mutable_custom_call_target();
      if (target.starts_with(kSymbolPrefix)) target += "_" + suffix;
    }
  }
}

}  // namespace tfaot::toolkit::engine
