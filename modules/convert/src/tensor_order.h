// SPDX-License-Identifier: Apache-2.0
// Upstream lists a model's inputs and outputs in the order of a protobuf map, which some protobufs
// change from run to run, so from one batch size to the next. A package has one order.
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

// Where the headers have the same names in different orders, sorts them by name, as tfaot compile
// does, and returns a remark with the new order. Headers that agree keep their order; those whose
// names differ, or that have no names, are left for others to refuse.
std::vector<std::string> unify_orders(const std::string& model,
                                      const std::vector<SizedHeader>& headers);

}  // namespace tfaot::toolkit
