// SPDX-License-Identifier: Apache-2.0
// The one exception of the runtime. Its categories are those of CMSSW's PhysicsTools/TensorFlowAOT,
// and ours. what() starts with the category: "InputMismatch: model 'test': ...".
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// What went wrong.
enum class Category : std::uint8_t {
  kInputMismatch,     ///< number of inputs, of rows or of elements, or an input's element type
  kOutputMismatch,    ///< the same for outputs
  kEmptySizes,        ///< a batch rule, or a model, without batch sizes
  kUnknownBatchSize,  ///< not compiled, or without a rule
  kUnknownArgument,   ///< no input with this index
  kUnknownResult,     ///< no output with this index
  kFailedRun,         ///< an executor left out tasks; compiled code cannot fail
  kInvalidBatchRule,  ///< text that is not a rule
  kWrongPadding,      ///< not smaller than the last chunk
  kWrongBatchSize,    ///< the sizes minus the padding are not the batch size
  kUnsupportedCpu,    ///< no code for this CPU, or for the forced level
  kConcurrentUse,     ///< a model is run while it is running, for example by another thread
  kSizeOutOfRange,    ///< a free dimension has a size that the code is not for
};

/// The name without its leading k, such as "InputMismatch".
std::string_view to_string(Category category) noexcept;

/// The exception of all functions of the runtime. what() starts with the category: "InputMismatch:
/// model 'tagger': ...". Visible outside a plugin, unlike the rest of the runtime, so that its host
/// can catch it.
class [[gnu::visibility("default")]] Error : public std::runtime_error {
 public:
  /// what() is the category's name, ": " and the message.
  Error(Category category, const std::string& message);

  /// The category's name, like cms::Exception::category().
  const std::string& category() const noexcept;
  /// The category.
  Category code() const noexcept { return category_; }

 private:
  Category category_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
