// SPDX-License-Identifier: Apache-2.0
// Upstream lists a model's inputs and outputs in the order of a protobuf map. Some protobufs change
// that order from run to run, and so from one batch size to the next. A package has one order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "upstream_header.h"

namespace tfaot::toolkit {

// The header of one batch size.
struct SizedHeader {
  std::int64_t batch_size = 0;
  UpstreamHeader* header = nullptr;
};

// If the headers have the same names in different orders, sorts them by name, as tfaot compile
// does, and returns a remark with the new order. Headers that agree keep their order. Headers with
// different names, or without names, stay unchanged; later checks refuse them.
std::vector<std::string> unify_orders(const std::string& model,
                                      const std::vector<SizedHeader>& headers);

}  // namespace tfaot::toolkit
