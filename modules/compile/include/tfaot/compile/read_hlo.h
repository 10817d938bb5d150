// SPDX-License-Identifier: Apache-2.0
// Reads programs of XLA (HLO) as graphs with costs. The engine does the work, because the parser is
// XLA's. Safe from many threads.
#pragma once

#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit {

// A graph for each file of the question. `scratch`: a folder for the question's file. Error: a file
// is not HLO.
Result<std::vector<HloGraph>> read_hlo(FileSystem& fs, const HloQuestion& question,
                                       const EngineProgram& engine, const Path& scratch);

}  // namespace tfaot::toolkit
