// SPDX-License-Identifier: Apache-2.0
// The result of compiling a model: its signature, its weights, and code for each batch size and CPU
// level. The engine writes it as JSON to disk (compiled_model_json.h); the generate room reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/free_sizes.h"

namespace tfaot::toolkit {

// An input or output of the model. The first dimension is the batch; it is not part of `row_shape`.
struct TensorSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> row_shape;       // shape of one row (event); empty for a scalar per row
  std::vector<SizeFormula> free_shape = {};  // of each dimension, if one is free; row_shape has the
                                             // largest sizes
};

// Elements of one row.
inline std::uint64_t row_elements(const TensorSpec& tensor) {
  return std::accumulate(tensor.row_shape.begin(), tensor.row_shape.end(), std::uint64_t{1},
                         std::multiplies<>());
}

struct Signature {
  std::string key;  // serving key
  // SavedModel: sorted by name, as TensorFlow does. Frozen graph: in the config's order.
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

// One tensor inside the weights blob.
struct Weight {
  std::string name;  // the variable's name in the graph; ", packed" or ", folded" when derived
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  // bytes from the start of the blob, a multiple of 64
  std::uint64_t size = 0;    // bytes
};

// A variable or constant of the original model, for messages.
struct Variable {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
};

// What one slot of the entry function's buffer table points to.
enum class BufferKind {
  kUnused,     // constants and stack entries: a null pointer
  kInput,      // index: position in Signature::inputs
  kOutput,     // index: position in Signature::outputs
  kWeight,     // index: position in CompiledCode::weights
  kTemporary,  // scratch of `size` bytes, aligned to 64
  kLiveRows,   // how many rows of the batch count, an int64
  kTasks,      // the address of tasks, an int64
  kSizes,      // the size of each free dimension, an int64
};

template <>
inline constexpr auto kWords<BufferKind> = std::to_array<Word<BufferKind>>({
    {BufferKind::kUnused, "unused"},
    {BufferKind::kInput, "input"},
    {BufferKind::kOutput, "output"},
    {BufferKind::kWeight, "weight"},
    {BufferKind::kTemporary, "temporary"},
    {BufferKind::kLiveRows, "live_rows"},
    {BufferKind::kTasks, "tasks"},
    {BufferKind::kSizes, "sizes"},
});

struct BufferSlot {
  BufferKind kind = BufferKind::kUnused;
  std::uint32_t index = 0;
  std::uint64_t size = 0;  // bytes
};

// The object code of one batch size for one CPU level.
struct CompiledCode {
  std::int64_t batch_size = 0;
  std::string cpu_level;                  // "x86-64-v3"
  std::vector<std::string> cpu_features;  // CPU features it needs, "avx2"; not set by the engine
  std::string object;               // file name inside the compile folder, "test_bs4_x86-64-v3.o"
  std::string entry_symbol;         // "tfaot_tfaot_model_test_bs4_x86_64_v3"
  std::vector<BufferSlot> buffers;  // the buffer table, in order
  std::uint32_t result_slot = 0;    // the slot that holds the table of output pointers
  std::vector<std::uint32_t> weights;  // positions in CompiledModel::weights, as the HLO has them
  std::vector<std::string> kernels;    // runtime symbols the object calls, sorted
  std::string hlo_sha256;              // of the HLO that the code is made from, without weights
  std::uint64_t estimated_cost = 0;    // picoseconds per call, not measured
  std::uint32_t live_permille = 0;     // the share of it that padding rows do not cost
  std::uint32_t shared_permille = 0;   // the share of it in kernels that share their work
  std::uint64_t lane_bytes = 0;        // scratch of each lane of these
  bool from_cache = false;             // nothing was compiled
};

struct CompiledModel {
  std::string engine;                          // "tensorflow-cpu 2.18.1"
  std::vector<FreeDimension> dimensions = {};  // that have sizes of their own, in formulas' order
  std::string target_triple;
  Signature signature;
  std::vector<std::int64_t> batch_sizes;  // ascending
  std::vector<std::string> cpu_levels;    // ascending
  std::vector<Variable> variables;        // of the model; weights are made from them
  std::vector<Weight> weights;            // empty when embedded
  std::uint64_t weights_size = 0;         // bytes of the blob, 0 when embedded
  std::string weights_object;             // file name, "test_weights.o"; empty if there is no blob
  std::string weights_object_sha256;
  std::string weights_symbol;       // "tfaot_tfaot_model_test_weights"
  std::vector<CompiledCode> codes;  // by batch size, then CPU level
  std::string source_sha256;        // sha256_of_tree() of the model's source
  // CompileOptions::allow_coupled_rows let them pass. Not kept in a package's record.
  bool coupled_rows = false;
  // The HLO of the smallest batch size, to be read by people: one operation a line; if all
  // constants hold thousands of numbers, without the large ones. Empty if weights are embedded.
  std::string hlo_text;
};

// Bytes of the code's temporaries.
std::int64_t scratch_bytes(const CompiledCode& code);

// Checks that the record is consistent before headers are made from it: a wrong table would let the
// code write outside its buffers. Every finding is an internal Error. Pure.
Status check_compiled_model(const CompiledModel& compiled);

}  // namespace tfaot::toolkit
