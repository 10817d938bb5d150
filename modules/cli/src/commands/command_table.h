// SPDX-License-Identifier: Apache-2.0
// The way from a command line to a verb of verbs.def. docs/architecture.md, "Add a verb", says what
// a verb needs.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/cli/run_program.h"

namespace tfaot::toolkit {

// `words`: without the program's own name. A wrong command line is an Error of kind kUsage.
Status run_command_line(const std::vector<std::string>& words, Program& program);

// The command line as data: what --help shows, for man pages and completion.

enum class Completion {
  kNothing,  // a flag
  kText,     // any text
  kWord,     // one of `words`
  kFile,     // a file or a folder
  kFolder,
  kPackage  // a file or a folder, or AREA/NAME[/VERSION]
};

struct OptionRecord {
  std::vector<std::string> names;  // "-c", "--aot-config"; empty for a positional
  std::string value;               // "FILE"; empty for a flag
  std::string help;                // in one line
  std::string group;               // "Options"
  Completion completion = Completion::kNothing;
  std::vector<std::string> words;
};

struct CommandRecord {
  std::string name;
  std::string summary;
  std::string usage;  // "tfaot package [OPTIONS] OUT"
  std::string group;
  std::vector<OptionRecord> options;  // options and positionals, as in --help
  std::string notes;                  // the lines after the options
  std::vector<CommandRecord> verbs;   // of the tool itself
};

// Of the tool with all verbs.
CommandRecord describe_tool();

}  // namespace tfaot::toolkit
