// SPDX-License-Identifier: Apache-2.0
// Code that counts the clock ticks of each of its operations, made for `tfaot profile --per-op`
// alone. Its entry function adds to an array of counters, its last argument.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfaot::toolkit {

struct CountedOperation {
  std::string name;      // of the HLO instruction
  std::string category;  // "kernel tfaot_gemm_...", "loop fusion", "reduce"
  std::string inside;    // the computation that holds it, such as a loop's body; empty: the entry
  std::int64_t counter = 0;
  // The model's own name of it, such as "tagger/dense/MatMul"; empty: unknown.
  std::string origin = {};
};

struct CountedCode {
  std::int64_t batch_size = 0;
  std::string cpu_level;
  std::int64_t counters = 0;  // length of the array
  std::int64_t whole = 0;     // the counter of the entry function
  std::vector<CountedOperation> operations;
};

}  // namespace tfaot::toolkit
