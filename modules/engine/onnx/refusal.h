// SPDX-License-Identifier: Apache-2.0
// How the functions that lower ONNX operators say that they cannot. They are many and small, so
// here, and only here, an expected failure is an exception: lower_model() turns it into an Error.
#pragma once

#include <exception>
#include <utility>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

class Refusal : public std::exception {
 public:
  explicit Refusal(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

}  // namespace tfaot::toolkit::engine
