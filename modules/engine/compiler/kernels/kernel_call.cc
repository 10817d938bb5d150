// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/kernel_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tfaot/kernels/levels.def"
#include "tfaot/records/symbols.h"
#include "xla/util.h"

namespace tfaot::toolkit::engine {

std::string_view name_of_kernel(Kernel kernel) {
  static constexpr std::string_view kNames[] = {
#define TFAOT_KERNEL_ROW(kernel, name, types, call, shared, scratch) #name,
#include "tfaot/kernels/kernels.def"
  };
  return kNames[static_cast<std::size_t>(kernel)];
}

namespace {

// By the target of their calls, without a level and with each.
std::map<std::string, Kernel, std::less<>> kernels_by_target() {
  std::map<std::string, Kernel, std::less<>> kernels;
  const auto add = [&](Kernel kernel, std::string_view type) {
    const std::string target = fmt::format("{}{}_{}", kSymbolPrefix, name_of_kernel(kernel), type);
    kernels[target] = kernel;
#define TFAOT_NO_ROW(...)
#define TFAOT_ADD_LEVEL(x, level, suffix, ...) kernels[target + "_" #suffix] = kernel;
    TFAOT_LEVELS_OF_x86_64(TFAOT_ADD_LEVEL, TFAOT_NO_ROW, )
        TFAOT_LEVELS_OF_aarch64(TFAOT_ADD_LEVEL, TFAOT_NO_ROW, )
#undef TFAOT_ADD_LEVEL
#undef TFAOT_NO_ROW
  };
#define TFAOT_ADD(type, kernel) add(Kernel::kernel, #type);
#define TFAOT_KERNEL_ROW(kernel, name, types, call, shared, scratch) types(TFAOT_ADD, kernel)
#include "tfaot/kernels/kernels.def"
#undef TFAOT_ADD
  return kernels;
}

std::optional<Kernel> kernel_of_target(std::string_view target) {
  static const auto kernels = kernels_by_target();
  const auto found = kernels.find(target);
  return found == kernels.end() ? std::nullopt : std::optional(found->second);
}

// A kernel reads its operands row-major.
std::vector<xla::Shape> operand_shapes(const Instructions& operands) {
  std::vector<xla::Shape> shapes;
  for (const HloInstruction* operand : operands) {
    shapes.push_back(shape_of(type_of(*operand), operand->shape().dimensions()));
  }
  return shapes;
}

}  // namespace

std::optional<Kernel> called_kernel(const HloInstruction& instruction) {
  if (instruction.opcode() != kCustomCall) return std::nullopt;
  return kernel_of_target(instruction.custom_call_target());
}

bool is_kernel_call(const HloInstruction& instruction) {
  return called_kernel(instruction).has_value();
}

bool is_call_of(const HloInstruction& instruction, Kernel kernel) {
  return called_kernel(instruction) == kernel && instruction.operand(0)->IsConstant();
}

std::string_view kernel_name(const HloInstruction& kernel) {
  return std::string_view(kernel.custom_call_target()).substr(kSymbolPrefix.size());
}

std::vector<std::int64_t> call_words(const HloInstruction& kernel) {
  const auto words = kernel.operand(0)->literal().data<std::int64_t>();
  return {words.begin(), words.end()};
}

std::vector<kernels::DenseLayer> dense_layers(const HloInstruction& kernel) {
  const auto call = call_of<kernels::DenseChainCall>(kernel);
  return parts_after<kernels::DenseChainCall, kernels::DenseLayer>(kernel, call.layers);
}

std::vector<kernels::GatherPart> gather_parts(const HloInstruction& kernel) {
  return parts_after<kernels::GatherCall, kernels::GatherPart>(
      kernel, call_of<kernels::GatherCall>(kernel).parts);
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

std::int64_t element_bytes(const HloInstruction& tensor) {
  return type_of(tensor) == xla::F64 ? 8 : 4;
}

double bytes_of(const xla::Shape& shape) {
  if (shape.IsArray()) return static_cast<double>(xla::ShapeUtil::ByteSizeOf(shape));
  double bytes = 0;
  for (const auto& element : shape.tuple_shapes()) bytes += bytes_of(element);
  return bytes;
}

std::int64_t scratch_bytes_of(Kernel kernel, absl::Span<const std::int64_t> words,
                              std::int64_t bytes) {
  using namespace kernels;
  switch (kernel) {
#define TFAOT_KERNEL_ROW(kernel, name, types, call_type, shared, scratch) \
  case Kernel::kernel: {                                                  \
    [[maybe_unused]] const auto call = call_of<call_type>(words);         \
    return scratch;                                                       \
  }
#include "tfaot/kernels/kernels.def"
  }
  return 0;
}

HloInstruction* add_kernel_call(const KernelCall& call, const HloInstruction& model) {
  HloInstruction* const first = call.operands.front();
  const auto type = type_of(*first);
  Instructions operands = {words_next_to(first, call.words)};
  operands.insert(operands.end(), call.operands.begin(), call.operands.end());
  const std::string target = fmt::format("{}{}_{}", kSymbolPrefix, name_of_kernel(call.kernel),
                                         type == xla::F64 ? "f64" : "f32");
  const std::int64_t scratch = scratch_bytes_of(call.kernel, call.words, element_bytes(*first));
  const xla::Shape result = shape_of(call.type.value_or(type), call.result);
  std::vector<xla::Shape> results = {result};
  results.insert(results.end(), call.more_results.begin(), call.more_results.end());
  // Whole cache lines, so that temporaries after it are aligned.
  results.push_back(shape_of(xla::U8, {xla::RoundUpTo(scratch, kLineBytes)}));
  const xla::Shape shape = scratch == 0 ? result : xla::ShapeUtil::MakeTupleShape(results);
  HloInstruction* const made = add_next_to(
      first, HloInstruction::CreateCustomCall(shape, operands, target, operand_shapes(operands)));
  made->set_metadata(model.metadata());
  if (scratch == 0) return made;
  return element_of(made, 0);
}

Status replace_by_call(HloInstruction& old, KernelCall call) {
  call.result = dimensions_of(old);
  return replace(old, add_kernel_call(call, old));
}

HloInstruction* call_again(const HloInstruction& kernel, const xla::Shape& shape,
                           const Instructions& operands) {
  HloInstruction* const made =
      add_next_to(operands.front(),
                  HloInstruction::CreateCustomCall(shape, operands, kernel.custom_call_target(),
                                                   operand_shapes(operands)));
  made->set_metadata(kernel.metadata());
  return made;
}

Status replace_operands(HloInstruction& kernel, const Instructions& operands) {
  return checked(kernel.ReplaceAllUsesWith(call_again(kernel, kernel.shape(), operands)));
}

Status extend_kernel_call(HloInstruction& kernel, const std::vector<std::int64_t>& words,
                          HloInstruction* operand) {
  Instructions operands = operands_of(kernel);
  operands.front() = words_next_to(&kernel, words);
  operands.push_back(operand);
  return replace_operands(kernel, operands);
}

std::int64_t kernel_scratch_bytes(const HloInstruction& kernel) {
  if (!kernel.shape().IsTuple()) return 0;
  const auto& results = kernel.shape().tuple_shapes();
  // Not the last result: align_temporaries adds more of bytes, which nobody uses.
  const auto scratch = std::find_if(results.begin() + 1, results.end(), [](const xla::Shape& one) {
    return one.element_type() == xla::U8;
  });
  return scratch == results.end() ? 0 : xla::ShapeUtil::ByteSizeOf(*scratch);
}

void set_kernel_level(xla::HloModuleProto& module, const std::string& suffix) {
  for (auto& computation : *module.mutable_computations()) {
    for (auto& instruction : *computation.mutable_instructions()) {
      auto& target = *instruction.mutable_custom_call_target();
      if (kernel_of_target(target)) target += "_" + suffix;
    }
  }
}

kernels::Window kernel_window(const std::vector<SpatialDimension>& spatial) {
  kernels::Window window{};
  for (int d = 0; d < kernels::kSpatial; ++d) {
    window.in[d] = window.out[d] = window.size[d] = window.stride[d] = 1;
    window.base_dilation[d] = window.window_dilation[d] = 1;
  }
  const int first = kernels::kSpatial - static_cast<int>(spatial.size());
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    const int d = first + static_cast<int>(i);
    const xla::WindowDimension& from = *spatial[i].window;
    window.in[d] = spatial[i].in;
    window.out[d] = spatial[i].out;
    window.size[d] = from.size();
    window.stride[d] = from.stride();
    window.pad_low[d] = from.padding_low();
    window.pad_high[d] = from.padding_high();
    window.base_dilation[d] = from.base_dilation();
    window.window_dilation[d] = from.window_dilation();
  }
  return window;
}

bool has_base_dilation(const kernels::Window& window) {
  return std::ranges::any_of(window.base_dilation, [](auto dilation) { return dilation != 1; });
}

std::int64_t met_taps(const kernels::Window& window) {
  std::int64_t all = 1;
  for (int d = 0; d < kernels::kSpatial; ++d) {
    std::int64_t taps = 0;
    for (std::int64_t i = 0; i < kernels::phase_count(window, d); ++i) {
      const kernels::Phase phase = kernels::phase_of(window, d, i);
      taps += phase.size * phase.out;
    }
    all *= taps;
  }
  return all;
}

}  // namespace tfaot::toolkit::engine
