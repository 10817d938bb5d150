// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "text/describe.h"
#include "tfaot/scram/scram_hook.h"

namespace tfaot::toolkit {
namespace {

struct ScramHookArguments {
  std::string action;
  std::string area;
  std::string program;
  JsonOption json;
};

// scram keeps what it read from BuildFiles until it is asked to read them again.
constexpr const char* kReadAgain = "  next: scram b -r, which reads all BuildFiles again\n";

void show_change(const JsonOption& json, const HookOptions& hook, bool changed,
                 const std::string& words, Program& program) {
  json.show(program.console, {{"area", hook.area.string()}, {"changed", changed}},
            fmt::format("{} {}\n{}", words, hook.area.string(), changed ? kReadAgain : ""));
}

Status install(const JsonOption& json, const HookOptions& hook, Program& program) {
  TFAOT_ASSIGN(const bool changed, install_hook(program.files, hook));
  show_change(json, hook, changed, changed ? "installed into" : "unchanged in", program);
  return {};
}

Status remove(const JsonOption& json, const HookOptions& hook, Program& program) {
  TFAOT_ASSIGN(const bool changed, remove_hook(program.files, hook));
  show_change(json, hook, changed, changed ? "removed from" : "not installed in", program);
  return {};
}

// Of hooks that are not damaged.
std::string status_text(const HookStatus& found) {
  if (found.state == HookState::kAbsent) return "not installed\n";
  return fmt::format("installed, of tfaot {}{}\n", found.version,
                     found.state == HookState::kOther
                         ? " or for another program; install it again to update it"
                         : "");
}

Status status(const JsonOption& json, const HookOptions& hook, Program& program) {
  TFAOT_ASSIGN(const HookStatus found, hook_status(program.files, hook));
  if (json.given) {
    program.console.print(json_text({{"area", hook.area.string()},
                                     {"installed", found.state != HookState::kAbsent},
                                     {"up_to_date", found.state == HookState::kInstalled},
                                     {"version", found.version},
                                     {"problems", found.problems}}));
  } else if (found.state != HookState::kDamaged) {
    program.console.print(status_text(found));
  }
  if (found.state != HookState::kDamaged) return {};
  Error error = Error::at({hook.area.string()}, "the hook is damaged");
  for (const std::string& problem : found.problems) error.note(problem);
  return fail(std::move(error.note("install it again, or remove it")));
}

Status run(const ScramHookArguments& options, Program& program) {
  HookOptions hook{program.absolute(options.area), program.environment.program.string()};
  if (!options.program.empty()) hook.program = program.absolute(options.program).string();
  if (options.action == "install") return install(options.json, hook, program);
  if (options.action == "remove") return remove(options.json, hook, program);
  return status(options.json, hook, program);
}

}  // namespace

Action add_scram_hook(CLI::App& app) {
  auto options = std::make_shared<ScramHookArguments>();
  app.add_option("ACTION", options->action, "install, remove or status")
      ->required()
      ->check(CLI::IsMember({"install", "remove", "status"}))
      ->option_text(" ");
  app.add_option("AREA", options->area, "top of a scram area, which has config/SCRAM")
      ->required()
      ->option_text(" ");
  app.add_option("--program", options->program, "tfaot that compiles the models [this one]")
      ->option_text("PATH");
  options->json.add_to(app);
  app.footer(
      "With the hook a BuildFile.xml may say\n"
      "  <aot_compile model=\"/data/my_model\" class=\"MyModel\" batch_sizes=\"1 2 4 8\"/>\n"
      "The hook is two files and three lines in the area's config/SCRAM; 'remove' removes exactly\n"
      "these. An area with another scram than V3, or with a cmssw-config that the hook does not "
      "fit,\n"
      "is refused.\n"
      "Example:\n"
      "  tfaot scram-hook install $CMSSW_BASE");
  return [options](Program& program) { return run(*options, program); };
}

}  // namespace tfaot::toolkit
