// SPDX-License-Identifier: Apache-2.0
#include "commands/command_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "text/terminal.h"
#include "tfaot/base/memory_budget.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kHelpVerb = "help";
constexpr const char* kHelpAll = "--help-all";
constexpr const char* kNoJsonVerb = "completion";  // what it prints is for a shell
constexpr const char* kDescription =
    "Trained models as ahead-of-time compiled, versioned, distributable packages";

constexpr const char* kRoad = R"(

From a trained model to a release area:
  tfaot report net.onnx
  tfaot compile net.onnx -o out
  tfaot package out -o dist
  tfaot install dist/tfaot-model-net-1.0.0-x86_64-linux.tar.zst --release-area area
)";

constexpr const char* kMake = "Make a package";
constexpr const char* kLook = "Look at models and packages";
constexpr const char* kShip = "Ship packages";
constexpr const char* kIntegrate = "Set up and integrate";
constexpr const char* kMostPeopleNeed = "The verbs that most people need";

enum class Need { kFirst, kLater };
enum class VerbList { kFirst, kAll };  // of verbs in the help

struct Command {
  const char* group;
  Need need;
  std::string name;
  std::string summary;
  Action (*add)(CLI::App& app);
};

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
#define TFAOT_VERB(group, need, name, summary) \
  {group, Need::need, replace_all(#name, "_", "-"), summary, add_##name},
#include "commands/verbs.def"
#undef TFAOT_VERB
  };
  return table;
}

std::vector<std::string> verbs() { return mapped(commands(), &Command::name); }

Error with_guess(Error error, const std::string& word, const std::vector<std::string>& candidates) {
  const auto guess = closest_match(word, candidates);
  const bool opposite = guess && word == "un" + *guess;
  if (guess && !opposite) error.note(fmt::format("did you mean '{}'?", *guess));
  return error;
}

// For words that are verbs of other tools.
Error with_advice(Error error, const std::string& word) {
  if (word == "uninstall" || word == "delete") {
    error.note("'tfaot remove' takes a model, or a version of it, out of a release area");
  }
  return error;
}

// The verb comes first, as in `tfaot compile ...`; only --help and --version stand alone.
Status check_verb(const std::vector<std::string>& arguments) {
  const std::vector<std::string> names = verbs();
  const auto all = [&names] { return "verbs: " + join(names, ", "); };
  if (arguments.empty()) {
    return fail(Error::usage("a verb is missing").note(all()).note("see 'tfaot --help'"));
  }
  const std::string& word = arguments.front();
  if (word.starts_with('-') || contains(names, word)) return {};
  Error error = Error::usage(fmt::format("unknown verb '{}'", shown(word)));
  return fail(with_advice(with_guess(std::move(error), word, names), word).note(all()));
}

// `tfaot help compile` is `tfaot compile --help`, and `tfaot help --all` is `tfaot --help-all`.
Result<std::vector<std::string>> without_help_verb(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != kHelpVerb) return arguments;
  arguments.erase(arguments.begin());
  if (arguments == std::vector<std::string>{kHelpVerb}) arguments.clear();
  if (arguments == std::vector<std::string>{"--all"}) return std::vector<std::string>{kHelpAll};
  if (arguments.size() > 1) {
    return fail(Error::usage(fmt::format("help: unexpected argument '{}'", arguments[1]))
                    .note("see 'tfaot --help'"));
  }
  arguments.emplace_back("--help");
  return arguments;
}

std::size_t columns_of(const Environment& environment) {
  return terminal_columns(STDOUT_FILENO, environment.variable("COLUMNS")).value_or(kUsualColumns);
}

// CLI11 takes the largest number instead.
void refuse_too_large_numbers(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options()) {
    const std::string type = option->get_type_name();
    const bool is_unsigned = type.starts_with("UINT");
    if (!is_unsigned && !type.starts_with("INT")) continue;
    option->check([is_unsigned](const std::string& text) {
      errno = 0;
      if (is_unsigned) {
        static_cast<void>(std::strtoull(text.c_str(), nullptr, 0));
      } else {
        static_cast<void>(std::strtoll(text.c_str(), nullptr, 0));
      }
      return errno == ERANGE ? fmt::format("'{}' is beyond the numbers of 64 bits", text) : "";
    });
  }
}

// What every verb has, unless it declared an option of this name itself.
void add_common_options(CLI::App& verb) {
  const auto is_new = [&verb](const char* name) {
    return verb.get_option_no_throw(name) == nullptr;
  };
  if (is_new("--json") && verb.get_name() != kNoJsonVerb) {
    add_flag(verb, "--json", "print JSON instead of text");
  }
  CLI::Option* const quiet = add_flag(verb, "-q,--quiet", "print only warnings and errors");
  CLI::Option* const details = add_flag(verb, "-v,--verbose", "print more details");
  details->excludes(quiet);
  for (CLI::Option* const flag : {quiet, details}) flag->option_text(" ");
  if (!is_new("--timeout")) return;
  verb.add_option_function<unsigned>(
          "--timeout", [](unsigned) {}, "for all of the work, 0: none [none]")
      ->check(kSecondsRule)
      ->option_text("SECONDS");
}

bool is_given(const CLI::App& verb, const std::string& name) {
  const CLI::Option* const option = verb.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

// The limits on the command line, also for what is not started by an option's request.
std::chrono::seconds take_limits(const CLI::App& verb, EngineLimits& limits) {
  if (is_given(verb, "--memory")) {
    limits.memory = verb["--memory"]->as<std::uint64_t>() * kMegabyte;
  }
  if (is_given(verb, "--timeout")) {
    limits.time = std::chrono::seconds(verb["--timeout"]->as<unsigned>());
  }
  return limits.time.value_or(std::chrono::seconds(0));
}

// `action` becomes the action that the parsed command line asks for.
void declare(CLI::App& app, Action& action, VerbList list) {
  app.set_version_flag("--version", "tfaot " TFAOT_VERSION);
  app.require_subcommand(1)->allow_extras();  // extras are for leftover_error()
  app.get_formatter()->column_width(38);
  add_flag(app, kHelpAll, "Print this help message with all verbs, by group, and exit");
  const bool lists_all = list == VerbList::kAll;
  app.footer(fmt::format(
      R"({}'tfaot help VERB' describes a verb. Exit codes: 0 done, 1 the model, the config or the package
is wrong, 2 the command line is wrong, 3 a defect of tfaot. An interrupted tfaot cleans up and
dies of the signal, which shells show as 128 + its number.)",
      lists_all ? "" : "'tfaot help --all' lists all verbs.\n"));
  for (const Command& command : commands()) {
    const char* const first = command.need == Need::kFirst ? kMostPeopleNeed : "";
    CLI::App* verb =
        app.add_subcommand(command.name, command.summary)->group(lists_all ? command.group : first);
    verb->allow_extras();
    verb->callback([&action, run = command.add(*verb)] { action = run; });
    add_common_options(*verb);
    refuse_too_large_numbers(*verb);
  }
}

// "compile: " for a verb, nothing for the tool itself.
std::string prefix(const CLI::App& app) {
  return app.get_parent() == nullptr ? "" : app.get_name() + ": ";
}

// Words that no option took: CLI11's own message would only be "not expected".
std::optional<Error> leftover_error(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return std::nullopt;
  const std::string word = words.front().substr(0, words.front().find('='));
  if (!word.starts_with('-')) {
    return Error::usage(fmt::format("{}unexpected argument '{}'", prefix(app), word));
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return with_guess(Error::usage(fmt::format("{}unknown option '{}'", prefix(app), word)), word,
                    names);
}

Error usage_error(const CLI::App& app, const std::string& message) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& asked = chosen.empty() ? app : *chosen.front();
  return leftover_error(asked)
      .value_or(Error::usage(prefix(asked) + message))
      .note(fmt::format("see 'tfaot {}--help'", chosen.empty() ? "" : asked.get_name() + " "));
}

// CLI11's own messages would be "--x: 1 required TEXT missing" and "--x: At Most 1 required but
// received 2".
Error mismatch_error(const CLI::App& app, const std::string& message) {
  const std::string option = message.substr(0, message.find(':'));
  return usage_error(app, option + (message.ends_with(" missing") ? " needs a value"
                                                                  : " is given more than once"));
}

// For example from a shell variable that is not set. Upstream's scripts pass empty additional
// flags.
Status check_empty_values(const CLI::App& app, const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const auto& values = option->results();
    if (option->check_lname("additional-flags") || !contains(values, "")) continue;
    return fail(usage_error(app, option->get_name() + " is empty"));
  }
  return {};
}

// The command line as data.

// Derived from the value's name in --help.
Completion completion_of(const std::string& value, bool is_positional) {
  constexpr std::string_view kFiles = "FILE PATH ARCHIVE CONFIG PACKAGE PROGRAM MODEL";
  constexpr std::string_view kPackages = "PACKAGE PATH OUT OTHER A B";
  constexpr std::string_view kFolders = "DIR AREA BASE OUT";
  if (is_positional && is_one_of(kPackages, value)) return Completion::kPackage;
  if (is_one_of(kFiles, value)) return Completion::kFile;
  return is_one_of(kFolders, value) ? Completion::kFolder : Completion::kText;
}

// The words of CLI::IsMember, which describes itself as "{shared,embedded}".
std::vector<std::string> allowed_words(CLI::Option& option) {
  try {
    const std::string set = option.get_validator(0)->get_description();
    if (!set.starts_with('{') || !set.ends_with('}')) return {};
    return split_lines(replace_all(set.substr(1, set.size() - 2), ",", "\n"));
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

OptionRecord describe_option(CLI::Option& option) {
  OptionRecord record;
  for (const std::string& name : option.get_snames()) record.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) record.names.push_back("--" + name);
  const std::string text = option.get_option_text();
  if (record.names.empty()) {
    record.value = option.get_name();
  } else if (option.get_items_expected_max() > 0) {
    record.value = text.substr(0, text.find(' '));
  }
  record.help = replace_all(option.get_description(), "\n", " ");
  if (text.ends_with("(required)")) record.help += " (required)";
  record.group = record.names.empty() ? "Positionals" : option.get_group();
  if (record.value.empty()) return record;
  record.words = allowed_words(option);
  record.completion =
      record.words.empty() ? completion_of(record.value, record.names.empty()) : Completion::kWord;
  return record;
}

std::string usage_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  const std::string name =
      parent == nullptr ? app.get_name() : parent->get_name() + " " + app.get_name();
  std::string usage = replace_all(CLI::Formatter().make_usage(&app, name), "\n", "");
  constexpr std::string_view kTitle = "Usage: ";
  if (usage.starts_with(kTitle)) usage.erase(0, kTitle.size());
  return usage;
}

CommandRecord describe_command(CLI::App& app) {
  CommandRecord record;
  record.name = app.get_name();
  record.summary = app.get_description();
  record.usage = usage_of(app);
  record.group = app.get_group();
  record.notes = app.get_footer();
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) record.options.push_back(describe_option(*option));
  }
  for (CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) record.verbs.push_back(describe_command(*verb));
  }
  return record;
}

}  // namespace

Status run_command_line(const std::vector<std::string>& words, Program& program) {
  TFAOT_ASSIGN(std::vector<std::string> arguments, without_help_verb(words));
  const bool asks_all = arguments == std::vector<std::string>{kHelpAll};
  if (asks_all) arguments = {"--help"};
  TFAOT_TRY(check_verb(arguments));
  CLI::App app(std::string(kDescription) + kRoad, "tfaot");
  Action action;
  declare(app, action, asks_all ? VerbList::kAll : VerbList::kFirst);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    const std::string help = replace_all(app.help(), "\n\n\n", "\n\n");
    program.console.print(fitted_help(help, columns_of(program.environment)));
    return {};
  } catch (const CLI::CallForVersion& version) {
    program.console.print(std::string(version.what()) + "\n");
    return {};
  } catch (const CLI::ArgumentMismatch& error) {
    return fail(mismatch_error(app, error.what()));
  } catch (const CLI::ParseError& error) {
    return fail(usage_error(app, error.what()));
  }
  const CLI::App& verb = *app.get_subcommands().front();
  if (!verb.remaining().empty()) return fail(usage_error(app, ""));
  TFAOT_TRY(check_empty_values(app, verb));
  program.json = is_given(verb, "--json");
  program.console.set_verbosity(is_given(verb, "--quiet")     ? Verbosity::kQuiet
                                : is_given(verb, "--verbose") ? Verbosity::kVerbose
                                                              : Verbosity::kNormal);
  const TimeLimit time(take_limits(verb, program.limits));
  return action(program);
}

CommandRecord describe_tool() {
  CLI::App app(kDescription, "tfaot");
  Action action;
  declare(app, action, VerbList::kAll);
  return describe_command(app);
}

}  // namespace tfaot::toolkit
