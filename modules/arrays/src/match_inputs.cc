// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/match_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "match_parts.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/free_tensors.h"

namespace tfaot::toolkit {
namespace {

std::string named(const Array& array) {
  return array.name.empty() ? "the array" : fmt::format("array '{}'", shown(array.name));
}

Error no_array(const TensorSpec& input, const std::vector<Array>& arrays,
               const std::string& where) {
  const auto names = mapped(arrays, [](const Array& array) { return shown(array.name); });
  Error error =
      Error::at({where}, fmt::format("there is no array '{}', which the model takes", input.name));
  if (names.empty()) return std::move(error).note("the file holds no array");
  return std::move(error).note("arrays in the file: " + join(names, ", "));
}

template <class From, class To>
void widen(Array& array) {
  std::string wider(array.bytes.size() / sizeof(From) * sizeof(To), '\0');
  for (std::size_t i = 0; i * sizeof(From) < array.bytes.size(); ++i) {
    set_number<To>(wider, i, number_at<From>(array.bytes, i));
  }
  array.bytes = std::move(wider);
}

Status check_shape(const Array& array, const TensorSpec& input, const std::string& where) {
  const bool fits =
      array.shape.size() == input.row_shape.size() + 1 &&
      std::equal(input.row_shape.begin(), input.row_shape.end(), array.shape.begin() + 1);
  if (fits) return {};
  std::string wanted = "[rows";
  for (const std::int64_t dimension : input.row_shape) wanted += fmt::format(", {}", dimension);
  return fail(Error::at({where}, fmt::format("{} has the shape {}, and the model takes {}]",
                                             named(array), array_shape_text(array.shape), wanted)));
}

std::vector<std::int64_t> row_shape_of(const Array& array) {
  if (array.shape.empty()) return {};
  return {array.shape.begin() + 1, array.shape.end()};
}

}  // namespace

Result<Array> take_array(std::vector<Array>& arrays, const TensorSpec& input, bool is_only_input,
                         const std::string& where) {
  const bool unnamed = arrays.size() == 1 && arrays.front().name.empty();
  if (unnamed && !is_only_input) {
    return fail(Error::at({where}, "a .npy holds one array, and the model has several inputs")
                    .note("write a .npz: numpy.savez(file, **{name: array, ...})"));
  }
  const auto found = std::ranges::find_if(
      arrays, [&](const Array& array) { return unnamed || array.name == input.name; });
  if (found == arrays.end()) return fail(no_array(input, arrays, where));
  Array taken = std::move(*found);
  found->name = taken.name;  // errors name all arrays
  return taken;
}

Status fit_dtype(Array& array, const TensorSpec& input, const std::string& where) {
  const DType found = std::exchange(array.dtype, input.dtype);
  if (found == input.dtype) return {};
  const bool fits = visit_dtype(found, [&]<class From>(ElementType<From>) {
    return visit_dtype(input.dtype, [&]<class To>(ElementType<To>) {
      if constexpr (kKeepsNumbers<From, To>) widen<From, To>(array);
      return kKeepsNumbers<From, To>;
    });
  });
  if (fits) return {};
  return fail(Error::at({where}, fmt::format("{} has elements of the type {}, and the model takes "
                                             "{}",
                                             named(array), word_of(found), word_of(input.dtype)))
                  .note(fmt::format("convert it: a.astype('{}')", word_of(input.dtype))));
}

Result<ModelInputs> match_inputs(std::vector<Array> arrays, const WantedInputs& inputs,
                                 const std::string& where) {
  const std::vector<TensorSpec>& tensors = inputs.tensors;
  ModelInputs matched;
  std::vector<std::vector<std::int64_t>> row_shapes;
  for (const TensorSpec& input : tensors) {
    TFAOT_ASSIGN(Array array, take_array(arrays, input, tensors.size() == 1, where));
    TFAOT_TRY(fit_dtype(array, input, where));
    row_shapes.push_back(row_shape_of(array));
    matched.arrays.push_back(std::move(array));
  }
  if (!inputs.dimensions.empty()) {
    auto sizes = sizes_of_shapes(tensors, row_shapes, inputs.dimensions);
    if (!sizes) return fail(Error(sizes.error()).moved_to({where}));
    matched.sizes = *std::move(sizes);
  }
  const std::vector<TensorSpec> exact =
      inputs.dimensions.empty() ? tensors : tensors_at(tensors, matched.sizes);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    Array& array = matched.arrays[i];
    TFAOT_TRY(check_shape(array, exact[i], where));
    const std::int64_t rows = array.shape.front();
    if (i > 0 && rows != matched.rows) {
      return fail(
          Error::at({where}, fmt::format("{} has {} rows, and array '{}' has {}", named(array),
                                         rows, tensors.front().name, matched.rows)));
    }
    matched.rows = rows;
    array.name = exact[i].name;
  }
  return matched;
}

}  // namespace tfaot::toolkit
