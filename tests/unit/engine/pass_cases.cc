// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/pass_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "compiler/code/optimize.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/call_fields.h"
#include "tests/unit/engine/run_kernels.h"
#include "tfaot/base/text.h"
#include "tfaot/records/model_spec.h"
#include "xla/service/hlo_parser.h"

namespace tfaot::toolkit::testing {
namespace {

using engine::HloInstruction;
using Words = std::vector<std::string>;

// ---- Reading.

constexpr std::string_view kWordsOfCases[] = {
    "RUN",    "INPUTS",    "CHOICES", "LET",       "FOR",    "REPLACE", "INPUT",
    "RESULT", "TOLERANCE", "CHECK",   "CHECK-NOT", "REMARK", "ERROR"};
// One in a case replaces that of the head.
constexpr std::string_view kSettings[] = {"RUN", "INPUTS", "CHOICES", "RESULT", "TOLERANCE"};

struct Section {
  std::string title;
  int line = 0;
  std::vector<PassDirective> directives = {};
  std::string body = {};
};

bool is_word(std::string_view text) {
  return text.size() > 1 &&
         std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
}

Result<std::vector<Section>> split_sections(std::string_view text) {
  std::vector<Section> sections = {{"", 1}};
  int number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    if (!line.starts_with("//")) {
      if (trim(line).starts_with("//")) {
        return tl::unexpected(Error(fmt::format("{}: a comment is indented", number)));
      }
      sections.back().body += line + "\n";
      continue;
    }
    const std::string comment = trim(line.substr(2));
    if (comment.starts_with("---- ")) {
      sections.push_back({trim(comment.substr(4)), number});
      continue;
    }
    if (comment.starts_with("--")) {
      return tl::unexpected(Error(fmt::format("{}: a case begins with '// ---- '", number)));
    }
    const std::size_t colon = comment.find(':');
    if (colon == std::string::npos || !is_word(trim(comment.substr(0, colon)))) continue;
    PassDirective directive{trim(comment.substr(0, colon)), trim(comment.substr(colon + 1))};
    if (std::ranges::count(kWordsOfCases, directive.word) == 0) {
      return tl::unexpected(Error(fmt::format("{}: no word '{}'", number, directive.word)));
    }
    const bool is_again =
        std::ranges::count(sections.back().directives, directive.word, &PassDirective::word) > 0;
    if (is_again && std::ranges::count(kSettings, directive.word) > 0) {
      return tl::unexpected(Error(fmt::format("{}: a second {}", number, directive.word)));
    }
    sections.back().directives.push_back(std::move(directive));
  }
  return sections;
}

// Texts by name; notes which are used.
class Names {
 public:
  Status let(const std::string& name, std::string text) {
    if (!is_cpp_identifier(name)) return fail("'" + name + "' is not a name");
    // A case may change a line of the head.
    const auto old = texts_.find(name);
    if (old != texts_.end() && old->second.find('\n') != std::string::npos) {
      return fail("two texts '" + name + "'");
    }
    texts_[name] = std::move(text);
    return {};
  }
  // "name = text"
  Status let_line(const std::string& line) {
    const std::size_t at = line.find('=');
    if (at == std::string::npos) return fail("no '=' in LET");
    return let(trim(line.substr(0, at)), trim(line.substr(at + 1)));
  }

  Result<std::string> fill(std::string_view text, int depth = 0) {
    if (depth > 20) return fail("LETs that lead to each other");
    std::string filled;
    while (true) {
      const std::size_t at = text.find('$');
      filled += text.substr(0, at);
      if (at == std::string_view::npos) return filled;
      text.remove_prefix(at + 1);
      const bool is_in_braces = text.starts_with('{');
      if (is_in_braces) text.remove_prefix(1);
      const auto end =
          std::ranges::find_if_not(text, [](char c) { return is_letter_or_digit(c) || c == '_'; });
      const std::string name(text.begin(), end);
      const auto found = texts_.find(name);
      if (found == texts_.end()) return fail("no text '$" + name + "'");
      used_.insert(name);
      TFAOT_ASSIGN(const std::string inner, fill(found->second, depth + 1));
      filled += inner;
      text.remove_prefix(name.size() + (is_in_braces ? 1 : 0));
    }
  }

  bool has(const std::string& name) const { return texts_.contains(name); }
  const std::set<std::string>& used() const { return used_; }
  Words unused(const std::set<std::string>& used) const {
    Words names;
    for (const auto& [name, text] : texts_) {
      if (!used.contains(name)) names.push_back(name);
    }
    return names;
  }

 private:
  static tl::unexpected<Error> fail(std::string text) {
    return tl::unexpected(Error(std::move(text)));
  }
  std::map<std::string, std::string> texts_;
  std::set<std::string> used_;
};

Words texts_of(const std::vector<PassDirective>& directives, std::string_view word) {
  Words texts;
  for (const PassDirective& one : directives) {
    if (one.word == word) texts.push_back(one.text);
  }
  return texts;
}

// "a b = 1 2 | 3 4"; one set without names if there is no FOR.
Result<std::vector<std::vector<std::pair<std::string, std::string>>>> sets_of(const Words& lines) {
  std::vector<std::vector<std::pair<std::string, std::string>>> sets;
  if (lines.empty()) sets.emplace_back();
  for (const std::string& line : lines) {
    const std::size_t at = line.find('=');
    if (at == std::string::npos) return tl::unexpected(Error("no '=' in FOR"));
    const Words names = split_words(line.substr(0, at));
    if (names.empty() || trim(line.substr(at + 1)).empty()) {
      return tl::unexpected(Error("FOR needs names and values"));
    }
    for (const std::string& one : split_words(line.substr(at + 1), "|")) {
      const Words values = split_words(one);
      if (values.size() != names.size()) {
        return tl::unexpected(Error("FOR has other numbers of names and of values: " + trim(one)));
      }
      auto& set = sets.emplace_back();
      for (std::size_t i = 0; i < names.size(); ++i) set.emplace_back(names[i], values[i]);
    }
  }
  return sets;
}

// "this => that"
Status replace(const std::string& text, std::string& module) {
  const std::size_t at = text.find("=>");
  if (at == std::string::npos) return tl::unexpected(Error("no '=>' in REPLACE"));
  const std::string from = trim(text.substr(0, at));
  if (from.empty() || module.find(from) == std::string::npos) {
    return tl::unexpected(Error("no '" + from + "' to replace"));
  }
  module = replace_all(module, from, trim(text.substr(at + 2)));
  return {};
}

class Reader {
 public:
  explicit Reader(Section head) : head_(std::move(head)) {}

  Status let(const Section& section) {
    return names_.let(trim(section.title.substr(4)), section.body);
  }
  Status read_head() {
    if (!texts_of(head_.directives, "FOR").empty()) {
      return tl::unexpected(Error("FOR belongs to a case"));
    }
    for (const std::string& line : texts_of(head_.directives, "LET")) {
      TFAOT_TRY(names_.let_line(line));
    }
    return {};
  }

  Result<PassCase> read(const Section& section) {
    PassCase made{section.title, section.line, {}};
    if (!is_cpp_identifier(made.name)) return tl::unexpected(Error("it needs a name"));
    std::vector<PassDirective> directives;
    for (const PassDirective& one : head_.directives) {
      const bool is_replaced = std::ranges::count(kSettings, one.word) > 0 &&
                               !texts_of(section.directives, one.word).empty();
      if (!is_replaced) directives.push_back(one);
    }
    directives.insert(directives.end(), section.directives.begin(), section.directives.end());
    TFAOT_ASSIGN(const auto sets, sets_of(texts_of(section.directives, "FOR")));
    std::set<std::string> used;
    Names own;
    for (const auto& set : sets) {
      own = names_;
      PassRun run;
      for (const std::string& line : texts_of(section.directives, "LET")) {
        TFAOT_TRY(own.let_line(line));
      }
      for (const auto& [name, value] : set) {
        TFAOT_TRY(own.let(name, value));
        run.values += fmt::format("{}{}={}", run.values.empty() ? "" : " ", name, value);
      }
      TFAOT_ASSIGN(run.module, own.fill(head_.body + section.body));
      for (const PassDirective& one : directives) {
        if (one.word == "LET" || one.word == "FOR") continue;
        TFAOT_ASSIGN(std::string text, own.fill(one.text));
        if (one.word == "REPLACE") {
          TFAOT_TRY(replace(text, run.module));
        } else {
          run.directives.push_back({one.word, std::move(text)});
        }
      }
      used.insert(own.used().begin(), own.used().end());
      made.runs.push_back(std::move(run));
    }
    for (const std::string& name : own.unused(used)) {
      if (!names_.has(name)) return tl::unexpected(Error("'" + name + "' is not used"));
    }
    used_.insert(used.begin(), used.end());
    return made;
  }

  Status all_used() const {
    const Words unused = names_.unused(used_);
    if (unused.empty()) return {};
    return tl::unexpected(Error("no case uses " + join(unused, ", ")));
  }

 private:
  Section head_;
  Names names_;
  std::set<std::string> used_;
};

}  // namespace

Result<std::vector<PassCase>> read_pass_cases(std::string_view text) {
  TFAOT_ASSIGN(std::vector<Section> sections, split_sections(text));
  Reader reader(std::move(sections.front()));
  TFAOT_TRY(reader.read_head());
  const auto is_let = [](const Section& one) { return one.title.starts_with("LET "); };
  for (const Section& section : sections) {
    if (is_let(section)) TFAOT_TRY(reader.let(section));
  }
  std::vector<PassCase> cases;
  std::set<std::string> names;
  for (const Section& section : sections) {
    if (&section == sections.data() || is_let(section)) continue;
    auto read = reader.read(section);
    if (!read) {
      return tl::unexpected(
          Error(fmt::format("{}, line {}: {}", section.title, section.line, read.error().text())));
    }
    if (!names.insert(section.title).second) {
      return tl::unexpected(Error("two cases " + section.title));
    }
    cases.push_back(std::move(*read));
  }
  if (cases.empty()) return tl::unexpected(Error("it has no case"));
  TFAOT_TRY(reader.all_used());
  return cases;
}

// ---- Checking.

namespace {

struct Outcome {
  const xla::HloModule& module;
  const engine::PassContext& context;
  const std::string& before;  // the module's text

  std::vector<const HloInstruction*> entry() const {
    const auto all = module.entry_computation()->MakeInstructionPostOrder();
    return {all.begin(), all.end()};
  }
  // Operations of the entry computation that depend on inputs.
  std::vector<const HloInstruction*> computed() const {
    std::set<const HloInstruction*> found;
    auto all = entry();
    std::erase_if(all, [&](const HloInstruction* one) {
      const bool is_computed = one->opcode() == xla::HloOpcode::kParameter
                                   ? one->parameter_number() < context.inputs
                                   : std::ranges::any_of(one->operands(), [&](const auto* operand) {
                                       return found.contains(operand);
                                     });
      if (is_computed) found.insert(one);
      return !is_computed;
    });
    return all;
  }
  std::vector<const HloInstruction*> inner() const {
    std::vector<const HloInstruction*> all;
    for (const auto* computation : module.computations()) {
      if (computation == module.entry_computation()) continue;
      const auto own = computation->MakeInstructionPostOrder();
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }
  std::vector<const HloInstruction*> calls() const {
    auto all = inner();
    const auto last = entry();
    all.insert(all.end(), last.begin(), last.end());
    std::erase_if(all, [](const auto* one) { return !engine::is_kernel_call(*one); });
    return all;
  }
};

std::string opcode(const HloInstruction& one) {
  return std::string(xla::HloOpcodeString(one.opcode()));
}

Words kernels_called(const Outcome& outcome) {
  Words names;
  for (const auto* one : outcome.calls()) names.emplace_back(engine::kernel_name(*one));
  return names;
}

Words operations_left(const Outcome& outcome) {
  static const std::set<std::string, std::less<>> kFree = {
      "parameter", "constant", "custom-call", "get-tuple-element", "reshape", "bitcast", "tuple"};
  Words names;
  for (const auto* one : outcome.computed()) {
    if (!kFree.contains(opcode(*one))) names.push_back(opcode(*one));
  }
  std::ranges::sort(names);
  return names;
}

Words products(const Outcome& outcome) {
  Words sizes;
  for (const auto* one : outcome.computed()) {
    if (opcode(*one) != "dot" && opcode(*one) != "convolution") continue;
    const xla::Shape& left = one->operand(0)->shape();
    const std::int64_t depth = left.dimensions().back();
    sizes.push_back(fmt::format("{}x{}", xla::ShapeUtil::ElementsIn(left) / depth, depth));
  }
  std::ranges::sort(sizes);
  return sizes;
}

Words transposed_bytes(const Outcome& outcome) {
  std::int64_t bytes = 0;
  for (const auto* one : outcome.computed()) {
    if (opcode(*one) == "transpose") bytes += xla::ShapeUtil::ByteSizeOf(one->shape());
  }
  return {std::to_string(bytes)};
}

Words facts(const Outcome& outcome) {
  Words names;
  if (outcome.context.has_live_rows) names.emplace_back("live_rows");
  if (outcome.context.has_tasks) names.emplace_back("tasks");
  if (outcome.module.ToString() == outcome.before) names.emplace_back("unchanged");
  return names;
}

Words parameters(const Outcome& outcome) {
  return {std::to_string(outcome.module.entry_computation()->num_parameters())};
}

const std::map<std::string, Words (*)(const Outcome&), std::less<>> kLists = {
    {"kernels", kernels_called},      {"left", operations_left}, {"products", products},
    {"transposed", transposed_bytes}, {"facts", facts},          {"parameters", parameters},
};

std::string opcodes_of(const HloInstruction& one, int depth = 4) {
  std::string text = opcode(one);
  if (one.operand_count() == 0 || depth == 0) return text;
  Words operands;
  for (const auto* operand : one.operands()) operands.push_back(opcodes_of(*operand, depth - 1));
  return text + "(" + join(operands, ",") + ")";
}

std::string line_of(const HloInstruction& one) {
  return one.ToString(xla::HloPrintOptions::ShortParsable()
                          .set_print_percent(false)
                          .set_print_operand_shape(true)
                          .set_print_metadata(false)
                          .set_include_layout_in_shapes(false));
}

// True if the text begins with the pattern, in which '*' is any text.
bool begins_with(std::string_view text, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  const std::string_view first = pattern.substr(0, star);
  if (!text.starts_with(first)) return false;
  if (star == std::string_view::npos) return true;
  for (std::size_t at = first.size(); at <= text.size(); ++at) {
    if (begins_with(text.substr(at), pattern.substr(star + 1))) return true;
  }
  return false;
}

bool is_near(double a, double b) { return a == b || std::abs(a - b) <= 1e-6 * std::abs(b); }

std::string text_of(const CallField& field) {
  return fmt::format("{}={}", field.name, fmt::join(field.values, ","));
}

// What may be said of an operand.
Words texts_of_operand(const HloInstruction& operand) {
  Words texts = {xla::ShapeUtil::HumanString(operand.shape()), opcode(operand)};
  if (operand.opcode() == xla::HloOpcode::kParameter) {
    texts.back() += fmt::format("({})", operand.parameter_number());
  }
  return texts;
}

// "points=24", "x_gate=0,8,16", "operands=4", "operand.3=parameter(2)"
bool has_field(const HloInstruction& call, const std::string& wanted) {
  const std::size_t equal = wanted.find('=');
  if (equal == std::string::npos) return false;
  const std::string name = wanted.substr(0, equal), value = wanted.substr(equal + 1);
  if (name == "operands") return value == std::to_string(call.operand_count());
  if (name.starts_with("operand.")) {
    const auto number = parse_number<std::int64_t>(name.substr(8));
    return number && *number < call.operand_count() &&
           std::ranges::count(texts_of_operand(*call.operand(*number)), value) > 0;
  }
  for (const CallField& field : call_fields(call)) {
    if (field.name != name) continue;
    const Words words = split_words(value, ",");
    return std::ranges::equal(words, field.values, [](const std::string& word, double is) {
      const auto number = call_number(word);
      return number && is_near(is, *number);
    });
  }
  return false;
}

// True if some call of the kernel could have it.
bool is_about_field(const std::string& kernel, const std::string& wanted) {
  const std::size_t equal = wanted.find('=');
  if (equal == std::string::npos) return false;
  const std::string name = wanted.substr(0, equal), value = wanted.substr(equal + 1);
  if (name.starts_with("operand.")) return parse_number<std::int64_t>(name.substr(8)).has_value();
  if (name == "operands") return parse_number<std::int64_t>(value).has_value();
  return is_call_field(kernel, name) && std::ranges::all_of(split_words(value, ","), [](auto& one) {
           return call_number(one).has_value();
         });
}

std::string text_of_call(const HloInstruction& call) {
  std::string text = std::string(engine::kernel_name(call)) + ":";
  for (const CallField& field : call_fields(call)) text += " " + text_of(field);
  for (std::int64_t i = 1; i < call.operand_count(); ++i) {
    text += fmt::format(" operand.{}={}", i, join(texts_of_operand(*call.operand(i)), "|"));
  }
  return text;
}

// Checks one case's CHECK and CHECK-NOT lines, one after the other.
class Checker {
 public:
  explicit Checker(const Outcome& outcome) : outcome_(outcome) {}

  // A problem, or nothing.
  std::optional<std::string> check(const PassDirective& directive) {
    const bool wanted = directive.word == "CHECK";
    Words words = split_words(directive.text);
    if (words.size() < 2) return "it says nothing";
    const std::string about = words.front();
    words.erase(words.begin());
    const std::string rest = trim(std::string_view(directive.text).substr(about.size()));
    if (const auto list = kLists.find(about); list != kLists.end()) {
      for (const std::string& word : words) {
        const bool is_none = wanted && words.size() == 1 && word == "none";
        if (!is_none && !may_be_in(about, word)) return "no word '" + word + "'";
      }
      return check_list(list->second(outcome_), words, wanted);
    }
    if (about == "call") return check_call(words, wanted);
    if (about == "op") return check_count(outcome_.entry(), words, wanted);
    if (about == "inner") return check_count(outcome_.inner(), words, wanted);
    if (about == "line") return check_line(rest, wanted);
    if (about == "root") {
      const std::string text = opcodes_of(*outcome_.module.entry_computation()->root_instruction());
      return begins_with(text, rest) == wanted ? std::nullopt : std::optional(text);
    }
    return "no check '" + about + "'";
  }

 private:
  using Instructions = std::vector<const HloInstruction*>;

  // False for a word that no list of this kind can have.
  static bool may_be_in(const std::string& list, const std::string& word) {
    if (list == "left") return xla::StringToHloOpcode(word).ok();
    if (list == "facts") return word == "live_rows" || word == "tasks" || word == "unchanged";
    if (list != "kernels") return word != "none";
    return (word.ends_with("_f32") || word.ends_with("_f64")) &&
           is_kernel(word.substr(0, word.size() - 4));
  }

  static std::optional<std::string> check_list(const Words& is, const Words& words, bool wanted) {
    const bool holds = wanted ? is == (words == Words{"none"} ? Words() : words)
                              : std::ranges::none_of(words, [&](const std::string& word) {
                                  return std::ranges::count(is, word) > 0;
                                });
    if (holds) return std::nullopt;
    return is.empty() ? "none" : join(is, " ");
  }

  static std::optional<std::string> check_count(const Instructions& all, const Words& words,
                                                bool wanted) {
    if (!xla::StringToHloOpcode(words.front()).ok()) return "no opcode '" + words.front() + "'";
    const auto count = std::ranges::count(all, words.front(),
                                          [](const HloInstruction* one) { return opcode(*one); });
    const std::string text = std::to_string(count);
    if (wanted ? words.size() == 2 && words[1] == text : words.size() == 1 && count == 0) {
      return std::nullopt;
    }
    return text;
  }

  std::optional<std::string> check_line(const std::string& pattern, bool wanted) const {
    auto all = outcome_.entry();
    const auto others = outcome_.inner();
    all.insert(all.end(), others.begin(), others.end());
    const bool found = std::ranges::any_of(
        all, [&](const HloInstruction* one) { return begins_with(line_of(*one), "*" + pattern); });
    if (found == wanted) return std::nullopt;
    return found ? "it is there" : "it is not there";
  }

  // The nth line with a kernel is about its nth call.
  std::optional<std::string> check_call(const Words& words, bool wanted) {
    if (!is_kernel(words.front())) return "no kernel '" + words.front() + "'";
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (!is_about_field(words.front(), words[i])) return "no member for '" + words[i] + "'";
    }
    auto calls = outcome_.calls();
    std::erase_if(calls, [&](const HloInstruction* one) {
      return engine::name_of_kernel(*engine::called_kernel(*one)) != words.front();
    });
    if (!wanted) {
      for (const HloInstruction* call : calls) {
        if (std::all_of(words.begin() + 1, words.end(),
                        [&](const std::string& word) { return has_field(*call, word); })) {
          return text_of_call(*call);
        }
      }
      return std::nullopt;
    }
    const std::size_t number = seen_[words.front()]++;
    if (number >= calls.size()) return fmt::format("there are {} calls", calls.size());
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (!has_field(*calls[number], words[i])) {
        return words[i] + ", but " + text_of_call(*calls[number]);
      }
    }
    return std::nullopt;
  }

  const Outcome& outcome_;
  std::map<std::string, std::size_t> seen_;
};

// "weights=int8 compute=bfloat16 fast_math=off optimize=size"; false: a word is wrong.
bool set_choices(const std::string& text, engine::Choices& choices) {
  for (const std::string& word : split_words(text)) {
    const std::size_t equal = std::min(word.find('='), word.size() - 1);
    const std::string name = word.substr(0, equal), value = word.substr(equal + 1);
    if (name == "fast_math" && (value == "on" || value == "off")) {
      choices.fast_math = value == "on";
    } else if (const auto type = parse_word<WeightsType>(value); name == "weights" && type) {
      choices.weights_type = *type;
    } else if (const auto how = parse_word<ComputeType>(value); name == "compute" && how) {
      choices.compute = *how;
    } else if (const auto what = parse_word<Optimization>(value); name == "optimize" && what) {
      choices.optimize = *what;
    } else {
      return false;
    }
  }
  return true;
}

// "a b..d"
Status run_all(const Words& names, engine::PassContext& context) {
  for (const std::string& name : names) {
    const std::size_t dots = name.find("..");
    const auto* pass = engine::find_pass(name.substr(0, dots));
    const auto* const last =
        dots == std::string::npos ? pass : engine::find_pass(name.substr(dots + 2));
    if (pass == nullptr || last == nullptr || last < pass) {
      return tl::unexpected(Error("no passes '" + name + "'"));
    }
    for (; pass <= last; ++pass) TFAOT_TRY(pass->run(context));
  }
  return {};
}

constexpr const char* kAsBefore = "as before";

class Runner {
 public:
  explicit Runner(const PassRun& run) : run_(run) {}

  Words problems() {
    const std::string result = last("RESULT", kAsBefore);
    const bool has_numbers = result != kAsBefore && result != "any";
    if (all("CHECK").empty() && all("CHECK-NOT").empty() && all("REMARK").empty() &&
        all("ERROR").empty() && !has_numbers) {
      return {"it checks nothing"};
    }
    if (!all("ERROR").empty() && (!all("CHECK").empty() || !all("CHECK-NOT").empty() ||
                                  !all("REMARK").empty() || has_numbers)) {
      return {"nothing can be checked after an ERROR"};
    }
    auto parsed = xla::ParseAndReturnUnverifiedModule("HloModule m\n" + run_.module, true);
    if (!parsed.ok()) return {std::string(parsed.status().message()) + "\n" + run_.module};
    xla::HloModule& module = **parsed;
    const std::string before = module.ToString();
    engine::Choices choices;
    if (!set_choices(last("CHOICES", ""), choices)) return {"CHOICES: " + last("CHOICES", "")};
    const auto inputs = parse_number<std::int64_t>(last("INPUTS", "1"));
    const auto tolerance = parse_number<double>(last("TOLERANCE", "1e-5"));
    const Words passes = split_words(last("RUN", ""));
    const std::int64_t parameters = module.entry_computation()->num_parameters();
    if (!inputs || !tolerance || !std::isfinite(*tolerance) || passes.empty()) {
      return {"wrong INPUTS, TOLERANCE or RUN"};
    }
    if (std::ssize(all("INPUT")) > parameters) return {"more INPUTs than parameters"};
    std::optional<xla::Literal> old;
    if (result == kAsBefore && all("ERROR").empty()) old = evaluate(module);

    engine::PassContext context{module, *inputs, choices};
    const Status done = run_all(passes, context);
    const Words errors = all("ERROR");
    if (!done && (errors.size() != 1 || done.error().text() != errors.front())) {
      return {"ERROR: " + done.error().text()};
    }
    if (done && !errors.empty()) return {"no ERROR: " + errors.front()};
    if (!done) return {};
    const Outcome outcome{module, context, before};
    Checker checker(outcome);
    for (const PassDirective& one : run_.directives) {
      if (one.word != "CHECK" && one.word != "CHECK-NOT") continue;
      if (const auto problem = checker.check(one)) {
        add(fmt::format("{}: {}\n  but: {}", one.word, one.text, *problem));
      }
    }
    check_remarks(context);
    if (old) {
      check_difference(*old, evaluate(module), *tolerance);
    } else if (has_numbers) {
      check_numbers(evaluate(module), split_words(result), *tolerance);
    }
    if (!problems_.empty()) add(module.ToString());
    return problems_;
  }

 private:
  Words all(std::string_view word) const { return texts_of(run_.directives, word); }
  std::string last(std::string_view word, const std::string& otherwise) const {
    const Words texts = all(word);
    return texts.empty() ? otherwise : texts.back();
  }
  void add(std::string problem) { problems_.push_back(std::move(problem)); }

  xla::Literal evaluate(const xla::HloModule& module) const {
    return result_with_kernels(module, all("INPUT"));
  }

  void check_remarks(const engine::PassContext& context) {
    const Words wanted = all("REMARK");
    Words remarks;
    for (const auto& one : context.remarks) remarks.push_back(one.instruction + ": " + one.text);
    if (!wanted.empty() && wanted != remarks) add("REMARK: " + join(remarks, "\n        "));
  }

  void check_difference(const xla::Literal& old, const xla::Literal& now, double tolerance) {
    const bool may_be_nan = std::ranges::any_of(all("INPUT"), [](const std::string& line) {
      return line.find("nan") != std::string::npos;
    });
    const auto is_nan = [](double number) { return std::isnan(number); };
    if (!may_be_nan && std::ranges::any_of(numbers_of(old), is_nan)) add("NaN in the result");
    if (tolerance == 0 && old != now) add("other bits in the result");
    const double difference = tolerance == 0 ? 0 : relative_difference(old, now);
    if (!(difference <= tolerance)) add(fmt::format("the result differs by {}", difference));
  }

  void check_numbers(const xla::Literal& now, const Words& wanted, double tolerance) {
    const std::vector<double> numbers = numbers_of(now);
    const bool is_right = std::ranges::equal(wanted, numbers, [&](const auto& word, double is) {
      const double number = std::stod(word);
      return (std::isnan(is) && std::isnan(number)) || is == number ||
             std::abs(is - number) <= tolerance * std::abs(number);
    });
    if (!is_right) add(fmt::format("RESULT: {}", fmt::join(numbers, " ")));
  }

  const PassRun& run_;
  Words problems_;
};

}  // namespace

std::vector<std::string> problems_of(const PassRun& run) { return Runner(run).problems(); }

}  // namespace tfaot::toolkit::testing
