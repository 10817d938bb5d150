// SPDX-License-Identifier: Apache-2.0
#include "lowering/model_constants.h"

#include <fmt/format.h>

#include <algorithm>

#include "lowering/config_fault.h"
#include "lowering/conversions.h"
#include "lowering/lowering.h"
#include "tfaot/arrays/csv.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

bool fits(const ModelConstant& constant, const ConstantPlace& place) {
  if (!place.rank_known) return true;
  return std::ranges::equal(constant.shape, place.shape, [](std::int64_t given, std::int64_t size) {
    return size < 0 || given == size;
  });
}

}  // namespace

std::string constant_key(std::size_t index) { return fmt::format("model.constants[{}]", index); }

Result<std::string> constant_bytes(const ModelConstant& constant, std::size_t index,
                                   const ConstantPlace& place) {
  const std::string key = constant_key(index);
  const std::string it = fmt::format("{} '{}'", place.what, constant.name);
  const auto dtype = dtype_of(place.type);
  if (!dtype) {
    return fail(config_fault(key, fmt::format("{} has dtype {}, which no constant can have", it,
                                              type_name(place.type)))
                    .note("allowed: " + join(words_of<DType>(), ", ")));
  }
  if (!fits(constant, place)) {
    return fail(
        config_fault(key, fmt::format("{} has the shape {}, but the value has {}", it,
                                      shape_text(place.shape), shape_text(constant.shape))));
  }
  std::string bytes;
  for (const std::string& value : constant.values) {
    if (append_number(bytes, *dtype, value)) continue;
    return fail(config_fault(
        key, fmt::format("{} has dtype {}, and {} is not one", it, word_of(*dtype), value)));
  }
  return bytes;
}

Error no_place_for(const ModelConstant& constant, std::size_t index, const std::string& what,
                   const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  Error error =
      config_fault(constant_key(index), fmt::format("there is no {} '{}'", what, constant.name));
  if (const auto close = closest_match(constant.name, names)) {
    error.note(fmt::format("did you mean '{}'?", *close));
  }
  return std::move(error).note(listed(fmt::format("{}s of the model", what), names));
}

std::optional<std::string> switched_off(tensorflow::DataType type) {
  const auto dtype = dtype_of(type);
  if (!dtype || is_real(*dtype)) return std::nullopt;
  return *dtype == DType::kBool ? "false" : "0";
}

std::string advice_to_fix(const std::string& name, tensorflow::DataType type) {
  return fmt::format("give it a value in the config: model.constants: {{\"{}\": {}}}", name,
                     switched_off(type).value_or("0.5"));
}

}  // namespace tfaot::toolkit::engine
