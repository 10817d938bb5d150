// SPDX-License-Identifier: Apache-2.0
// The one header of tfaot-tfcompile: classes with the calls of TensorFlow's tfcompile, the model's
// own class, and tfaot's headers in case they are not installed. Pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

struct TfcompileHeader {
  std::string graph;                        // the file's name, for the first line
  std::string cpp_class;                    // "mynet" or "ns::mynet"; of other sizes "mynet_bs4"
  std::int64_t batch_size = 1;              // of cpp_class
  bool fixed_shapes = false;                // the batch size is 1 and no dimension
  std::vector<std::string> arg_names = {};  // of more accessors, "arg_x_data()"; empty: none
  std::vector<std::string> result_names = {};
  std::map<std::string, std::string> runtime = {};  // "tfaot/runtime/model.h" and so on -> text
};

// REQUIRES: header.batch_size was compiled.
Result<std::string> tfcompile_header(const ModelSpec& spec, const CompiledModel& compiled,
                                     const TfcompileHeader& header);

}  // namespace tfaot::toolkit
