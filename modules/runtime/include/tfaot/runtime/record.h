// SPDX-License-Identifier: Apache-2.0
// What identifies a model that ran, for logs and databases, such as MLMetadata of CMS's conditions.
// Constants that live as long as the library with the model; safe from many threads.
#pragma once

#include <cstdint>
#include <string_view>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// The record of a model, as `tfaot info --record` prints it, and the code in use.
struct ModelRecord {
  std::string_view model_name;  ///< `model.name` of the config
  std::int64_t version;         ///< 1002003 for version "1.2.3", or `model.record_version`; 0: none
  std::string_view hash;        ///< SHA-256 of the package's code and weights, in hexadecimal
  std::string_view cpu_level;   ///< that runs here, such as "x86-64-v3"
  /// Instructions beyond the level's that kernels of the library use here, such as "avx512vnni";
  /// only int8 models and `compute: bfloat16` need them. Separated by spaces; empty: none.
  std::string_view instructions = {};
};

namespace detail {

// Of ModelRecord, for code of this level.
const char* instructions_in_use(const char* cpu_level) noexcept;

}  // namespace detail

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
