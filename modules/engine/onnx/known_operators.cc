// SPDX-License-Identifier: Apache-2.0
#include "onnx/known_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "onnx/onnx_scope.h"
#include "onnx/operators.h"

namespace tfaot::toolkit::engine {
namespace {

// Those of the pinned ONNX (packaging/onnx_wheel.txt), against which the operators were checked.
struct NewestOpset {
  std::string_view domain;
  std::int64_t version;
};
constexpr auto kNewestOpsets = std::to_array<NewestOpset>({{"", 27}, {"ai.onnx.ml", 5}});

Error too_new(const std::string& what, std::int64_t version, std::int64_t newest) {
  return Error(fmt::format("the model has {} {}, and the newest that tfaot knows is {}", what,
                           version, newest))
      .note("export it with an older one, or convert it with onnx.version_converter")
      .note(
          "to compile it as if it were of the newest known one: 'model.opset: any', or '--opset "
          "any'; then compare it by 'tfaot validate'")
      .about(word_of(ProblemKind::kModel), {});
}

template <typename Imports>
Status check_imports(const Imports& imports) {
  for (const auto& [domain, version] : opsets_of(imports)) {
    const auto* const known = std::ranges::find(kNewestOpsets, domain, &NewestOpset::domain);
    if (known == kNewestOpsets.end() || version <= known->version) continue;
    return fail(too_new(domain.empty() ? "opset" : "opset of " + domain, version, known->version));
  }
  return {};
}

}  // namespace

Status check_opsets(const onnx::ModelProto& model) {
  TFAOT_TRY(check_imports(model.opset_import()));
  for (const auto& function : model.functions()) {
    TFAOT_TRY(check_imports(function.opset_import()));
  }
  const std::int64_t newest = onnx::IR_VERSION;
  if (model.ir_version() <= newest) return {};
  return fail(too_new("IR version", model.ir_version(), newest));
}

std::vector<CheckedOperation> known_onnx_operators() {
  std::vector<CheckedOperation> rows;
  for (const OnnxOperator& known : all_operators()) {
    CheckedOperation row;
    row.operation = known.domain.empty() ? known.name : known.domain + "." + known.name;
    row.oldest_opset = known.since;
    for (const int operand : known.known)
      row.constant_inputs.push_back(std::to_string(operand + 1));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tfaot::toolkit::engine
