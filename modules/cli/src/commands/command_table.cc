// SPDX-License-Identifier: Apache-2.0
#include "commands/command_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "commands/commands.h"
#include "text/terminal.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kHelpVerb = "help";
constexpr const char* kDescription =
    "Trained models as ahead-of-time compiled, versioned, distributable packages";

constexpr const char* kRoad = R"(

From a trained model to a release area:
  tfaot compile net.onnx -o out
  tfaot validate out --model net.onnx
  tfaot package out -o dist
  tfaot install dist/tfaot-model-net-1.0.0-x86_64-linux.tar.zst --release-area area
)";

constexpr const char* kMake = "Make a package";
constexpr const char* kLook = "Inspect";
constexpr const char* kUse = "Try a package";
constexpr const char* kShip = "Ship packages";
constexpr const char* kIntegrate = "Set up and integrate";

struct Command {
  const char* group;
  std::string name;
  std::string summary;
  Action (*add)(CLI::App& app);
};

// In the order in which --help shows them.
const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {kMake, "init", "Write a commented config for a trained model", add_init},
      {kMake, "compile", "Compile a trained model into a package tree", add_compile},
      {kMake, "tune", "Measure a package, so that it runs the fastest batch sizes", add_tune},
      {kMake, "update-weights", "Put a retrained model's weights into a package, without compiling",
       add_update_weights},
      {kMake, "convert-area", "Make a package tree from what upstream compiled", add_convert_area},
      {kLook, "info", "Describe an archive, a package tree, a config file or a model", add_info},
      {kLook, "check", "Say whether a model compiles, and if not, why", add_check},
      {kLook, "inspect", "Show what compiling makes of a model, step by step", add_inspect},
      {kLook, "diff", "Say what differs between two packages", add_diff},
      {kLook, "list", "List what a release area holds", add_list},
      {kLook, "check-tool", "Check what scram will do with a tool file", add_check_tool},
      {kUse, "run", "Predict with a package, without a plugin", add_run},
      {kUse, "validate", "Compare a package's predictions with its model's", add_validate},
      {kUse, "profile", "Measure times and memory, also of other engines", add_profile},
      {kShip, "package", "Put a package tree into an archive", add_package},
      {kShip, "install", "Install archives into a release area", add_install},
      {kShip, "spec", "Write the spec file and sources of a model's RPM", add_spec},
      {kShip, "release", "Build RPMs for the models that changed", add_release},
      {kShip, "condor", "Write the HTCondor jobs that compile many models", add_condor},
      {kIntegrate, "setup", "Fetch the TensorFlow that compiling needs, once", add_setup},
      {kIntegrate, "scram-hook", "Teach a scram area <aot_compile>", add_scram_hook},
      {kIntegrate, "completion", "Print completion for a shell", add_completion},
  };
  return table;
}

std::vector<std::string> verbs() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return names;
}

Error with_guess(Error error, const std::string& word, const std::vector<std::string>& candidates) {
  const auto guess = closest_match(word, candidates);
  const bool opposite = guess && word == "un" + *guess;
  if (guess && !opposite) error.note(fmt::format("did you mean '{}'?", *guess));
  return error;
}

// For words that are verbs of other tools.
Error with_advice(Error error, const std::string& word) {
  if (word == "uninstall" || word == "remove" || word == "delete") {
    error.note(
        "no verb removes a package: to do it manually, see docs/packages.md, 'Going "
        "back, and removing'");
  }
  return error;
}

// The verb comes first, as in `tfaot compile ...`; only --help and --version stand alone.
Status check_verb(const std::vector<std::string>& arguments) {
  const std::string all = join(verbs(), ", ");
  if (arguments.empty()) {
    return fail(Error::usage("a verb is missing").note("verbs: " + all).note("see 'tfaot --help'"));
  }
  const std::string& word = arguments.front();
  const std::vector<std::string> names = verbs();
  if (word.rfind('-', 0) == 0 || std::find(names.begin(), names.end(), word) != names.end()) {
    return {};
  }
  Error error = Error::usage(fmt::format("unknown verb '{}'", shown(word)));
  return fail(with_advice(with_guess(std::move(error), word, names), word).note("verbs: " + all));
}

// `tfaot help compile` is `tfaot compile --help`.
Result<std::vector<std::string>> without_help_verb(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != kHelpVerb) return arguments;
  arguments.erase(arguments.begin());
  if (arguments == std::vector<std::string>{kHelpVerb}) arguments.clear();
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

// Every verb has --timeout. Those that start the engine with options for it have it already.
void add_time_limit(CLI::App& verb) {
  if (verb.get_option_no_throw("--timeout") != nullptr) return;
  verb.add_option_function<unsigned>(
          "--timeout", [](unsigned) {}, "for all of the work, 0: none [none]")
      ->check(kSecondsRule)
      ->option_text("SECONDS");
}

// The limits on the command line, also for what is not started by an option's request.
std::chrono::seconds take_limits(const CLI::App& verb, EngineLimits& limits) {
  constexpr std::uint64_t kBytesOfMegabyte = 1'000'000;
  const CLI::Option* const memory = verb.get_option_no_throw("--memory");
  if (memory != nullptr && memory->count() > 0) {
    limits.memory = memory->as<std::uint64_t>() * kBytesOfMegabyte;
  }
  const CLI::Option* const time = verb.get_option("--timeout");
  if (time->count() > 0) limits.time = std::chrono::seconds(time->as<unsigned>());
  return limits.time.value_or(std::chrono::seconds(0));
}

// `action` becomes the action that the parsed command line asks for.
void declare(CLI::App& app, Action& action) {
  app.set_version_flag("--version", "tfaot " TFAOT_VERSION);
  app.require_subcommand(1)->allow_extras();  // extras are for leftover_error()
  app.get_formatter()->column_width(38);
  app.footer(
      "'tfaot help VERB' describes a verb. Exit codes: 0 done, 1 the model, the config or the "
      "package\n"
      "is wrong, 2 the command line is wrong, 3 a defect of tfaot. An interrupted tfaot cleans up "
      "and\n"
      "dies of the signal, which shells show as 128 + its number.");
  for (const Command& command : commands()) {
    CLI::App* verb = app.add_subcommand(command.name, command.summary)->group(command.group);
    verb->allow_extras();
    verb->callback([&action, run = command.add(*verb)] { action = run; });
    add_time_limit(*verb);
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
  if (word.rfind('-', 0) != 0) {
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
    if (option->check_lname("additional-flags") || !std::count(values.begin(), values.end(), "")) {
      continue;
    }
    return fail(usage_error(app, option->get_name() + " is empty"));
  }
  return {};
}

}  // namespace

Status run_command_line(const std::vector<std::string>& words, Program& program) {
  TFAOT_ASSIGN(const std::vector<std::string> arguments, without_help_verb(words));
  TFAOT_TRY(check_verb(arguments));
  CLI::App app(std::string(kDescription) + kRoad, "tfaot");
  Action action;
  declare(app, action);
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
  const TimeLimit time(take_limits(verb, program.limits));
  return action(program);
}

CommandRecord describe_tool() {
  CLI::App app(kDescription, "tfaot");
  Action action;
  declare(app, action);
  return describe_command(app);
}

}  // namespace tfaot::toolkit
