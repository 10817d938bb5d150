// SPDX-License-Identifier: Apache-2.0
// The files of a dump folder, which XLA writes with its flag --xla_dump_to and the engine with
// JobDump::directory, by the module that they are about. Only reads. Safe from many threads.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit {

// Paths are empty for what the folder does not hold.
struct DumpedModule {
  std::string name;             // "module_0004.cluster_0", or "tfaot" for a program of ours
  std::vector<HloFile> stages;  // in the order of the work
  Path buffers;                 // of the buffer assignment
  Path first_llvm;              // before LLVM's optimisation
  Path llvm;                    // after it
  Path object;
};

// True if a folder holds a dump, by its files' names.
bool is_dump(const FileSystem& files, const Path& folder);

// Sorted by name. Error: the folder holds no HLO.
Result<std::vector<DumpedModule>> dumped_modules(const FileSystem& files, const Path& folder);

}  // namespace tfaot::toolkit
