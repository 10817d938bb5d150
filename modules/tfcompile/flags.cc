// SPDX-License-Identifier: Apache-2.0
#include "flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kUsage =
    R"(tfaot-tfcompile: compiles a frozen graph for all its batch sizes and CPU levels, with the flags of
TensorFlow's tfcompile, as scram's DNN_NAME rule calls it.

  --graph=FILE                the graph, a binary GraphDef (or text, *.pbtxt)
  --config=FILE               feeds and fetches, text of a tensorflow.tf2xla.Config
  --cpp_class=NAME            class to make, may have a namespace
  --out_header=FILE           the header, which needs no other
  --out_function_object=FILE  the code of all sizes and levels, and the weights
  --out_metadata_object=FILE  the runtime; linking it more than once does no harm
  --target_triple=T           [x86_64-unknown-linux-gnu]
  --target_features=+A,+B     what every machine has: no code for lower levels is made
  --target_cpu=CPU            code only for this CPU or level
  --entry_point=NAME          ignored: each size and level has its own name
  --batch_sizes=1,4,16        in addition to the first dimension of the config's shapes
  --cpu_levels=A,B            levels to compile, see tfaot's manual
  --fixed_shapes              no dimension is a batch: only the config's shapes
  --version                   prints tfaot's version

The three before it may also be in the config, in a comment: # tfaot: batch_sizes=1,4,16
)";

Status put_list(const std::string& name, const std::string& value, TfcompileFlags& flags) {
  Words words = split_words(value, ",");
  if (words.empty()) return fail(Error::usage(fmt::format("{} needs a value", name)));
  (name.ends_with("batch_sizes") ? flags.batch_sizes : flags.cpu_levels) = std::move(words);
  return {};
}

using Place = std::variant<std::string*, Path*>;

std::map<std::string, Place> texts_of(TfcompileFlags& flags) {
  return {{"graph", &flags.graph},
          {"config", &flags.config},
          {"cpp_class", &flags.cpp_class},
          {"target_triple", &flags.target_triple},
          {"target_cpu", &flags.target_cpu},
          {"target_features", &flags.target_features},
          {"out_header", &flags.out_header},
          {"out_function_object", &flags.out_function_object},
          {"out_metadata_object", &flags.out_metadata_object}};
}

Error unknown_flag(const std::string& argument, TfcompileFlags& flags) {
  Words names = {"--entry_point", "--batch_sizes", "--cpu_levels", "--fixed_shapes"};
  for (const auto& [name, text] : texts_of(flags)) names.push_back("--" + name);
  const std::string word = argument.substr(0, argument.find('='));
  Error error = Error::usage(fmt::format("unknown flag '{}'", word));
  if (const auto guess = closest_match(word, names)) {
    error.note(fmt::format("did you mean '{}'?", *guess));
  }
  return error.note("see 'tfaot-tfcompile --help'");
}

// "--name=value" or "-name=value"; TensorFlow's flags accept both.
Status read_flag(const std::string& argument, TfcompileFlags& flags) {
  const std::size_t equals = argument.find('=');
  std::string name = argument.substr(0, equals);
  if (!name.starts_with('-')) {
    return fail(Error::usage(fmt::format("unexpected argument '{}'", argument)));
  }
  name.erase(0, name.starts_with("--") ? 2 : 1);
  const std::map<std::string, bool*> truths = {
      {"help", &flags.help}, {"version", &flags.version}, {"fixed_shapes", &flags.fixed_shapes}};
  if (const auto truth = truths.find(name); truth != truths.end()) {
    *truth->second = true;
    return {};
  }
  const auto texts = texts_of(flags);
  const auto text = texts.find(name);
  const bool list = name == "batch_sizes" || name == "cpu_levels";
  if (text == texts.end() && !list && name != "entry_point") {
    return fail(unknown_flag(argument, flags));
  }
  if (equals == std::string::npos) {
    return fail(Error::usage(fmt::format("--{} needs a value: --{}=...", name, name)));
  }
  const std::string value = argument.substr(equals + 1);
  if (list) return put_list("--" + name, value, flags);
  if (text != texts.end()) std::visit([&](auto* place) { *place = value; }, text->second);
  return {};
}

Status check_complete(TfcompileFlags& flags) {
  for (const char* name : {"graph", "config", "cpp_class", "out_header", "out_function_object",
                           "out_metadata_object"}) {
    if (!std::visit([](auto* place) { return place->empty(); }, texts_of(flags).at(name))) continue;
    return fail(
        Error::usage(fmt::format("--{} is required", name)).note("see 'tfaot-tfcompile --help'"));
  }
  for (const std::string& part : split_words(replace_all(flags.cpp_class, "::", " "), " ")) {
    if (is_cpp_identifier(part)) continue;
    return fail(Error::usage(fmt::format("--cpp_class: '{}' is not a C++ name", flags.cpp_class)));
  }
  return {};
}

}  // namespace

Result<TfcompileFlags> parse_tfcompile_flags(const std::vector<std::string>& arguments) {
  TfcompileFlags flags;
  for (const std::string& argument : arguments) TFAOT_TRY(read_flag(argument, flags));
  flags.target_triple = full_triple(flags.target_triple);
  if (!flags.help && !flags.version) TFAOT_TRY(check_complete(flags));
  return flags;
}

std::string tfcompile_usage() { return kUsage; }

Status read_tfcompile_comments(const std::string& text, const std::string& file,
                               TfcompileFlags& flags) {
  constexpr std::string_view kMark = "tfaot:";
  int number = 0;
  TfcompileFlags said;
  for (const std::string& line : split_lines(text)) {
    ++number;
    if (!trim(line).starts_with('#')) continue;
    const std::string comment = trim(trim(line).substr(1));
    if (!comment.starts_with(kMark)) continue;
    for (const std::string& word : split_words(comment.substr(kMark.size()), " \t")) {
      if (word == "fixed_shapes") {
        flags.fixed_shapes = true;
        continue;
      }
      const std::string name = word.substr(0, word.find('='));
      if ((name == "batch_sizes" || name == "cpu_levels") && word.size() > name.size() + 1) {
        TFAOT_TRY(put_list(name, word.substr(name.size() + 1), said));
        continue;
      }
      return fail(Error::at({file, number}, fmt::format("'{}' is unknown", word))
                      .note("write # tfaot: batch_sizes=1,4 cpu_levels=x86-64,x86-64-v3"));
    }
  }
  if (flags.batch_sizes.empty()) flags.batch_sizes = said.batch_sizes;
  if (flags.cpu_levels.empty()) flags.cpu_levels = said.cpu_levels;
  return {};
}

std::string full_triple(const std::string& triple) {
  if (triple.empty()) return "x86_64-unknown-linux-gnu";
  const std::size_t dash = triple.find('-');
  if (dash == std::string::npos || !triple.substr(dash + 1).starts_with("linux")) return triple;
  return triple.substr(0, dash) + "-unknown" + triple.substr(dash);
}

}  // namespace tfaot::toolkit
