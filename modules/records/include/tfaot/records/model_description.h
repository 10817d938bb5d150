// SPDX-License-Identifier: Apache-2.0
// The contents of a model, in any format, before anything is compiled. For a DescribeJob the engine
// prints them as lines of JSON (engine_job_json.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// An input or output of a signature.
struct DescribedTensor {
  std::string name;    // key in the signature, or the node's name in a frozen graph
  std::string tensor;  // "node:index" in the graph
  std::string dtype;   // TensorFlow's name, "float32"; also of types that cannot be compiled
  bool rank_known = false;
  std::vector<std::int64_t> shape;  // -1: unknown
  // Of unknown sizes the names, "" for those without one; empty if the format has no such names.
  std::vector<std::string> dimensions = {};
  std::string origin = {};  // of an output: the node that computes it; empty: unknown
};

struct OperationCount {
  std::string operation;  // TensorFlow's name, "MatMul"
  std::int64_t count = 0;
};

// One function that can be compiled.
struct DescribedSignature {
  std::string key;  // empty for formats without signatures
  std::vector<DescribedTensor> inputs;
  std::vector<DescribedTensor> outputs;
  std::vector<Variable> weights;           // that the outputs need, in order of first use
  std::vector<OperationCount> operations;  // that the outputs need, the most frequent first
  // Floating-point operations of one row, counted before any optimisation; a multiplication and an
  // addition are two. -1: not known.
  std::int64_t flops_per_row = -1;
  // Why no code can be made from it, as far as reading and lowering show; empty if nothing is
  // known.
  std::string problem;
  std::vector<std::string> notes;  // of the problem
  // "the model has opset 99, ...": it compiles only with 'opset: any'. Empty for all others.
  std::string newer_opset = {};
  // Placeholders that it needs and that look like no inputs, with a value that they may have.
  std::vector<ModelConstant> constants = {};
};

struct ModelDescription {
  ModelFormat format = ModelFormat::kSavedModel;
  std::string producer;  // "tensorflow 2.18.1"; empty if the model does not say
  std::vector<DescribedSignature> signatures;
};

// "batch_size, ?, 28": unknown dimensions by their names, or as question marks.
std::string sizes_text(const DescribedTensor& tensor);
std::string sizes_text(const std::vector<std::int64_t>& shape);

}  // namespace tfaot::toolkit
