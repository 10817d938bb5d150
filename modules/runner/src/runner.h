// SPDX-License-Identifier: Apache-2.0
// A runner is one process with one inference engine and one model, so that its memory is its own
// and a crash ends nothing else. Whoever started it (room profile; tests/benchmark/driver) asks for
// predictions and timings, a line for a line:
//   prepare ROWS       -> "ok WORST LARGEST": predicts ROWS rows once; WORST is the largest
//                         difference from the expected outputs, LARGEST the largest of those
//   time CALLS         -> "WALL CPU": nanoseconds of CALLS calls in wall time, and in processor
//                         time of all threads, after some calls that are not counted
//   allocations CALLS  -> "COUNT BYTES" that CALLS calls asked the allocator for; "unknown"
//   operations CALLS   -> counters of the instrumented code, in clock ticks of CALLS calls
//   write PREFIX       -> "ok": the outputs of the last prepare, as raw rows, in PREFIX0, PREFIX1
//   version            -> of the engine; "unknown"
// It writes "ready NANOSECONDS" once, after its first prediction (1 row): the time since its
// main() began. All engines are timed by the same loop, main.cc.
//   RUNNER KEY=VALUE...   keys, in any order; some come once for each input or output:
//   engine                its word, for programs with several engines
//   model, library        the engine's own file or folder; its shared library
//   input, output         "DTYPE SHAPE NAME": float32 28,28,3 x; SHAPE is "-" for one number
//   input_file            raw rows of an input, in the order of the inputs
//   constant              as input, int64 or float64: an input of the engine's model alone
//   constant_file         its raw value, in the order of the constants
//   expected_file         raw rows of an output; none: nothing is compared
//   first                 rows of the first prediction [1]; 0: none before the first "prepare"
//   turns                 N: each timed call takes the next of the first N rows, copied; else all
//                         take the same, and the CPU learns the branches of code that has some
//   as_written            "1": operators are not joined (ONNX Runtime), which may round otherwise
//   batch                 "none": tensors have no dimension for rows, and only 1 row runs
//   core                  runs on this core alone
//   parent                ends with this process
//   watched               a program around it needs it to end properly
//   manifest, record, cpu_level, batch_rule, sizes, counters    of a package (package_engine.cc)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tfaot/runtime/dtype.h"

namespace tfaot::runner {

struct Tensor {
  DType type = DType::kFloat32;
  std::vector<std::int64_t> row_shape;
  std::string name;       // of the package; an engine may have other names, but the same order
  bool has_batch = true;  // or else the model takes no dimension for rows, and only 1 runs

  std::vector<std::int64_t> shape(std::size_t rows) const;
  std::size_t row_elements() const;
  std::size_t row_bytes() const;
};

// An input of the engine's model alone.
struct Constant {
  Tensor tensor;  // without rows
  const void* data = nullptr;

  // The values as the model takes them.
  std::vector<unsigned char> as(DType type) const;
};

struct Settings {
  std::map<std::string, std::vector<std::string>> values;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<Constant> constants;

  // The value that was given last; empty if there is none.
  std::string get(const std::string& key) const;
  std::vector<std::string> all(const std::string& key) const;
};
Settings settings_of(int argc, char** argv);

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // Makes ready for `rows` rows from `inputs`, which stay in place; not timed.
  virtual void prepare(std::size_t rows, const std::vector<const void*>& inputs) = 0;
  // One prediction; timed.
  virtual void run() = 0;
  // Outputs of the last run(), `rows` rows each; not timed.
  virtual std::vector<const void*> outputs() = 0;
  // Clock ticks of each operation, added up since the engine was made; empty if nothing counts.
  virtual std::vector<std::int64_t> operations() { return {}; }
  virtual std::string version() { return "unknown"; }
};

// What an engine calls an element type.
struct TypeCode {
  DType type;
  int code;
};
// Throws if the engine has no such type.
template <std::size_t kCount>
int code_of(const TypeCode (&codes)[kCount], DType type) {
  for (const TypeCode& one : codes) {
    if (one.type == type) return one.code;
  }
  throw std::runtime_error(std::string("the engine has no tensors of ") + name_of(type));
}

// Throws if no type of ours has the code.
template <std::size_t kCount>
DType type_of_code(const TypeCode (&codes)[kCount], int code) {
  for (const TypeCode& one : codes) {
    if (one.code == code) return one.type;
  }
  throw std::runtime_error("the model has a tensor of type " + std::to_string(code));
}

// Each program defines it. Throws std::runtime_error when the model cannot be loaded.
std::unique_ptr<Engine> make_engine(const Settings& settings);

// The engines, each in its own source.
std::unique_ptr<Engine> make_no_engine(const Settings& settings);
std::unique_ptr<Engine> make_package_engine(const Settings& settings);
std::unique_ptr<Engine> make_onnxruntime_engine(const Settings& settings);
std::unique_ptr<Engine> make_litert_engine(const Settings& settings);
std::unique_ptr<Engine> make_tensorflow_engine(const Settings& settings);

// Memory for the outputs of an engine that writes where it is told, aligned to 64 bytes.
class OutputMemory {
 public:
  void allocate(const std::vector<Tensor>& outputs, std::size_t rows);
  const std::vector<void*>& pointers() const { return pointers_; }
  std::vector<const void*> contents() const { return {pointers_.begin(), pointers_.end()}; }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::vector<std::unique_ptr<void, Free>> memory_;
  std::vector<void*> pointers_;
};

// names[i]: what the engine calls tensors[i]. By name if it has the same names, else by order.
// Throws if their number differs.
std::vector<std::size_t> places_of(const std::vector<Tensor>& tensors,
                                   const std::vector<std::string>& names, const char* what);

}  // namespace tfaot::runner
