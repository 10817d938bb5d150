// SPDX-License-Identifier: Apache-2.0
// The contents of a tensorflow.tf2xla.Config, which tfcompile takes as --config. If the engine is
// started with kConfigOption and a file instead of a job, it prints them as one line of JSON
// (tf2xla_config_json.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfaot::toolkit {

struct Tf2xlaFeed {
  std::string tensor;               // "x:0"
  std::string name;                 // of the accessors, may be empty
  std::string dtype;                // TensorFlow's name, "float32"; empty: as in the graph
  std::vector<std::int64_t> shape;  // with the batch
};
struct Tf2xlaFetch {
  std::string tensor;
  std::string name;
};
struct Tf2xlaConfig {
  std::vector<Tf2xlaFeed> feeds;
  std::vector<Tf2xlaFetch> fetches;
  std::uint32_t variables = 0;
};

inline constexpr const char* kConfigOption = "--tf2xla-config";

}  // namespace tfaot::toolkit
