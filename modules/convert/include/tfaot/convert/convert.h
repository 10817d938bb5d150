// SPDX-License-Identifier: Apache-2.0
// An area made by upstream -> the record that generate takes, and objects that share their weights.
// Nothing is compiled. The code stays the same to the byte and keeps its entry's name, so
// upstream's own headers still work with the new objects. Reads and writes only through the given
// FileSystem; no other state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit {

// Records of the convert room: what an area made by upstream (cms_tfaot_compile, cmsml's
// compile_tf_graph, CMSSW's compile_model.py) contains, and what was made from it.

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

// Every model with a header NAME_bsN.h and an object NAME_bsN.o anywhere below `area`, by name. A
// header without an object, or an object without a header, is an error.
Result<std::vector<UpstreamModel>> find_upstream_models(const FileSystem& files, const Path& area);

struct ConvertOptions {
  Path work_directory;         // objects are written there
  std::string cpu_level = "";  // what they were compiled for; empty: any CPU of their machine
  bool share_weights = true;   // false: every object stays whole
};

// Writes NAME_bsN.o for every batch size. If constants could be taken out of them, also writes
// NAME_weights.o.
Result<ConvertedModel> convert_model(FileSystem& files, const UpstreamModel& model,
                                     const ConvertOptions& options);

}  // namespace tfaot::toolkit
