// SPDX-License-Identifier: Apache-2.0
// Values that depend on nothing but the program: not on inputs, nor on weights. Used by one thread.
#pragma once

#include <map>

#include "compiler/hlo/hlo.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

class FixedValues {
 public:
  // False also for values that are too large to look at. Instructions must not change afterwards.
  bool is_fixed(const xla::HloInstruction& value);
  // REQUIRES: is_fixed(). Converted to another type.
  static Result<xla::Literal> value(const xla::HloInstruction& fixed, xla::PrimitiveType type);

 private:
  std::map<const xla::HloInstruction*, bool> known_;
};

}  // namespace tfaot::toolkit::engine
