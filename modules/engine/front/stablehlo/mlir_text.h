// SPDX-License-Identifier: Apache-2.0
// MLIR as text, as far as compiling needs it: the signature of a function, places in Python code,
// operations, large constants, which become weights, and limits beyond which the text would end XLA
// or the machine's memory. Not a parser: XLA parses the text. The text is StableHLO or, if XLA
// printed a portable artifact, VHLO, which is StableHLO in a form with versions. Pure functions,
// for any text; what is not understood is left as it is or not found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/limits.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// "tensor<?x16xf32>".
struct TensorText {
  std::vector<std::int64_t> sizes;  // -1: not known
  std::string element;              // "f32"
};
// Limits of this text alone; those of all formats are in base/limits.h.
// Limits constants that repeat one number, in all.
inline constexpr std::int64_t kMostRepeatedElements = std::int64_t{1} << 25;
inline constexpr std::int64_t kMostWrittenOperations = 100'000;  // with calls written out
inline constexpr int kMostBrackets = 200;                        // in each other

// For any text, before XLA parses it: nested brackets and sizes of tensors.
Status check_sizes(const std::string& file, std::string_view text);

// For the text that XLA printed: large constants of one number, and functions that call each other.
Status check_contents(const std::string& file, std::string_view text);

// An argument or a result of a function.
struct FunctionValue {
  std::string type;                  // as in the text
  std::optional<TensorText> tensor;  // nothing: not a tensor, or not with plain dimensions
  std::string name;                  // tfaot.name, else that in Python or MLIR; may be empty
  std::vector<std::string> sizes;    // tfaot.sizes, "b,16": names of open sizes; may be empty
  std::string global_constant;       // value that JAX passes in it; empty: an argument of the model
};

struct FunctionText {
  std::vector<FunctionValue> arguments;
  std::vector<FunctionValue> results;
};

// Nothing if there is no such function.
std::optional<FunctionText> find_function(std::string_view text, std::string_view name);

// The names of all functions, in the text's order.
std::vector<std::string> function_names(std::string_view text);

// Without locations, which newer versions of MLIR write in another way. Lines stay where they are.
std::string without_locations(std::string_view text);

// Counts of each operation in the text: "stablehlo.add".
std::map<std::string, std::int64_t> count_operations(std::string_view text);

struct ConstantText {
  std::size_t value = 0;  // where "dense<...>" starts
  std::size_t size = 0;   // of it
  TensorText type;
};

// The text with calls in place of the constants (hlo/constant_calls.h).
struct LiftedText {
  std::string text;
  std::vector<ConstantText> constants;  // places in the original text
};
LiftedText lift_constants(std::string_view text);

}  // namespace tfaot::toolkit::engine
