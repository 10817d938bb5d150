// SPDX-License-Identifier: Apache-2.0
// MLIR as text, as far as compiling needs it: the signature of a function, places in Python code,
// operations. Not a parser: XLA parses the text. The text is StableHLO or, if XLA printed a
// portable artifact, VHLO, which is StableHLO in a form with versions. Pure functions; what is not
// understood is left as it is or not found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stablehlo/mlir_scan.h"

namespace tfaot::toolkit::engine {

// An argument or a result of a function.
struct FunctionValue {
  std::string type;                  // as in the text
  std::optional<TensorText> tensor;  // nothing: it is no tensor, or none with plain dimensions
  std::string name;                  // tfaot.name, else that in Python or MLIR; may be empty
  std::vector<std::string> sizes;    // tfaot.sizes, "b,16": names of open sizes; may be empty
  std::string global_constant;       // what JAX passes in it; empty: it is an argument of the model
};

struct FunctionText {
  std::vector<FunctionValue> arguments;
  std::vector<FunctionValue> results;
};

// Whether the name after '@' at `at` is that of a function that is defined there.
bool defines_function(std::string_view text, std::size_t at);

// Nothing if there is no such function.
std::optional<FunctionText> find_function(std::string_view text, std::string_view name);

// The names of all functions, in the text's order.
std::vector<std::string> function_names(std::string_view text);

// Without locations, which newer versions of MLIR write in another way. Lines stay where they are.
std::string without_locations(std::string_view text);

// How often each operation is written: "stablehlo.add".
std::map<std::string, std::int64_t> count_operations(std::string_view text);

}  // namespace tfaot::toolkit::engine
