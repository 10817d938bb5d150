// SPDX-License-Identifier: Apache-2.0
// tfaot-engine --read-hlo QUESTION.json: files of HLO as graphs, as lines of JSON
// (tfaot/records/hlo_graph.h). Compiles nothing. Used by one thread.
#pragma once

#include <functional>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit::engine {

// Calls `say` for each file, in order.
Status read_hlo(const FileSystem& fs, const HloQuestion& question,
                const std::function<void(const HloGraph&)>& say);

}  // namespace tfaot::toolkit::engine
