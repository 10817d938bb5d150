// SPDX-License-Identifier: Apache-2.0
#include "stablehlo/jax_export.h"

#include <algorithm>

#include "stablehlo/flat_buffer.h"
#include "tfaot/base/limits.h"

namespace tfaot::toolkit::engine {
namespace {

// Fields of JAX's schema, the same since its first version (2023); later ones were added behind.
// Exported:
constexpr int kInputShapes = 3;
constexpr int kPlatforms = 9;
constexpr int kModule = 13;
constexpr int kKeptInputs = 15;    // numbers of 2 bytes: inputs that are arguments of the module
constexpr int kUniqueShapes = 19;  // since 2026
constexpr int kInputShapeIndices = 22;
// AbstractValue:
constexpr int kSizes = 1;

constexpr std::size_t kMostPlatforms = 64;

// The longest name of a size or a platform.
constexpr std::size_t kLongestText = 1000;

// Nothing if a text is longer, or there are more.
std::optional<std::vector<std::string_view>> short_texts(const FlatTable& table, int field,
                                                         std::size_t most) {
  auto texts = table.texts(field);
  if (!texts) return std::vector<std::string_view>();  // sizes of a scalar
  const bool is_long = texts->size() > most || std::ranges::any_of(*texts, [](auto text) {
                         return text.size() > kLongestText;
                       });
  if (is_long) return std::nullopt;
  return texts;
}

// Each shape, or each different one and for each input which of them it has.
std::optional<std::vector<FlatTable>> input_shapes(const FlatTable& exported) {
  auto shapes = exported.tables(kInputShapes);
  if (shapes && !shapes->empty()) return shapes;
  const auto unique = exported.tables(kUniqueShapes);
  const auto indices = exported.numbers(kInputShapeIndices, 4);
  if (!unique || !indices) return shapes;
  std::vector<FlatTable> found;
  for (const std::uint32_t index : *indices) {
    if (index >= unique->size()) return std::nullopt;
    found.push_back((*unique)[index]);
  }
  return found;
}

}  // namespace

std::optional<JaxExport> read_jax_export(std::string_view bytes) {
  const auto exported = FlatTable::root(bytes);
  if (!exported) return std::nullopt;
  const auto module = exported->text(kModule);
  auto platforms = short_texts(*exported, kPlatforms, kMostPlatforms);
  if (!module || module->empty() || !platforms) return std::nullopt;
  JaxExport read{*module, std::move(*platforms), {}};
  const auto shapes = input_shapes(*exported);
  if (!shapes) return std::nullopt;
  const auto kept = exported->numbers(kKeptInputs, 2);
  if (!kept) return read;  // no arguments
  if (kept->size() > kMostTensors) return std::nullopt;
  for (const std::uint32_t input : *kept) {
    if (input >= shapes->size()) return std::nullopt;
    auto sizes = short_texts((*shapes)[input], kSizes, kMostDimensions);
    if (!sizes) return std::nullopt;
    read.shapes.push_back(std::move(*sizes));
  }
  return read;
}

}  // namespace tfaot::toolkit::engine
