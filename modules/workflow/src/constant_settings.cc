// SPDX-License-Identifier: Apache-2.0
#include "constant_settings.h"

#include <fmt/format.h>

#include <optional>

#include "profile_inputs.h"
#include "tfaot/arrays/csv.h"

namespace tfaot::toolkit {
namespace {

// Nothing if not all values are numbers of the type.
std::optional<std::string> values_as(DType dtype, const ModelConstant& constant) {
  std::string bytes;
  for (const std::string& value : constant.values) {
    const bool is_truth = value == "true" || value == "false";
    const std::string number = is_truth ? (value == "true" ? "1" : "0") : value;
    if (!append_number(bytes, dtype, number)) return std::nullopt;
  }
  return bytes;
}

}  // namespace

Result<std::vector<std::string>> constant_settings(Context& context,
                                                   const std::vector<ModelConstant>& constants,
                                                   const Path& folder) {
  std::vector<std::string> settings;
  for (const ModelConstant& constant : constants) {
    auto dtype = DType::kInt64;
    auto bytes = values_as(dtype, constant);
    if (!bytes) bytes = values_as(dtype = DType::kFloat64, constant);
    if (!bytes) {
      return fail(Error(
          fmt::format("model.constants: '{}' has values that are no numbers", constant.name)));
    }
    const Path file = folder / fmt::format("constant_{}", settings.size() / 2);
    TFAOT_TRY(context.files.replace_atomically(file, *bytes, Durability::kScratch));
    settings.push_back("constant=" + tensor_setting({constant.name, dtype, constant.shape}));
    settings.push_back("constant_file=" + file.string());
  }
  return settings;
}

}  // namespace tfaot::toolkit
