// SPDX-License-Identifier: Apache-2.0
// Files that jax.export writes (Exported.serialize()): a FlatBuffer around a portable artifact.
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfaot::toolkit::engine {

struct JaxExport {
  std::string_view module;                       // of the bytes that were read
  std::vector<std::string> platforms;            // "cpu"
  std::vector<std::vector<std::string>> shapes;  // of the module's arguments: "b", "16", "2*n"
};

// Nothing if the bytes are no such file.
std::optional<JaxExport> read_jax_export(std::string_view bytes);

}  // namespace tfaot::toolkit::engine
