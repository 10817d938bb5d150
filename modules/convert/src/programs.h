// SPDX-License-Identifier: Apache-2.0
// Turns what a header says about one batch size into our records: rows and buffer slots. Pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "upstream_header.h"

namespace tfaot::toolkit {

// What saved_model_cli and cmsml put before the names of inputs and outputs.
inline constexpr char kInputPrefix[] = "feed_";
inline constexpr char kOutputPrefix[] = "fetch_";

// "x" for "feed_x_bs4".
std::string plain_name(std::string name, std::string_view prefix, std::int64_t batch_size);

// The rows of the tensors: for batch size 4, a shape [4, 64] means rows of [64]. `where` names the
// header in errors. If the first dimension is not the batch size, as in [8, 2], the rows are flat:
// [4], as in upstream's wrapper. A number of elements that the batch size does not divide is an
// error.
Result<Signature> row_signature(const UpstreamHeader& header, std::int64_t batch_size,
                                const std::string& where);

// The entry's buffer table.
Result<std::vector<BufferSlot>> buffer_slots(const UpstreamHeader& header,
                                             const std::string& where);

}  // namespace tfaot::toolkit
