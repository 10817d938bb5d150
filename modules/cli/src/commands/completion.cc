// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "commands/command_table.h"
#include "commands/commands.h"
#include "text/manual_page.h"
#include "text/shell_completion.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {
namespace {

struct CompletionArguments {
  std::string shell;
  std::string folder;               // hidden
  std::optional<std::string> word;  // hidden: what the scripts ask
};

// Writes below a folder such as PREFIX/share, where shells and man look for the files.
Status write_help(FileSystem& files, const Path& share) {
  const CommandRecord tool = describe_tool();
  std::vector<std::pair<std::string, std::string>> texts = {
      {"bash-completion/completions/tfaot", bash_completion(tool)},
      {"zsh/vendor-completions/_tfaot", zsh_completion(tool)},
      {"fish/vendor_completions.d/tfaot.fish", fish_completion(tool)},
      {"man/man1/tfaot.1", manual_page(tool)}};
  for (const CommandRecord& verb : tool.verbs) {
    texts.emplace_back("man/man1/tfaot-" + verb.name + ".1", manual_page(tool, verb));
  }
  for (const auto& [path, text] : texts) {
    TFAOT_ASSIGN(const Path place, place_for_named_file(files, share / path));
    TFAOT_TRY(files.replace_atomically(place, text));
  }
  return {};
}

Status complete(const CompletionArguments& options, Program& program) {
  if (!options.folder.empty()) return write_help(program.files, program.absolute(options.folder));
  if (options.word) {
    for (const std::string& name : complete_package(program, *options.word)) {
      program.console.print(name + "\n");
    }
    return {};
  }
  if (options.shell.empty()) {
    return fail(Error::usage("completion: SHELL is required")
                    .note("bash, zsh or fish; see 'tfaot completion --help'"));
  }
  const CommandRecord tool = describe_tool();
  program.console.print(options.shell == "bash"  ? bash_completion(tool)
                        : options.shell == "zsh" ? zsh_completion(tool)
                                                 : fish_completion(tool));
  return {};
}

}  // namespace

Action add_completion(CLI::App& app) {
  auto options = std::make_shared<CompletionArguments>();
  auto* shell = app.add_option("SHELL", options->shell, "bash, zsh or fish")
                    ->check(CLI::IsMember({"bash", "zsh", "fish"}))
                    ->option_text(" ");
  auto* folder = app.add_option("--write-all", options->folder)->group("");
  auto* word = app.add_option("--packages", options->word)->group("");
  shell->excludes(folder)->excludes(word);
  app.footer(
      "Prints a script with which the shell completes tfaot's verbs, options and their values.\n"
      "Installed packages contain it; you need it for a tfaot that you unpacked or built "
      "yourself.\n"
      "Examples:\n"
      "  source <(tfaot completion bash)            # in ~/.bashrc; zsh: the same, in ~/.zshrc\n"
      "  tfaot completion fish > ~/.config/fish/completions/tfaot.fish");
  return [options](Program& program) { return complete(*options, program); };
}

}  // namespace tfaot::toolkit
