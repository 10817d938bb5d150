// SPDX-License-Identifier: Apache-2.0
// The tables that generated headers fill in and the runtime reads: plain constants, no code. A
// model is a Description: its signature, one Program per compiled batch size, each with one Code
// per CPU level, and the weights, which all of them share. Everything is immutable and lives as
// long as the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/detail/float_scope.h"
#include "tfaot/runtime/record.h"
#include "tfaot/runtime/signature.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// The versions of tables that generated headers may have. The newest is raised when something is
// added, such as another member in the tables below; the oldest when something is removed or
// changed. A model's header asserts that these headers accept its own version (generate).
inline constexpr int kOldestTables = 1;
inline constexpr int kNewestTables = 7;
constexpr bool takes_tables(int of_the_model) {
  return kOldestTables <= of_the_model && of_the_model <= kNewestTables;
}

enum class BufferKind : std::uint8_t {
  kUnused,     // null in the table
  kInput,      // index: the input
  kOutput,     // index: the output
  kWeight,     // offset: bytes into the weights blob
  kTemporary,  // offset: bytes into the instance's scratch
  kLiveRows,   // an int64: the rows of a batch that count; later ones may hold anything
  kTasks,      // an int64: the address of the Tasks (tasks.h) for kernels that share, or 0
  kSizes,      // an int64 for each free dimension: its size
};

// One slot of an entry function's buffer table.
struct BufferSlot {
  BufferKind kind;
  std::uint32_t index;
  std::uint64_t offset;
  std::uint64_t size;  // bytes
};

// XLA's calling convention for ahead-of-time compiled code (TensorFlow 2.18,
// xla/service/cpu/ir_function.h): result table, run options (null), arguments (unused), buffer
// table, status (null), profile counters (null).
using EntryFunction = void (*)(void*, const void*, const void**, void**, void*, std::int64_t*);

struct Code {
  const char* cpu_level;  // psABI microarchitecture level or CPU, "x86-64-v3", "znver4"
  const char*
      cpu_features;  // CPU features it needs, separated by spaces: "avx avx2" (cpu_features.h)
  EntryFunction entry;
  const BufferSlot* slots;
  std::size_t slot_count;
  std::size_t result_slot;    // the table of output pointers
  std::size_t scratch_bytes;  // of all kTemporary slots, each aligned to kAlignment
  // Picoseconds of one call, measured by `tfaot tune`; 0: not measured.
  std::uint64_t cost = 0;
  // The same, estimated by the compiler; 0: no estimate. Only ratios between codes of one level
  // count.
  std::uint64_t estimated_cost = 0;
  // Thousandths of the cost that are proportional to the rows that count, for a padded batch.
  std::uint32_t live_permille = 0;
  // Thousandths of the cost that are in kernels that share their work, if there are Tasks; the
  // scratch memory of each of their lanes.
  std::uint32_t shared_permille = 0;
  std::size_t lane_bytes = 0;
};

struct Program {
  std::size_t batch_size;
  const Code* codes;  // by ascending CPU level; later ones are better
  std::size_t code_count;
};

struct Description {
  const char* name;     // "test"
  const char* version;  // "1.0.0"
  const TensorInfo* inputs;
  std::size_t input_count;
  const TensorInfo* outputs;
  std::size_t output_count;
  const Program* programs;  // by ascending batch size
  std::size_t program_count;
  const unsigned char* weights;  // aligned to kAlignment; null if embedded in the code
  std::size_t weights_bytes;
  // Rows of a batch depend on each other: only batches of compiled sizes run, each in one call.
  bool coupled_rows = false;
  // Of the package's record, for experiments' databases; 0 and null: unknown.
  std::int64_t record_version = 0;
  const char* record_hash = nullptr;
  // Whose sizes each call chooses. Code for them reads and writes buffers of
  // row_elements + kElementsBeyond elements, in which the tensor lies at the start.
  const FreeDimension* dimensions = nullptr;
  std::size_t dimension_count = 0;
};
inline constexpr std::size_t kElementsBeyond = 512;

namespace detail {

inline ModelRecord record_of(const Description& model, const char* cpu_level) noexcept {
  return {model.name, model.record_version, model.record_hash == nullptr ? "" : model.record_hash,
          cpu_level, instructions_in_use(cpu_level)};
}

constexpr Signature signature_of(const Description& model) noexcept {
  return {{model.inputs, model.input_count}, {model.outputs, model.output_count}};
}

// Models that compute in float64, as far as their inputs and outputs show, keep denormal numbers.
constexpr Denormals denormals_of(const Description& model) noexcept {
  for (std::size_t i = 0; i < model.input_count; ++i) {
    if (model.inputs[i].dtype == DType::kFloat64) return Denormals::kKept;
  }
  for (std::size_t i = 0; i < model.output_count; ++i) {
    if (model.outputs[i].dtype == DType::kFloat64) return Denormals::kKept;
  }
  return Denormals::kZero;
}

}  // namespace detail

// Alignment of scratch and weights in bytes.
inline constexpr std::size_t kAlignment = 64;
// The alignment that XLA assumes for every buffer (xla/cpu_function_runtime.h, MinAlign()).
inline constexpr std::size_t kMinAlignment = 16;

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
