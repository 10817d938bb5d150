// SPDX-License-Identifier: Apache-2.0
// Records of the convert room: what an area made by upstream (cms_tfaot_compile, cmsml's
// compile_tf_graph, CMSSW's compile_model.py) contains, and what was made from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit {

struct UpstreamProgram {
  std::int64_t batch_size = 0;
  Path header;  // NAME_bsN.h
  Path object;  // NAME_bsN.o
};

struct UpstreamModel {
  std::string name;
  std::vector<UpstreamProgram> programs;  // by ascending batch size
};

// An object that keeps its constants.
struct WholeObject {
  std::string object;  // "test_bs4.o"
  std::string reason;
};

// A block of constants that only one object uses: its shapes, or the way its code reads them,
// depend on the batch size.
struct LoneConstants {
  std::string object;
  std::uint64_t size = 0;
};

struct ConvertedModel {
  std::string namespace_name;
  CompiledModel compiled;
  std::vector<WholeObject> whole;
  std::vector<LoneConstants> alone;    // by object
  std::vector<std::string> remarks;    // what else the user should know
  std::uint64_t bytes_before = 0;      // of all objects
  std::uint64_t bytes_after = 0;       // of all objects and the one with the weights
  std::size_t constants = 0;           // blocks of constants taken out of objects
  std::size_t distinct_constants = 0;  // distinct ones, which are stored
};

}  // namespace tfaot::toolkit
