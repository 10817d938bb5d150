// SPDX-License-Identifier: Apache-2.0
// A file with StableHLO, read: MLIR as text, a portable artifact, or a file of jax.export. XLA
// parses it; nothing in it is run.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lowering/lowering.h"
#include "stablehlo/constant_text.h"
#include "stablehlo/mlir_text.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct StableHloModule {
  std::string producer;                 // "StableHLO 1.7.0"; empty: the file does not say
  std::string whole;                    // the text that XLA made of it
  std::string text;                     // the same with calls instead of constants
  std::vector<ConstantText> constants;  // places in `whole`
  FunctionText main;                    // without what JAX passes itself
  std::vector<std::string> platforms;   // of a module with code for several
};

// Errors: the file cannot be read, is none of the three, or newer than what XLA reads.
Result<StableHloModule> read_stablehlo(const std::string& file);

// Of the module's constants, in order. The first call reads all that are not in binary form.
class ConstantValues {
 public:
  // The module must outlive the values.
  explicit ConstantValues(const StableHloModule& module) : module_(module) {}
  Result<Value> value(std::size_t constant) const;

 private:
  Status read_small() const;

  const StableHloModule& module_;
  mutable std::map<std::size_t, Value> small_;
};

// XLA's type; PRIMITIVE_TYPE_INVALID for those that inputs cannot have.
xla::PrimitiveType type_of_text(std::string_view element);

}  // namespace tfaot::toolkit::engine
