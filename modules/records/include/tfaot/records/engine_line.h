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
  // The fields below are for errors only.
  std::vector<std::string> notes = {};
  std::string file = {};        // the file in which the error is; empty: the model
  std::string config_key = {};  // key of the config, "model.outputs[0]", if that is at fault
  int line = 0;                 // of the file
};

// Ends with a newline.
std::string engine_line_to_json(const EngineLine& line);
// Nothing if the line is not such an object: other text may be printed too.
std::optional<EngineLine> engine_line_from_json(const std::string& text);

}  // namespace tfaot::toolkit
