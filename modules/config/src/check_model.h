// SPDX-License-Identifier: Apache-2.0
// The rules that look at more than one key. They say nothing about a value that is wrong by itself.
#pragma once

#include "problems.h"
#include "value_checker.h"

namespace tfaot::toolkit::config {

// What was given, or the default of the table. REQUIRES: the key has a default, or its value was
// given.
YAML::Node node_or_default(const Values& values, const std::string& path);

// True when it was not given, or well.
bool is_usable(const Values& values, const std::string& path);

// The key's enum, of which it holds a word; the default's for a word that is wrong.
template <HasWords Enum>
Enum word_at(const Values& values, const std::string& path) {
  return parse_word<Enum>(node_or_default(values, path).Scalar())
      .value_or(*parse_word<Enum>(config_key(path).fallback));
}

// Keys of the other format, and missing keys of this one.
void check_format(const Values& values, Problems& problems);

// The levels must be those of the target's architecture.
void check_cpu_levels(const Values& values, Problems& problems);

// Batch sizes times CPU levels.
void check_object_count(const Values& values, Problems& problems);

// CMSSW's own Model composes batches of any compiled sizes, so rows cannot be coupled there.
void check_rows(const Values& values, Problems& problems);

}  // namespace tfaot::toolkit::config
