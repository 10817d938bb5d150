// SPDX-License-Identifier: Apache-2.0
// tfaot-engine --read-hlo QUESTION.json: files of HLO as graphs, as lines of JSON
// (tfaot/records/hlo_graph.h). Compiles nothing. Used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/records/hlo_graph.h"
#include "xla/hlo/ir/hlo_module.h"

namespace tfaot::toolkit::engine {

// `contents` of a file: a proto, or text.
Result<std::unique_ptr<xla::HloModule>> parse_module(const std::string& contents, bool is_proto);

// Calls `say` for each file, in order.
Status read_hlo(const FileSystem& fs, const HloQuestion& question,
                const std::function<void(const HloGraph&)>& say);

}  // namespace tfaot::toolkit::engine
