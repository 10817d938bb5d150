// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/scram/scram_hook.h"

namespace tfaot::toolkit {
namespace {

struct ScramHookArguments {
  std::string action;
  std::string area;
  std::string program;
};

// scram keeps what it read from BuildFiles until it is asked to read them again.
constexpr const char* kReadAgain = "  next: scram b -r, which reads all BuildFiles again\n";

Status show_change(Program& program, const HookOptions& hook, bool changed,
                   const std::string& words) {
  show_done(program, {{"area", hook.area.string()}, {"changed", changed}},
            fmt::format("{} {}\n{}", words, hook.area.string(), changed ? kReadAgain : ""));
  return {};
}

Status install(const HookOptions& hook, Program& program) {
  TFAOT_ASSIGN(const bool changed, install_hook(program.files, hook));
  return show_change(program, hook, changed, changed ? "installed into" : "unchanged in");
}

Status remove(const HookOptions& hook, Program& program) {
  TFAOT_ASSIGN(const bool changed, remove_hook(program.files, hook));
  return show_change(program, hook, changed, changed ? "removed from" : "not installed in");
}

// Of hooks that are not damaged.
std::string status_text(const HookStatus& found) {
  if (found.state == HookState::kAbsent) return "not installed\n";
  return fmt::format("installed, of tfaot {}{}\n", found.version,
                     found.state == HookState::kOther
                         ? " or for another program; install it again to update it"
                         : "");
}

Status status(const HookOptions& hook, Program& program) {
  TFAOT_ASSIGN(const HookStatus found, hook_status(program.files, hook));
  if (program.json) {
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
  if (options.action == "install") return install(hook, program);
  if (options.action == "remove") return remove(hook, program);
  return status(hook, program);
}

}  // namespace

Action add_scram_hook(CLI::App& app) {
  auto options = std::make_shared<ScramHookArguments>();
  add_value(app, "ACTION", options->action, "install, remove or status")
      ->required()
      ->check(CLI::IsMember({"install", "remove", "status"}));
  add_value(app, "AREA", options->area, "top of a scram area, which has config/SCRAM")->required();
  add_value(app, "--program PATH", options->program, "tfaot that compiles the models [this one]");
  app.footer(R"(With the hook a BuildFile.xml may say
  <aot_compile model="/data/my_model" class="MyModel" batch_sizes="1 2 4 8"/>
The hook is two files and three lines in the area's config/SCRAM; 'remove' removes exactly
these. An area with another scram than V3, or with a cmssw-config that the hook does not fit,
is refused.
Example:
  tfaot scram-hook install $CMSSW_BASE)");
  return [options](Program& program) { return run(*options, program); };
}

}  // namespace tfaot::toolkit
