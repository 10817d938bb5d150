// SPDX-License-Identifier: Apache-2.0
// The rules that involve more than one key. They do not report a value that is wrong by itself.
#pragma once

#include "problems.h"
#include "value_checker.h"

namespace tfaot::toolkit::config {

// The given value, or the default from the table. REQUIRES: the key has a default, or its value was
// given.
YAML::Node node_or_default(const Values& values, const std::string& path);

// Null if it was not given or is not valid.
const Value* good_value(const Values& values, const std::string& path);

// True if the value is valid or was not given.
bool is_usable(const Values& values, const std::string& path);

// The value of the key's enum; the default if its word is not valid.
template <HasWords Enum>
Enum word_at(const Values& values, const std::string& path) {
  return parse_word<Enum>(node_or_default(values, path).Scalar())
      .value_or(*parse_word<Enum>(config_key(path).fallback));
}

// Keys that belong to another format, and keys that this format lacks.
void check_format(const Values& values, Problems& problems);

// The levels must belong to the target's architecture.
void check_cpu_levels(const Values& values, Problems& problems);

// Batch sizes times CPU levels.
void check_object_count(const Values& values, Problems& problems);

// A model without a batch has no batch sizes and no rows; the shapes of inputs start with the batch
// or not.
void check_batch(const Values& values, Problems& problems);

// CMSSW's own Model composes batches of any compiled sizes, so rows cannot be coupled there.
void check_rows(const Values& values, Problems& problems);

// Products of bfloat16 have weights of bfloat16.
void check_compute(const Values& values, Problems& problems);

// Nor has a call of CMSSW's Model sizes. A dimension has a fixed size or a free one.
void check_dimensions(const Values& values, Problems& problems);

}  // namespace tfaot::toolkit::config
