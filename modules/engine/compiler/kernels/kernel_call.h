// SPDX-License-Identifier: Apache-2.0
// A call of one of our kernels (tfaot/kernels/abi.h) as HLO: a custom call whose first operand is
// the call's struct, with all tensors row-major. Its target is the kernel's name without a CPU
// level; object_code adds the level. Used by one thread.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/hlo/build.h"
#include "compiler/hlo/hlo.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

inline constexpr std::int64_t kLineBytes = 64;  // of the caches

// Our kernels.
enum class Kernel : std::uint8_t {
#define TFAOT_KERNEL_ROW(kernel, name, types, call, shared, scratch) kernel,
#include "tfaot/kernels/kernels.def"
};

std::string_view name_of_kernel(Kernel kernel);  // "matmul"

struct KernelCall {
  Kernel kernel;
  std::vector<std::int64_t> words;              // the struct
  Instructions operands;                        // the tensors
  Dimensions result = {};                       // its shape
  std::vector<xla::Shape> more_results = {};    // only with scratch
  std::optional<xla::PrimitiveType> type = {};  // of the result; none: that of the first operand
};

// The scratch memory of a call with these words, for elements of so many bytes; 0: it has none.
std::int64_t scratch_bytes_of(Kernel kernel, absl::Span<const std::int64_t> words,
                              std::int64_t element_bytes);

// Calls are structs of 64-bit numbers only.
template <typename Call>
std::vector<std::int64_t> as_words(const Call& call) {
  static_assert(sizeof(Call) % sizeof(std::int64_t) == 0);
  std::vector<std::int64_t> words(sizeof(Call) / sizeof(std::int64_t));
  std::memcpy(words.data(), &call, sizeof(Call));
  return words;
}

// The kernel that an instruction calls, with or without a level; none: it calls another function.
std::optional<Kernel> called_kernel(const HloInstruction& instruction);
bool is_kernel_call(const HloInstruction& instruction);
// True if it calls this kernel, with a struct that is known.
bool is_call_of(const HloInstruction& instruction, Kernel kernel);
// "matmul_f32", with the level if the call has one. REQUIRES: is_kernel_call().
std::string_view kernel_name(const HloInstruction& kernel);

std::vector<std::int64_t> call_words(const HloInstruction& kernel);

// The struct of a kernel call. Structs with the same first members may be read as each other.
template <typename Call>
Call call_of(absl::Span<const std::int64_t> words) {
  Call call{};
  std::memcpy(static_cast<void*>(&call), words.data(),
              std::min(sizeof call, words.size() * sizeof(std::int64_t)));
  return call;
}
template <typename Call>
Call call_of(const HloInstruction& kernel) {
  return call_of<Call>(call_words(kernel));
}

// The structs that follow the struct of a call.
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

// The layers of a chain, in order. REQUIRES: a call of kDenseChain.
std::vector<kernels::DenseLayer> dense_layers(const HloInstruction& kernel);

// The parts of each row, in order. REQUIRES: a call of kGather.
std::vector<kernels::GatherPart> gather_parts(const HloInstruction& kernel);

struct ForestSize {
  std::int64_t trees = 0;
  std::int64_t depth = 0;  // of the deepest
  std::int64_t steps = 0;  // of all rows through all trees
};
// REQUIRES: a call of kForest.
ForestSize forest_size(const HloInstruction& kernel);

std::int64_t element_bytes(const HloInstruction& tensor);
double bytes_of(const xla::Shape& shape);  // of all its arrays

// Adds the call and returns its result. `model` is the instruction it replaces.
HloInstruction* add_kernel_call(const KernelCall& call, const HloInstruction& model);
// Puts the call, of the same dimensions, in the place of an instruction.
Status replace_by_call(HloInstruction& old, KernelCall call);
// A call of the same kernel, with results of this shape, next to its operands.
HloInstruction* call_again(const HloInstruction& kernel, const xla::Shape& shape,
                           const Instructions& operands);
// Puts a call with other operands in the place of `kernel`.
Status replace_operands(HloInstruction& kernel, const Instructions& operands);
// Puts a call with another struct, and with an operand after all others, in the place of `kernel`.
Status extend_kernel_call(HloInstruction& kernel, const std::vector<std::int64_t>& words,
                          HloInstruction* operand);

// The bytes of the call's scratch memory; 0: it has none.
std::int64_t kernel_scratch_bytes(const HloInstruction& kernel);

// Appends the level's suffix to the targets of all kernel calls of a module.
void set_kernel_level(xla::HloModuleProto& module, const std::string& suffix);

// The window over these spatial dimensions of input and output; at most kernels::kSpatial.
// `spatial` lists, for each dimension of the kernel's window, XLA's dimension of it and the sizes.
struct SpatialDimension {
  const xla::WindowDimension* window;
  std::int64_t in, out;
};
kernels::Window kernel_window(const std::vector<SpatialDimension>& spatial);

bool has_base_dilation(const kernels::Window& window);
// The number of taps at all positions together, without those on zeros of the base dilation.
std::int64_t met_taps(const kernels::Window& window);

}  // namespace tfaot::toolkit::engine
