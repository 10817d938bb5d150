// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/command_table.h"
#include "commands/commands.h"
#include "help_templates.h"
#include "options/shared_options.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {
namespace {

// Man pages made from the help texts, in roff's language.

// A '-' would become a hyphen that cannot be pasted, and a line that begins with '.' or ''' would
// be a command.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const std::string& line : split_lines(text)) {
    if (!escaped.empty()) escaped += '\n';
    if (line.starts_with('.') || line.starts_with('\'')) escaped += "\\&";
    escaped += replace_all(replace_all(line, "\\", "\\e"), "-", "\\-");
  }
  return escaped;
}

// The entries below each heading; headings are in the order of their first entries.
class Groups {
 public:
  void add(const std::string& heading, const std::string& term, const std::string& text) {
    if (groups_.empty() || groups_.back().first != heading) {
      groups_.emplace_back(heading, TemplateData::type::list);
    }
    groups_.back().second << TemplateObject{{"term", roff(term)}, {"text", roff(text)}};
  }
  TemplateData data() const {
    return list_data(groups_, [](const auto& group) {
      return TemplateObject{{"heading", upper_case(roff(group.first))}, {"entries", group.second}};
    });
  }

 private:
  std::vector<std::pair<std::string, TemplateData>> groups_;
};

std::string page(const std::string& name, const CommandRecord& command, const Groups& groups,
                 const std::string& see_also) {
  const TemplateObject data = {{"version", TFAOT_VERSION},     {"title", upper_case(name)},
                               {"page", roff(name)},           {"summary", roff(command.summary)},
                               {"usage", roff(command.usage)}, {"groups", groups.data()},
                               {"notes", roff(command.notes)}, {"see_also", see_also}};
  return render(templates::kManualPage, data, Escaping::kNone);
}

void add_options(Groups& groups, const CommandRecord& command) {
  for (const OptionRecord& option : command.options) {
    std::string term = join(option.names, ", ");
    if (!term.empty() && !option.value.empty()) term += " ";
    groups.add(option.group, term + option.value, option.help);
  }
}

// tfaot.1
std::string manual_page(const CommandRecord& tool) {
  Groups groups;
  std::vector<std::string> pages;
  add_options(groups, tool);
  for (const CommandRecord& verb : tool.verbs) {
    groups.add(verb.group, verb.name, verb.summary);
    pages.push_back(fmt::format(".BR {}\\-{} (1)", tool.name, roff(verb.name)));
  }
  return page(tool.name, tool, groups, join(pages, ",\n"));
}

// tfaot-VERB.1
std::string manual_page(const CommandRecord& tool, const CommandRecord& verb) {
  Groups groups;
  add_options(groups, verb);
  return page(tool.name + "-" + verb.name, verb, groups, fmt::format(".BR {} (1)", tool.name));
}

// Completion scripts with the verbs, options, words and files of tfaot's command line.

// Escapes a text between two ' for bash and zsh.
std::string in_quotes(const std::string& text) { return replace_all(text, "'", R"('\'')"); }

// " --a --b" for a command.
std::string option_names(const CommandRecord& command) {
  std::string names;
  for (const OptionRecord& option : command.options) {
    for (const std::string& name : option.names) names += " " + name;
  }
  return names;
}

std::string bash_kind(Completion completion) {
  if (completion == Completion::kFile) return "file";
  if (completion == Completion::kPackage) return "package";
  return completion == Completion::kFolder ? "folder" : "word";
}

TemplateObject bash_verb(const CommandRecord& verb) {
  TemplateData values{TemplateData::type::list};
  std::string positional_words;
  std::string positional_kind = "word";
  for (const OptionRecord& option : verb.options) {
    const std::string words = join(option.words, " ");
    if (!option.names.empty()) {
      if (option.completion == Completion::kNothing) continue;
      values << TemplateObject{{"pattern", join(option.names, " | ")},
                               {"kind", bash_kind(option.completion)},
                               {"words", words}};
    } else if (option.completion == Completion::kWord) {
      positional_words += " " + words;
    } else {
      positional_kind = bash_kind(option.completion);
    }
  }
  return {{"name", verb.name},
          {"option_names", option_names(verb).substr(1)},
          {"positional_words", positional_words},
          {"positional_kind", positional_kind},
          {"values", values}};
}

// In the specs of _arguments, "[" and "]" delimit a description, and ":" separates parts.
std::string zsh_quoted(const std::string& text) {
  std::string quoted;
  for (const char c : in_quotes(text)) {
    if (c == '[' || c == ']' || c == ':') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

// ":FILE:_files": the values that may follow.
std::string zsh_value(const OptionRecord& option) {
  std::string values = " ";  // offers nothing
  if (option.completion == Completion::kWord) values = "(" + join(option.words, " ") + ")";
  if (option.completion == Completion::kFile) values = "_files";
  if (option.completion == Completion::kFolder) values = "_files -/";
  if (option.completion == Completion::kPackage) values = "_tfaot_packages";
  return fmt::format(":{}:{}", zsh_quoted(option.value), values);
}

std::vector<std::string> zsh_options(const CommandRecord& command) {
  std::vector<std::string> specs;
  std::size_t position = 0;
  for (const OptionRecord& option : command.options) {
    if (option.names.empty()) {
      // The last positional takes all further words.
      const std::string place =
          option.completion == Completion::kWord ? std::to_string(++position) : std::string("*");
      specs.push_back(fmt::format("'{}{}'", place, zsh_value(option)));
      continue;
    }
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      const bool takes_value = option.completion != Completion::kNothing;
      const char* const joint = !takes_value ? "" : is_long ? "=" : "+";
      specs.push_back(fmt::format("'{}{}[{}]{}'", name, joint, zsh_quoted(option.help),
                                  takes_value ? zsh_value(option) : ""));
    }
  }
  return specs;
}

// Escapes a text between two ' for fish.
std::string fish_quoted(const std::string& text) {
  return replace_all(replace_all(text, "\\", "\\\\"), "'", "\\'");
}

std::string fish_value(const OptionRecord& option) {
  switch (option.completion) {
    case Completion::kNothing:
      return "";
    case Completion::kText:
      return option.names.empty() ? "" : " -x";
    case Completion::kWord:
      return fmt::format("{} -a '{}'", option.names.empty() ? "" : " -x", join(option.words, " "));
    case Completion::kFile:
      return option.names.empty() ? " -F" : " -r -F";
    case Completion::kFolder:
      return fmt::format("{} -a '(__fish_complete_directories)'",
                         option.names.empty() ? "" : " -x");
    case Completion::kPackage:
      return " -F -a '(__tfaot_packages)'";
  }
  return "";
}

std::vector<std::string> fish_options(const CommandRecord& command) {
  std::vector<std::string> specs;
  for (const OptionRecord& option : command.options) {
    std::string spec;
    for (const std::string& name : option.names) {
      spec += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    spec += fish_value(option);
    if (spec.empty()) continue;
    if (!option.names.empty()) spec += fmt::format(" -d '{}'", fish_quoted(option.help));
    specs.push_back(std::move(spec));
  }
  return specs;
}

TemplateObject tool_data(const CommandRecord& tool) {
  return {{"version", TFAOT_VERSION},
          {"verb_names", join(mapped(tool.verbs, &CommandRecord::name), " ")}};
}

std::string bash_completion(const CommandRecord& tool) {
  TemplateObject data = tool_data(tool);
  data["tool_options"] = option_names(tool);
  data["verbs"] = list_data(tool.verbs, bash_verb);
  return render(templates::kBashCompletion, data, Escaping::kNone);
}

// A shell whose template lists each verb with its options.
struct ShellForm {
  std::string_view text;  // the template
  std::string (*quoted)(const std::string& text);
  std::vector<std::string> (*options)(const CommandRecord& command);
};

std::string completion(const CommandRecord& tool, const ShellForm& shell) {
  TemplateObject data = tool_data(tool);
  data["options"] = objects_data("spec", shell.options(tool));
  data["verbs"] = list_data(tool.verbs, [&](const CommandRecord& verb) {
    return TemplateObject{{"name", verb.name},
                          {"summary", shell.quoted(verb.summary)},
                          {"options", objects_data("spec", shell.options(verb))}};
  });
  return render(shell.text, data, Escaping::kNone);
}

constexpr ShellForm kZsh = {templates::kZshCompletion, in_quotes, zsh_options};
constexpr ShellForm kFish = {templates::kFishCompletion, fish_quoted, fish_options};

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
      {"zsh/vendor-completions/_tfaot", completion(tool, kZsh)},
      {"fish/vendor_completions.d/tfaot.fish", completion(tool, kFish)},
      {"man/man1/tfaot.1", manual_page(tool)}};
  for (const CommandRecord& verb : tool.verbs) {
    texts.emplace_back("man/man1/tfaot-" + verb.name + ".1", manual_page(tool, verb));
  }
  for (const auto& [path, text] : texts) {
    TFAOT_TRY(write_named_file(files, share / path, text));
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
                        : options.shell == "zsh" ? completion(tool, kZsh)
                                                 : completion(tool, kFish));
  return {};
}

}  // namespace

Action add_completion(CLI::App& app) {
  auto options = std::make_shared<CompletionArguments>();
  auto* shell = add_value(app, "SHELL", options->shell, "bash, zsh or fish")
                    ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  auto* folder = app.add_option("--write-all", options->folder)->group("");
  auto* word = app.add_option("--packages", options->word)->group("");
  shell->excludes(folder)->excludes(word);
  app.footer(
      R"(Prints a script with which the shell completes tfaot's verbs, options and their values.
Installed packages contain it; you need it for a tfaot that you unpacked or built yourself.
Examples:
  source <(tfaot completion bash)            # in ~/.bashrc; zsh: the same, in ~/.zshrc
  tfaot completion fish > ~/.config/fish/completions/tfaot.fish)");
  return [options](Program& program) { return complete(*options, program); };
}

}  // namespace tfaot::toolkit
