// SPDX-License-Identifier: Apache-2.0
// A line of models/single_operations.txt -> a frozen graph with one operation, as text, and a
// config for it. A line is "NAME | INPUTS | ATTRIBUTES":
//   NAME        of the operation; what follows an @ tells models of one operation apart
//   INPUTS      f4x3 is an input of the model: a letter for the type, and the sizes of a row.
//               f? has a row of unknown size, f. is a scalar. Capital letters are constants:
//               F[2x3] has that shape, F=1 is a scalar, F{0,1} and F{{0,1}} list values.
//   ATTRIBUTES  KEY=VALUE: a letter for a type, 1, 0.5, true, 'text', [list], shape(-1,2)
// Letters: f float32, d float64, h float16, i int32, l int64, b bool, s string, c complex64.
#pragma once

#include <string>
#include <vector>

namespace tfaot::toolkit::testing {

struct SingleOperation {
  std::string name;    // "Mean@0"
  std::string graph;   // a GraphDef in protobuf's text format
  std::string config;  // for graph.pbtxt beside it
};

// Throws std::runtime_error if a line is not of that form. Empty lines and those that start with #
// are left out.
std::vector<SingleOperation> read_single_operations(const std::string& file);

}  // namespace tfaot::toolkit::testing
