// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/read_hlo.h"

#include "engine_question.h"
#include "tfaot/records/hlo_graph_json.h"

namespace tfaot::toolkit {

Result<std::vector<HloGraph>> read_hlo(FileSystem& fs, const HloQuestion& question,
                                       const EngineProgram& engine, const Path& scratch) {
  const Path file = scratch / "question.json";
  TFAOT_TRY(fs.replace_atomically(file, hlo_question_to_json(question), Durability::kScratch));
  std::vector<HloGraph> graphs;
  TFAOT_TRY(ask_engine(fs, engine, {.option = kReadHloOption, .file = file},
                       [&](const std::string& line) {
                         auto graph = hlo_graph_from_json(line);
                         if (!graph) return false;
                         graphs.push_back(*std::move(graph));
                         return true;
                       }));
  if (graphs.size() == question.files.size()) return graphs;
  return fail(Error::at({question.files[graphs.size()].path}, "the engine did not read this HLO"));
}

}  // namespace tfaot::toolkit
