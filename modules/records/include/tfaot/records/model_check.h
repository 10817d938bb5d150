// SPDX-License-Identifier: Apache-2.0
// The findings of the engine while it compiles a model for `tfaot check`: all operations, the code
// that can be made, and all problems instead of the first one. For a CheckJob it prints lines of
// JSON (model_check_json.h), each with what is new; for an OperationsJob, the operations of a
// format that can be compiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/records/words.h"

namespace tfaot::toolkit {

enum class ProblemKind {
  kNoKernel,           // an operation that XLA does not compile
  kDtype,              // an input or output of a type that compiled models cannot have
  kUnknownShape,       // of an input
  kBatch,              // the first dimension of an input or output is not the batch
  kDataDependentSize,  // of an output
  kRowsMix,            // a row of the result depends on other rows
  kRandom,             // random numbers
  kState,              // a variable is written
  kForeignCall,        // code calls a function by name, or talks to a host program
  kRuntimeSymbol,      // code calls a function that the runtime does not have
  kCompiler,           // what XLA says, or its crash
  kModel,              // anything else, such as a model that cannot be read
};
template <>
inline constexpr auto kWords<ProblemKind> = std::to_array<Word<ProblemKind>>({
    {ProblemKind::kNoKernel, "no_kernel"},
    {ProblemKind::kDtype, "dtype"},
    {ProblemKind::kUnknownShape, "unknown_shape"},
    {ProblemKind::kBatch, "batch"},
    {ProblemKind::kDataDependentSize, "data_dependent_size"},
    {ProblemKind::kRowsMix, "rows_mix"},
    {ProblemKind::kRandom, "random"},
    {ProblemKind::kState, "state"},
    {ProblemKind::kForeignCall, "foreign_call"},
    {ProblemKind::kRuntimeSymbol, "runtime_symbol"},
    {ProblemKind::kCompiler, "compiler"},
    {ProblemKind::kModel, "model"},
});

struct ModelProblem {
  ProblemKind kind = ProblemKind::kModel;
  std::string message;
  std::vector<std::string> notes;         // causes, and what to do
  std::vector<std::string> places;        // names of nodes, inputs, outputs or symbols to blame
  std::vector<std::int64_t> batch_sizes;  // that have it; empty: all
};

enum class OperationSupport {
  kKernel,     // XLA compiles it
  kStructure,  // a call, a loop or a branch: what it runs is compiled
  kTypes,      // XLA compiles it, but not for the types of these nodes
  kConstant,   // no kernel; computed while compiling if its inputs are constants
  kRefused,    // no kernel, and tfaot does not run it either: it may do more than compute
};
template <>
inline constexpr auto kWords<OperationSupport> = std::to_array<Word<OperationSupport>>({
    {OperationSupport::kKernel, "kernel"},
    {OperationSupport::kStructure, "structure"},
    {OperationSupport::kTypes, "other_types"},
    {OperationSupport::kConstant, "constants_only"},
    {OperationSupport::kRefused, "refused"},
});

// Why a model can be refused although XLA has a kernel: if a result needs the operation.
enum class OperationTrait {
  kDrawsRandomNumbers,  // other ones than TensorFlow would draw
  kWritesState,         // a variable
  kCallsByName,         // a function whose name the model chooses
  kDataDependentSize,   // of its result
};
template <>
inline constexpr auto kWords<OperationTrait> = std::to_array<Word<OperationTrait>>({
    {OperationTrait::kDrawsRandomNumbers, "random"},
    {OperationTrait::kWritesState, "state"},
    {OperationTrait::kCallsByName, "foreign_call"},
    {OperationTrait::kDataDependentSize, "data_dependent_size"},
});

// A type attribute of an operation, such as T.
struct CheckedType {
  std::string attribute;
  std::vector<std::string> allowed;  // "float32"
  std::vector<std::string> used;     // by the model's nodes
};

struct CheckedNode {
  std::string name;
  std::string function;  // that holds it; empty: the signature's own graph
};

// The nodes of one operation that have the same support. The members without a remark on nodes are
// known without a model.
struct CheckedOperation {
  std::string operation;  // TensorFlow's name, "MatMul", or ONNX's, "Gemm", "ai.onnx.ml.Scaler"
  OperationSupport support = OperationSupport::kKernel;
  std::vector<CheckedType> types;
  std::vector<std::string> constant_inputs;  // that must be known while compiling
  std::vector<OperationTrait> traits;
  std::string advice;              // what to do instead; empty if nothing needs to be done
  std::vector<CheckedNode> nodes;  // that the outputs need, in the order of the graph
  std::int64_t oldest_opset = 0;   // of ONNX: operators of this and later ones compile
};

// Code that was made.
struct CheckedCode {
  std::int64_t batch_size = 0;
  std::string cpu_level;
  std::string object;  // its file
};

struct EngineCheck {
  std::vector<CheckedOperation> operations;  // sorted by name
  std::vector<CheckedCode> codes;
  std::vector<ModelProblem> problems;  // in the order in which they were found
};

// Adds what is new.
void add_check(EngineCheck& check, EngineCheck more);

// Adds the problem, or only its batch sizes if there is one of the same kind at the same places.
void add_problem(std::vector<ModelProblem>& problems, ModelProblem problem);

// The device whose kernels are listed: what the engine compiles for.
inline constexpr const char* kCompiledDevice = "XLA_CPU_JIT";

}  // namespace tfaot::toolkit
