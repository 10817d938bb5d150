// SPDX-License-Identifier: Apache-2.0
// The command line as data: what --help shows, for the man pages and for shell completion. Pure,
// except that it reads the options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tfaot::toolkit {

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

// `app`: the tool with all verbs declared.
CommandRecord describe_command(CLI::App& app);

}  // namespace tfaot::toolkit
