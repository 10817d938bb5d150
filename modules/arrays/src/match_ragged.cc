// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/match_ragged.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "match_parts.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

std::vector<std::int64_t> sizes_of_row(const RowOffsets& offsets, std::size_t row) {
  return mapped(offsets, [row](const std::vector<std::size_t>& starts) {
    return static_cast<std::int64_t>(starts[row + 1] - starts[row]);
  });
}

Result<std::vector<std::size_t>> offsets_of(const Array& array, const FreeDimension& dimension,
                                            const std::string& where) {
  const auto wrong = [&](const std::string& what) {
    return fail(Error::at({where}, fmt::format("the offsets '{}' {}", shown(array.name), what))
                    .note("they are rows + 1 whole numbers, from 0 on: row i has the size "
                          "offsets[i + 1] - offsets[i]"));
  };
  if (array.shape.size() != 1 || array.shape.front() < 1) {
    return wrong(fmt::format("have the shape {}", array_shape_text(array.shape)));
  }
  if (is_real(array.dtype) || array.dtype == DType::kBool) {
    return wrong(fmt::format("have the type {}", word_of(array.dtype)));
  }
  std::vector<std::size_t> offsets;
  visit_dtype(array.dtype, [&]<class T>(ElementType<T>) {
    if constexpr (std::is_integral_v<T>) {
      for (std::int64_t i = 0; i < array.shape.front(); ++i) {
        offsets.push_back(static_cast<std::size_t>(
            number_at<StoredAs<T>>(array.bytes, static_cast<std::size_t>(i))));
      }
    }
  });
  if (offsets.front() != 0) return wrong("do not begin with 0");
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    if (offsets[row + 1] < offsets[row]) return wrong(fmt::format("fall at row {}", row));
    const std::size_t size = offsets[row + 1] - offsets[row];
    if (size >= static_cast<std::size_t>(dimension.smallest) &&
        size <= static_cast<std::size_t>(dimension.largest)) {
      continue;
    }
    return wrong(fmt::format("give row {} the size {}, but the code is for {} to {}", row, size,
                             dimension.smallest, dimension.largest));
  }
  return offsets;
}

}  // namespace

bool is_ragged(const TensorSpec& tensor) {
  return !std::ranges::all_of(tensor.free_shape, is_constant);
}

bool has_offsets(const std::vector<Array>& arrays, const WantedInputs& inputs) {
  return std::ranges::any_of(inputs.dimensions, [&](const FreeDimension& dimension) {
    return contains(arrays, dimension.name, &Array::name) &&
           !contains(inputs.tensors, dimension.name, &TensorSpec::name);
  });
}

Result<ModelInputs> match_ragged_inputs(std::vector<Array> arrays, const WantedInputs& inputs,
                                        const std::string& where) {
  ModelInputs matched;
  for (const FreeDimension& dimension : inputs.dimensions) {
    const auto found = std::ranges::find(arrays, dimension.name, &Array::name);
    if (found == arrays.end()) {
      return fail(Error::at({where}, fmt::format("there are no offsets '{}', but those of another "
                                                 "free dimension",
                                                 shown(dimension.name))));
    }
    TFAOT_ASSIGN(auto offsets, offsets_of(*found, dimension, where));
    if (!matched.offsets.empty() && offsets.size() != matched.offsets.front().size()) {
      return fail(Error::at({where}, fmt::format("the offsets '{}' are of {} rows, and '{}' of {}",
                                                 shown(dimension.name), offsets.size() - 1,
                                                 shown(inputs.dimensions.front().name),
                                                 matched.offsets.front().size() - 1)));
    }
    matched.offsets.push_back(std::move(offsets));
  }
  matched.rows = static_cast<std::int64_t>(matched.offsets.front().size()) - 1;
  for (const TensorSpec& input : inputs.tensors) {
    TFAOT_ASSIGN(Array array, take_array(arrays, input, false, where));
    TFAOT_TRY(fit_dtype(array, input, where));
    const Array wanted = make_ragged_array(input, matched.offsets);
    // Rows in one dimension are always right.
    const bool is_flat =
        is_ragged(input) && array.shape.size() == 1 && array.bytes.size() == wanted.bytes.size();
    if (array.shape != wanted.shape && !is_flat) {
      return fail(Error::at(
          {where}, fmt::format("array '{}' has the shape {}, but all rows together have {}",
                               shown(array.name), array_shape_text(array.shape),
                               array_shape_text(wanted.shape))));
    }
    array.name = input.name;
    matched.arrays.push_back(std::move(array));
  }
  return matched;
}

Array make_ragged_array(const TensorSpec& tensor, const RowOffsets& offsets) {
  const std::size_t rows = offsets.front().size() - 1;
  if (!is_ragged(tensor)) return make_array(tensor, static_cast<std::int64_t>(rows));
  std::int64_t elements = 0;
  std::int64_t firsts = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<std::int64_t> sizes = sizes_of_row(offsets, row);
    std::int64_t of_row = 1;
    for (const SizeFormula& formula : tensor.free_shape) of_row *= size_at(formula, sizes);
    elements += of_row;
    firsts += size_at(tensor.free_shape.front(), sizes);
  }
  Array array{tensor.name, tensor.dtype, {elements}, {}};
  if (std::all_of(tensor.free_shape.begin() + 1, tensor.free_shape.end(), is_constant)) {
    array.shape = tensor.row_shape;
    array.shape.front() = firsts;
  }
  array.bytes.resize(static_cast<std::size_t>(elements) * size_of(tensor.dtype));
  return array;
}

}  // namespace tfaot::toolkit
