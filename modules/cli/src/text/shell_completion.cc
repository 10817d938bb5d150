// SPDX-License-Identifier: Apache-2.0
#include "text/shell_completion.h"

#include <fmt/format.h>

#include <utility>

#include "help_templates.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// Escapes a text between two ' for bash and zsh.
std::string in_quotes(const std::string& text) { return replace_all(text, "'", R"('\'')"); }

std::string verb_names(const CommandRecord& tool) {
  std::vector<std::string> names;
  for (const CommandRecord& verb : tool.verbs) names.push_back(verb.name);
  return join(names, " ");
}

// " --a --b" for a command.
std::string option_names(const CommandRecord& command) {
  std::string names;
  for (const OptionRecord& option : command.options) {
    for (const std::string& name : option.names) names += " " + name;
  }
  return names;
}

TemplateData list_of(const std::vector<TemplateObject>& objects) {
  TemplateData list{TemplateData::type::list};
  for (const TemplateObject& object : objects) list << TemplateData(object);
  return list;
}

std::string bash_kind(Completion completion) {
  if (completion == Completion::kFile) return "file";
  if (completion == Completion::kPackage) return "package";
  return completion == Completion::kFolder ? "folder" : "word";
}

TemplateObject bash_verb(const CommandRecord& verb) {
  std::vector<TemplateObject> values;
  std::string positional_words;
  std::string positional_kind = "word";
  for (const OptionRecord& option : verb.options) {
    const std::string words = join(option.words, " ");
    if (!option.names.empty()) {
      if (option.completion == Completion::kNothing) continue;
      values.push_back({{"pattern", join(option.names, " | ")},
                        {"kind", bash_kind(option.completion)},
                        {"words", words}});
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
          {"values", list_of(values)}};
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

std::vector<TemplateObject> zsh_options(const CommandRecord& command) {
  std::vector<TemplateObject> specs;
  std::size_t position = 0;
  for (const OptionRecord& option : command.options) {
    if (option.names.empty()) {
      // The last positional takes all further words.
      const std::string place =
          option.completion == Completion::kWord ? std::to_string(++position) : std::string("*");
      specs.push_back({{"spec", fmt::format("'{}{}'", place, zsh_value(option))}});
      continue;
    }
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      const bool takes_value = option.completion != Completion::kNothing;
      specs.push_back(
          {{"spec", fmt::format("'{}{}[{}]{}'", name,
                                !takes_value ? ""
                                : is_long    ? "="
                                             : "+",
                                zsh_quoted(option.help), takes_value ? zsh_value(option) : "")}});
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

std::vector<TemplateObject> fish_options(const CommandRecord& command) {
  std::vector<TemplateObject> specs;
  for (const OptionRecord& option : command.options) {
    std::string spec;
    for (const std::string& name : option.names) {
      spec += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    spec += fish_value(option);
    if (spec.empty()) continue;
    if (!option.names.empty()) spec += fmt::format(" -d '{}'", fish_quoted(option.help));
    specs.push_back({{"spec", spec}});
  }
  return specs;
}

TemplateObject tool_data(const CommandRecord& tool) {
  return {{"version", TFAOT_VERSION}, {"verb_names", verb_names(tool)}};
}

}  // namespace

std::string bash_completion(const CommandRecord& tool) {
  TemplateObject data = tool_data(tool);
  std::vector<TemplateObject> verbs;
  for (const CommandRecord& verb : tool.verbs) verbs.push_back(bash_verb(verb));
  data["tool_options"] = option_names(tool);
  data["verbs"] = list_of(verbs);
  return render(templates::kBashCompletion, data, Escaping::kNone);
}

std::string zsh_completion(const CommandRecord& tool) {
  TemplateObject data = tool_data(tool);
  std::vector<TemplateObject> verbs;
  for (const CommandRecord& verb : tool.verbs) {
    verbs.push_back({{"name", verb.name},
                     {"summary", in_quotes(verb.summary)},
                     {"options", list_of(zsh_options(verb))}});
  }
  data["options"] = list_of(zsh_options(tool));
  data["verbs"] = list_of(verbs);
  return render(templates::kZshCompletion, data, Escaping::kNone);
}

std::string fish_completion(const CommandRecord& tool) {
  TemplateObject data = tool_data(tool);
  std::vector<TemplateObject> verbs;
  for (const CommandRecord& verb : tool.verbs) {
    verbs.push_back({{"name", verb.name},
                     {"summary", fish_quoted(verb.summary)},
                     {"options", list_of(fish_options(verb))}});
  }
  data["options"] = list_of(fish_options(tool));
  data["verbs"] = list_of(verbs);
  return render(templates::kFishCompletion, data, Escaping::kNone);
}

}  // namespace tfaot::toolkit
