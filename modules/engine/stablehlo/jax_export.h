// SPDX-License-Identifier: Apache-2.0
// Files that jax.export writes (Exported.serialize()): a FlatBuffer around a portable artifact.
// Pure functions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tfaot::toolkit::engine {

struct JaxExport {
  // Of the bytes that were read; many may be the same ones.
  std::string_view module;
  std::vector<std::string_view> platforms;            // "cpu"
  std::vector<std::vector<std::string_view>> shapes;  // of the module's arguments: "b", "16", "2*n"
};

// Nothing if the bytes are no such file, or have more arguments, sizes or platforms than any.
std::optional<JaxExport> read_jax_export(std::string_view bytes);

}  // namespace tfaot::toolkit::engine
