// SPDX-License-Identifier: Apache-2.0
// A runner is one process with one inference engine and one net. The driver (bench.py) asks it for
// predictions and timings, line by line:
//   prepare ROWS   -> "ok WORST LARGEST": predicts ROWS rows once; WORST is the largest difference
//                     from the expected outputs, LARGEST the largest of those
//   time CALLS     -> "WALL CPU": nanoseconds of CALLS calls in wall time, and in processor time of
//                     all threads, after some calls that are not counted
// The runner writes "ready" once, after its first prediction (1 row). Every engine has one input
// and one output of float32. All are timed by the same loop, runner_main.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tfaot::benchmark {

struct RunnerOptions {
  std::string model;    // the engine's own file or folder; unused when linked in
  std::string library;  // the engine's shared library, when it is opened at run time
  std::vector<std::size_t> input_shape;  // of one row
  std::size_t output_size = 0;           // elements of one row
  std::vector<std::string> names;        // of the input and output tensor, where they matter
};

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // Makes ready for `rows` rows from `inputs`, which stay in place; not timed.
  virtual void prepare(std::size_t rows, const float* inputs) = 0;
  // One prediction; timed.
  virtual void run() = 0;
  // Outputs of the last run(), rows * output_size; not timed.
  virtual const float* outputs() = 0;
};

// Each runner defines it. Throws std::runtime_error when the model cannot be loaded.
std::unique_ptr<Engine> make_engine(const RunnerOptions& options);

}  // namespace tfaot::benchmark
