// SPDX-License-Identifier: Apache-2.0
// Options that several verbs share. Each add_...() declares one. The value must live until parsing
// is done; it stays unchanged if the option is not given.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/cli/console.h"
#include "tfaot/records/words.h"
#include "tfaot/workflow/build_package.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

// "--output FILE": an option and what its value is; "PATH": a positional; "(required)" at the end
// makes it required.
struct OptionName {
  std::string name;
  std::string text;
  bool is_required = false;
};
OptionName option_name(const std::string& spelling);

template <class Value>
CLI::Option* add_value(CLI::App& app, const std::string& spelling, Value& value,
                       const std::string& help) {
  const OptionName option = option_name(spelling);
  return app.add_option(option.name, value, help)
      ->required(option.is_required)
      ->option_text(option.text);
}
// Values with commas between them.
template <class Value>
CLI::Option* add_list(CLI::App& app, const std::string& spelling, Value& value,
                      const std::string& help) {
  return add_value(app, spelling, value, help)->delimiter(',')->allow_extra_args(false);
}
// One value each time that it is given.
template <class Value>
CLI::Option* add_repeated(CLI::App& app, const std::string& spelling, Value& value,
                          const std::string& help) {
  return add_value(app, spelling, value, help)->expected(1)->take_all();
}

// A flag that is asked for by its name, see CLI::App::count().
CLI::Option* add_flag(CLI::App& app, const std::string& name, const std::string& help);

// The options that `add` declares have this heading in the help.
template <class Add>
void in_group(CLI::App& app, const std::string& heading, Add add) {
  const std::string usual = app.option_defaults()->get_group();
  app.option_defaults()->group(heading);
  add();
  app.option_defaults()->group(usual);
}

// --timeout and --memory, for the verbs that start an engine, also within other programs;
// command_table.cc reads them.
void add_engine_limits(CLI::App& app);

// --timeout, --memory, --engine and --launcher, for the verbs that start the engine.
void add_engine_program(CLI::App& app, EngineRun& run);
// The same and --jobs, for those that start several at the same time.
void add_engine_options(CLI::App& app, EngineRun& run);

// --jobs: `help` says what they are.
void add_jobs(CLI::App& app, unsigned& jobs, const std::string& help);

// --dimension, for the verbs that compile: of dimensions that a model leaves open.
void add_dimensions(CLI::App& app, std::vector<std::string>& dimensions,
                    const std::string& help =
                        "size of a dimension that the model leaves open, by its\nname, or by "
                        "input and axis (x:1); or a range, as in\nn=1..128: each call "
                        "chooses; may be repeated");

// --rows, --batch and --opset, for the verbs that compile.
void add_model_modes(CLI::App& app, ConfigOverrides& overrides);

// --allow-large, for the verbs that unpack an archive.
void add_allow_large(CLI::App& app, bool& allow_large);

// The help of a positional that takes a package (workflow/named_paths.h).
inline constexpr const char* kPackageHelp =
    "a package tree, an archive, or AREA/NAME[/VERSION] of an\ninstalled model";

// --scram-arch, for the verbs whose result has a scram toolbox. `help` says what happens without
// it.
void add_scram_arch(CLI::App& app, std::string& scram_arch, const std::string& help);

// --version: a model's version, by the rule of the config. `help` says what the default is.
void add_version(CLI::App& app, std::string& version, const std::string& help);

// An option that takes one of an enum's words. `value` is the enum, or an optional one.
template <HasWords Enum, class Value>
CLI::Option* add_word_option(CLI::App& app, const std::string& name, Value& value,
                             const std::string& help) {
  const auto store = [&value](const std::string& word) {
    if (const auto parsed = parse_word<Enum>(word)) value = *parsed;
  };
  return app.add_option_function<std::string>(name, store, help)
      ->check(CLI::IsMember(words_of<Enum>()))
      ->option_text(join(words_of<Enum>(), "|"));
}

// A rule for an option: a whole number, in decimal digits. CLI11 would say of "1.5" that it is not
// in the range.
struct WholeNumber {
  std::string_view of;  // "seconds"; may be empty
  std::uint64_t least = 0;
  std::uint64_t most = 0;

  std::string operator()(const std::string& text) const;  // what is wrong; empty: nothing
};
inline constexpr WholeNumber kSecondsRule = {"seconds", 0, 1'000'000};

// Paths that options stored as the user wrote them become absolute; empty ones stay empty.
void make_absolute(const Context& context, std::initializer_list<Path*> paths);

// Usage error, naming the option, if `path` or a path above it exists and is not a folder.
Status check_output_folder(const FileSystem& files, const std::string& option, const Path& path);
// The same for a file that is to be written, outside of package trees; empty: none.
Status check_output_file(const FileSystem& files, const std::string& option, const Path& file);

}  // namespace tfaot::toolkit
