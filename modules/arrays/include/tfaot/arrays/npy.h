// SPDX-License-Identifier: Apache-2.0
// numpy's .npy, versions 1 to 3, of the element types that models have. Reads what numpy.save()
// writes, in C or Fortran order; everything else is an Error, and no size is believed before it is
// checked. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tfaot/arrays/array.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// The array that the start of a file describes, without elements. `where` names the file in errors.
// Error: it is not a .npy, or a file of this size does not hold the elements.
inline constexpr std::size_t kNpyHeadBytes = (64 << 10) + 12;
Result<Array> npy_head(std::string_view start, std::uint64_t file_size, const std::string& where);

// The array has no name. Row-major, whatever the file's order.
Result<Array> npy_from_bytes(std::string_view bytes, const std::string& where);

// Version 1, C order; the same bytes as numpy.save(), with ml_dtypes for bfloat16.
std::string npy_to_bytes(const Array& array);

}  // namespace tfaot::toolkit
