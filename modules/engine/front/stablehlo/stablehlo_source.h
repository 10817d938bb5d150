// SPDX-License-Identifier: Apache-2.0
// Reads files with StableHLO: MLIR as text, a portable artifact, or a file of jax.export
// (Exported.serialize()), which is a FlatBuffer around an artifact. XLA parses it; nothing in it is
// run.
//
// Scans MLIR text, without parsing it: signatures of functions, locations in Python code,
// operations, large constants, which become weights, and limits beyond which XLA would crash or
// exhaust the memory. The text is StableHLO or, if XLA printed a portable artifact, VHLO, its
// versioned form. Pure functions, for any text; anything not understood is kept or ignored.
//
// StableHLO as a SourceModel. TensorFlow's XlaCallModule lowers a module for a batch size: it
// resolves open sizes, selects the code for CPUs and checks the module's assertions on its inputs.
// XLA's interpreter is the OriginalProgram: it evaluates one operation after the other, without
// XLA's CPU compiler, tfaot's passes and our kernels.
#pragma once

#include <cstring>
#include <map>

#include "compiler/hlo/lowering.h"
#include "front/lowering/signature.h"
#include "tfaot/base/limits.h"

namespace tfaot::toolkit::engine {

// "tensor<?x16xf32>".
struct TensorText {
  std::vector<std::int64_t> sizes;  // -1: not known
  std::string element;              // "f32"
};
// Limits of StableHLO's text; those of all formats are in base/limits.h. Elements of constants that
// repeat one number, in total.
inline constexpr std::int64_t kMostRepeatedElements = std::int64_t{1} << 25;
inline constexpr std::int64_t kMostWrittenOperations = 100'000;  // with calls written out
inline constexpr int kMostBrackets = 200;                        // in each other

// Checks any text before XLA parses it: nested brackets and sizes of tensors.
Status check_sizes(const std::string& file, std::string_view text);

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

// Removes locations, whose syntax newer versions of MLIR changed. Line numbers are kept.
std::string without_locations(std::string_view text);

// Counts of each operation in the text: "stablehlo.add".
std::map<std::string, std::int64_t> count_operations(std::string_view text);

struct ConstantText {
  std::size_t value = 0;  // where "dense<...>" starts
  std::size_t size = 0;   // of it
  TensorText type;
};

// The text with calls instead of constants (compiler/hlo/constant_calls.h).
struct LiftedText {
  std::string text;
  std::vector<ConstantText> constants;  // places in the original text
};
LiftedText lift_constants(std::string_view text);

struct JaxExport {
  // A part of the bytes that were read.
  std::string_view module;
  std::vector<std::string_view> platforms;            // "cpu"
  std::vector<std::vector<std::string_view>> shapes;  // of the module's arguments: "b", "16", "2*n"
};

// Nothing if the bytes are not such a file, or exceed the limits of arguments, sizes or platforms.
std::optional<JaxExport> read_jax_export(std::string_view bytes);

// Refuses the models that compiling refuses.
Result<std::unique_ptr<OriginalProgram>> load_interpreted_program(const JobModel& job,
                                                                  std::int64_t batch_size);

// The function 'main' is the one function.
Result<ModelFunctions> stablehlo_functions(const std::string& file);

Result<std::unique_ptr<SourceModel>> load_stablehlo_source(const JobModel& job);

}  // namespace tfaot::toolkit::engine
