// SPDX-License-Identifier: Apache-2.0
// What the engine says while it works: lines on its standard output, one JSON object each.
//   {"progress": "batch size 4, x86-64-v3"}
//   {"note": "the code is not cached: ..."}
//   {"warning": "output 'y' may mix ..."}
//   {"error": "...", "notes": ["..."], "file": "", "key": "model.outputs[0]", "line": 0}
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tfaot/records/words.h"

namespace tfaot::toolkit {

enum class EngineWord {
  kProgress,  // after each object
  kNote,      // anything else, for -v
  kWarning,   // what the user should know
  kError,     // before it exits with 1: the model is at fault
};
template <>
inline constexpr auto kWords<EngineWord> = std::to_array<Word<EngineWord>>({
    {EngineWord::kProgress, "progress"},
    {EngineWord::kNote, "note"},
    {EngineWord::kWarning, "warning"},
    {EngineWord::kError, "error"},
});

struct EngineLine {
  EngineWord word = EngineWord::kNote;
  std::string text;
  // The rest is an error's.
  std::vector<std::string> notes = {};
  std::string file = {};        // that it is about; empty: the model
  std::string config_key = {};  // of the config, "model.outputs[0]", when that is at fault
  int line = 0;                 // of the file
};

// With a line end.
std::string engine_line_to_json(const EngineLine& line);
// Nothing when the line is no such object: anything else may be printed, too.
std::optional<EngineLine> engine_line_from_json(const std::string& text);

}  // namespace tfaot::toolkit
