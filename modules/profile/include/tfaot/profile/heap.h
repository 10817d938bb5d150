// SPDX-License-Identifier: Apache-2.0
// The heap of an engine over time, by a program that watches the allocator: valgrind's massif, or
// heaptrack. The engine runs once more below it, in a process of its own, since that is slower.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/profile/runner.h"
#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

// Error: the tool is not installed.
Status check_heap_tool(HeapTool tool);

struct HeapRequest {
  HeapTool tool = HeapTool::kMassif;
  RunnerSpec runner = {};
  // Of a package: tried in this order, since valgrind does not run every instruction. Empty: as the
  // runner's settings say.
  std::vector<std::string> cpu_levels = {};
  std::vector<std::int64_t> rows = {};
  Path folder = {};  // must exist, for scratch files
};
// Error: the engine cannot run below the tool, or the tool writes what we cannot read.
Result<ProfiledHeap> measure_heap(const FileSystem& files, const HeapRequest& request);

// The file that massif writes, with times in ms or s, or heaptrack_print. `where` names the file in
// errors. Pure.
Result<ProfiledHeap> read_massif(const std::string& text, const std::string& where);

}  // namespace tfaot::toolkit
