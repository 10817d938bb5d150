// SPDX-License-Identifier: Apache-2.0
#include "command_scram_hook.h"

#include <fmt/format.h>

#include <memory>

#include "tfaot/scram/scram_hook.h"

namespace tfaot::toolkit {
namespace {

struct Options {
  std::string action;
  std::string area;
  std::string program;
};

// scram keeps what it read of BuildFiles, until it is told to read them again.
constexpr const char* kReadAgain = "  next: scram b -r, which reads all BuildFiles again\n";

Status install(const HookOptions& hook, Context& context) {
  TFAOT_ASSIGN(const bool changed, install_hook(context.files, hook));
  context.console.report(fmt::format("{} {}\n{}", changed ? "installed into" : "unchanged in",
                                     hook.area.string(), changed ? kReadAgain : ""));
  return {};
}

Status remove(const HookOptions& hook, Context& context) {
  TFAOT_ASSIGN(const bool changed, remove_hook(context.files, hook));
  context.console.report(fmt::format("{} {}\n{}", changed ? "removed from" : "not installed in",
                                     hook.area.string(), changed ? kReadAgain : ""));
  return {};
}

Status status(const HookOptions& hook, Context& context) {
  TFAOT_ASSIGN(const HookStatus found, hook_status(context.files, hook));
  switch (found.state) {
    case HookState::kAbsent:
      context.console.print("not installed\n");
      return {};
    case HookState::kInstalled:
      context.console.print(fmt::format("installed, of tfaot {}\n", found.version));
      return {};
    case HookState::kOther:
      context.console.print(fmt::format(
          "installed, of tfaot {} or for another program; install it again to renew it\n",
          found.version));
      return {};
    case HookState::kDamaged:
      break;
  }
  Error error = Error::at({hook.area.string()}, "the hook is damaged");
  for (const std::string& problem : found.problems) error.note(problem);
  return fail(std::move(error.note("install it again, or remove it")));
}

Status run(const Options& options, Context& context) {
  const std::string& program =
      options.program.empty() ? context.environment.program.string() : options.program;
  const HookOptions hook{context.absolute(options.area), context.absolute(program).string()};
  if (options.action == "install") return install(hook, context);
  if (options.action == "remove") return remove(hook, context);
  return status(hook, context);
}

}  // namespace

Action add_scram_hook(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("ACTION", options->action, "install, remove or status")
      ->required()
      ->check(CLI::IsMember({"install", "remove", "status"}))
      ->option_text(" ");
  app.add_option("AREA", options->area, "top of a scram area, which has config/SCRAM")
      ->required()
      ->option_text(" ");
  app.add_option("--program", options->program, "tfaot that compiles the models [this one]")
      ->option_text("PATH");
  app.footer(
      "With the hook a BuildFile.xml may say\n"
      "  <aot_compile model=\"/data/my_model\" class=\"MyModel\" batch_sizes=\"1 2 4 8\"/>\n"
      "It adds two files and three lines to the area's config/SCRAM; 'remove' takes them away "
      "again, to the\n"
      "byte. An area of another scram than V3, or of a cmssw-config that it does not fit, is "
      "refused.\n"
      "Example:\n"
      "  tfaot scram-hook install $CMSSW_BASE");
  return [options](Context& context) { return run(*options, context); };
}

}  // namespace tfaot::toolkit
