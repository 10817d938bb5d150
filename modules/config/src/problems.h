// SPDX-License-Identifier: Apache-2.0
// Collects all faults of a config, so that one run reports all of them. Values from options, which
// have no file, have the null mark. One object per parse, one thread.
#pragma once

#include <yaml-cpp/mark.h>

#include <cstddef>
#include <deque>
#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::config {

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  // You may add notes to the result; it stays valid while more problems are added.
  Error& add(const YAML::Mark& mark, std::string message);
  std::size_t count() const { return found_.size(); }
  // The first problem in file order, with the others as notes.
  // REQUIRES: count() > 0
  Error to_error() const;

 private:
  std::string file_;
  std::deque<Error> found_;
};

Location location_of(const std::string& file, const YAML::Mark& mark);

}  // namespace tfaot::toolkit::config
