// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/records/model_check.h"
#include "tfaot/records/model_description.h"
#include "xla/client/client_library.h"
#include "xla/service/platform_util.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::int64_t kFewestNumbers = 16;
constexpr std::int64_t kFewestPlaces = 4096;

bool holds_places(DType type) {
  return !is_real(type) && type != DType::kInt8 && type != DType::kUint8;
}

}  // namespace

bool is_weight_constant(std::optional<DType> type, absl::Span<const std::int64_t> sizes) {
  if (!type || sizes.empty()) return false;
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size <= 0) return false;
    elements = std::min(elements, kFewestPlaces) * std::min(size, kFewestPlaces);
  }
  return elements >= (holds_places(*type) ? kFewestPlaces : kFewestNumbers);
}

bool is_place_constant(std::optional<DType> type, absl::Span<const std::int64_t> sizes) {
  return type && holds_places(*type) && !is_weight_constant(type, sizes);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return "(" + sizes_text(shape) + ")";
}

Result<LoweredModel> model_of(xla::XlaComputation computation) {
  TFAOT_ASSIGN(auto shape, or_internal(computation.GetProgramShape()));
  return LoweredModel{std::move(computation), std::move(shape), {}, {}};
}

Result<xla::CompileOnlyClient*> compiler_client() {
  TFAOT_ASSIGN(auto* const platform, or_internal(xla::PlatformUtil::GetPlatform("Host")));
  return or_internal(xla::ClientLibrary::GetOrCreateCompileOnlyClient(platform));
}

std::vector<std::int64_t> row_shape(const xla::Shape& shape) {
  return {shape.dimensions().begin() + 1, shape.dimensions().end()};
}

xla::Shape one_row(const xla::Shape& shape) {
  std::vector<std::int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions.insert(dimensions.begin(), 1);
  return xla::ShapeUtil::MakeShape(shape.element_type(), dimensions);
}

Status same_output_rows(const SizedModel& model, const SizedModel& other) {
  for (std::size_t i = 0; i < model.lowered->outputs.size(); ++i) {
    const auto& a = model.lowered->outputs[i];
    const auto& b = other.lowered->outputs[i];
    if (a.row_shape == b.row_shape) continue;
    return fail(
        Error(fmt::format("output '{}': the shape of a row depends on the batch size: {} at "
                          "{}, {} at {}",
                          a.name, shape_text(a.row_shape), model.rows, shape_text(b.row_shape),
                          other.rows))
            .note("every output must have one row per event, of a fixed shape")
            .about(word_of(ProblemKind::kBatch), {a.name}));
  }
  return {};
}

Status check_output_rows(const Lowering& lowering, const LoweredModel& lowered,
                         std::int64_t batch_size, bool coupled) {
  if (lowering.has_fixed_batch()) return {};
  const auto other = lowering.lower(batch_size + 1);
  if (!other) return coupled ? Status() : fail(other.error());
  return same_output_rows({&lowered, batch_size}, {&*other, batch_size + 1});
}

}  // namespace tfaot::toolkit::engine
