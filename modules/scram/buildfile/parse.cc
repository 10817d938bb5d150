// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "grammar/elements.h"
#include "grammar/references.h"
#include "grammar/xml_source.h"
#include "tfaot/base/expression.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/scram/buildfile.h"

namespace tfaot::toolkit {
namespace {

// A number, or what leaves the size to each call: "1..128", the name of another dimension.
bool is_size(const std::string& text) {
  if (const auto number = parse_number<std::int32_t>(text)) return *number > 0;
  const bool is_name = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0;
  return is_name || text.find("..") != std::string::npos;
}

constexpr std::size_t kLongestQuote = 200;
constexpr std::string_view kCommasAndBlanks = ", \t\r\n\f\v";

// The variables of a BuildFile: those of <set> and of loops, in nested scopes, and those from the
// caller. One per file; one thread.

class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> given) { scopes_.push_back(given); }

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  void set(const std::string& name, const std::string& value) { scopes_.back()[name] = value; }

  // `text` with ${NAME} and $(NAME) replaced, also in their values. An unknown name is an error:
  // scram leaves it to make, but make's variables do not exist here.
  Result<std::string> expand(const std::string& text) const {
    TFAOT_ASSIGN(std::string expanded, expand_for_shell(text));
    const std::size_t start = std::min(expanded.find("${"), expanded.find("$("));
    if (start == std::string::npos) return expanded;
    const std::size_t end = expanded.find(expanded[start + 1] == '{' ? '}' : ')', start);
    const std::size_t size = end == std::string::npos ? 0 : end - start - 2;
    return fail(Error(fmt::format("the variable in '{}' is unknown", text.substr(0, kLongestQuote)))
                    .note(fmt::format("give it a value: VARIABLES {}=<value>",
                                      expanded.substr(start + 2, size))));
  }

  // The same for a shell's command line, which keeps unknown names.
  Result<std::string> expand_for_shell(const std::string& text) const {
    // In tool files $NAME counts as well, and a name without a value drops the whole value.
    const ReferenceRules rules{.forms = {ReferenceForm::kBraces, ReferenceForm::kParentheses}};
    Expansion expansion =
        expand_references(text, rules, [this](const std::string& name) { return find(name); });
    if (expansion.is_too_much) {
      return fail(Error(fmt::format("the variables in '{}' expand to too much, or to themselves",
                                    text.substr(0, kLongestQuote)))
                      .note(fmt::format("the limits are {} values and {} characters", kMostReplaced,
                                        kLongestValue)));
    }
    return std::move(expansion.text);
  }

 private:
  const std::string* find(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto entry = scope->find(name);
      if (entry != scope->end()) return &entry->second;
    }
    return nullptr;
  }

  std::vector<std::map<std::string, std::string>> scopes_;
};

// Whether a condition of a BuildFile is true: <ifarchitecture>, <iftool> and the like.

// The value that the condition tests. CMake does not know scram's project or its configuration, so
// those are empty.
std::string actual_value(const std::string& tag, const BuildConditions& conditions) {
  if (tag == "ifarchitecture" || tag == "architecture") return conditions.architecture;
  if (tag == "ifrelease" || tag == "release") return conditions.release;
  if (tag == "ifcompiler" || tag == "compiler") return conditions.compiler;
  if (tag == "ifos") return conditions.os;
  if (tag == "ifarch") return conditions.machine;
  if (tag == "ifcxx11_abi") return "1";
  return "";
}

Result<bool> holds(const Comparison& comparison, const std::string& actual) {
  if (comparison.is_exact) return (actual == comparison.wanted) != comparison.is_turned;
  TFAOT_ASSIGN(const bool matches, search_expression(comparison.wanted, actual));
  return matches != comparison.is_turned;
}

// Tests the tool's version; by default any version will do. A missing tool has no version. "!name"
// tests whether the tool is missing.
Result<bool> tool_is_there(const pugi::xml_node& node, const BuildConditions& conditions) {
  std::string name = lower_case(node.attribute("name").value());
  std::string wanted = node.attribute("version") ? node.attribute("version").value() : ".+";
  if (name.starts_with('!')) {
    name.erase(0, 1);
    wanted.insert(0, 1, '!');
  }
  const auto tool = conditions.tools.find(name);
  return holds(comparison_with(wanted, false), tool == conditions.tools.end() ? "" : tool->second);
}

// For one <if...> or <elif>; `tag` is that of the <if...>.
Result<bool> is_met(const std::string& tag, const pugi::xml_node& node,
                    const BuildConditions& conditions) {
  if (tag == "iftool") {
    if (!node.attribute("name")) return fail(Error("<iftool> needs the attribute 'name'"));
    return tool_is_there(node, conditions);
  }
  const auto comparison = comparison_of(node);
  if (!comparison) {
    return fail(Error(fmt::format("<{}> needs one of the attributes name, match, value", tag)));
  }
  return holds(*comparison, actual_value(tag, conditions));
}

// One element of a BuildFile, its attributes checked against those that scram accepts.

struct Element {
  std::string tag;                                // in lower case, as scram compares
  std::string written_tag;                        // as written in the file
  int line = 0;                                   // of the tag
  std::map<std::string, std::string> attributes;  // without "comment"
  std::string first_attribute;                    // all that scram reads of <flags>

  bool has(const char* name) const { return attributes.contains(name); }
  std::string value(const char* name) const {
    const auto entry = attributes.find(name);
    return entry == attributes.end() ? "" : entry->second;
  }
};

std::optional<ElementRule> rule_of(const std::string& tag) {
  // For tool files there is no such check: there scram silently ignores all other attributes.
  if (tag == "else") return ElementRule{};
  if (tag == "elif") return ElementRule{.attributes = {"name", "match", "value", "version"}};
  if (const auto condition = condition_rule(ScramFile::kBuildFile, tag)) return condition->element;
  return element_rule(ScramFile::kBuildFile, tag);
}

Status check_attributes(const Element& element, const std::string& file) {
  const auto rule = rule_of(element.tag);
  if (!rule) return {};
  std::vector<std::string> allowed = rule->attributes;
  for (const auto& [name, versions] : rule->newer) allowed.push_back(name);
  for (const auto& [name, value] : element.attributes) {
    if (contains(allowed, "*") || contains(allowed, name)) continue;
    Error error = Error::at(
        {file, element.line},
        fmt::format("<{}> has no attribute '{}'{}", element.tag, name, guess(name, allowed)));
    error.note(allowed.empty() ? "it takes none" : "allowed: " + join(allowed, ", "));
    return fail(std::move(error));
  }
  for (const std::string& name : rule->required) {
    if (element.has(name.c_str())) continue;
    return fail(Error::at({file, element.line},
                          fmt::format("<{}> needs the attribute '{}'", element.tag, name)));
  }
  return {};
}

// True if it is an element of BuildFiles and not a condition.
bool is_known_tag(const std::string& tag) {
  return element_rule(ScramFile::kBuildFile, tag).has_value();
}

// `file` is for messages. An attribute that scram does not know is an error, because scram would
// lose the rest of the BuildFile. Attributes of unknown elements are not checked.
Result<Element> read_element(const pugi::xml_node& node, const XmlSource& xml,
                             const std::string& file) {
  Element element;
  element.written_tag = node.name();
  element.tag = lower_case(element.written_tag);
  element.line = xml.line_of(node);
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    const std::string name = attribute.name();
    if (name == kCommentAttribute) continue;
    element.attributes.emplace(name, attribute.value());
    if (element.first_attribute.empty()) element.first_attribute = name;
  }
  TFAOT_TRY(check_attributes(element, file));
  return element;
}

constexpr int kMostReads = 10'000;        // of elements; those in loops count each time
constexpr std::size_t kMostTurns = 1000;  // of a loop

class Parser {
 public:
  Parser(const BuildFileSource& source, const BuildConditions& conditions)
      : source_(source), conditions_(conditions), variables_(source.variables) {
    result_.file = source.file;
  }

  Result<BuildFile> run() {
    if (const auto fault = xml_.parse(source_.text)) {
      return fail(Error::at({source_.file, fault->line}, fault->what)
                      .note("scram " + fault->scram)
                      .note(fault->advice));
    }
    TFAOT_TRY(read_children(xml_.document()));
    return std::move(result_);
  }

 private:
  Error error(const Element& element, const std::string& message) const {
    return Error::at({source_.file, element.line}, message);
  }
  Error error(const Element& element, Error cause) const {
    return std::move(cause).moved_to({source_.file, element.line});
  }
  // Warns only once: loops read their children more than once.
  void warn(const Element& element, const std::string& text) {
    add_new(result_.warnings, fmt::format("{}:{}: {}", source_.file, element.line, text));
  }
  Result<std::string> expand(const Element& element, const std::string& text) const {
    auto expanded = variables_.expand(text);
    if (!expanded) return fail(error(element, expanded.error()));
    return expanded;
  }
  BuildBlock& block() { return product_ == nullptr ? result_.common : product_->block; }

  Status read_children(const pugi::xml_node& parent) {
    for (const pugi::xml_node& node : parent.children()) {
      if (node.type() == pugi::node_element) TFAOT_TRY(read_node(node));
    }
    return {};
  }

  Status read_node(const pugi::xml_node& node) {
    TFAOT_ASSIGN(const Element element, read_element(node, xml_, source_.file));
    if (++reads_ > kMostReads) {
      return fail(error(element, fmt::format("more than {} elements, those in loops counted again",
                                             kMostReads))
                      .note("write several BuildFiles"));
    }
    return read_element_of(node, element);
  }

  // The functions that call each other once for each level of nesting leave messages to others:
  // each message takes room on the stack.
  Status outside_of_condition(const Element& element) const {
    return fail(error(element, fmt::format("<{}> outside of a condition", element.tag)));
  }
  void warn_of_unlisted(const Element& element) {
    warn(
        element,
        fmt::format("<{}> is not in scram's list of tags: it prints \"Invalid tag\" but applies it",
                    element.tag));
  }
  void warn_of_spelling(const Element& element) {
    warn(element, fmt::format("<{}> should be written <{}>", element.written_tag, element.tag));
  }
  void warn_of_unknown(const Element& element) {
    warn(element, fmt::format("<{}> is not known and is ignored, but its contents are read",
                              element.written_tag));
  }

  Status read_element_of(const pugi::xml_node& node, const Element& element) {
    if (element.tag == "else" || element.tag == "elif") return outside_of_condition(element);
    if (const auto rule = condition_rule(ScramFile::kBuildFile, element.written_tag)) {
      if (!rule->is_listed) warn_of_unlisted(element);
      return read_condition(node, element);
    }
    if (!is_known_tag(element.tag)) {
      warn_of_unknown(element);
      return read_children(node);
    }
    if (element.tag != element.written_tag) warn_of_spelling(element);
    const bool product = element.tag == "bin" || element.tag == "library" || element.tag == "test";
    if (in_export_ && element.tag != "lib") {
      warn(element, fmt::format("<{}> inside of <export> is ignored", element.tag));
      return {};
    }
    if (product) return read_products(node, element);
    if (element.tag == "export") return read_export(node);
    if (element.tag == "aot_compile") return read_aot_compile(node, element);
    TFAOT_TRY(read_leaf(element));
    return read_children(node);
  }

  Status read_aot_compile(const pugi::xml_node& node, const Element& element) {
    if (!node.first_child()) return read_model(element);
    return fail(error(element, "<aot_compile> has contents, which mean nothing here")
                    .note("write it as <aot_compile .../>"));
  }

  Status check_case(const pugi::xml_node& node, const Element& element) const {
    if (node.first_child()) {
      return fail(
          error(element, fmt::format("<{0}> must be empty: write <{0}/>, and after it what applies",
                                     element.tag)));
    }
    if (is_case_after_else(node)) {
      return fail(error(element, fmt::format("<{}/> after an <else/>: scram ignores what comes "
                                             "after it",
                                             element.tag))
                      .note("write one <else/>, as the last case"));
    }
    return {};
  }

  // Reads the children up to the first <else> or <elif>, or those after the case that applies.
  Status read_condition(const pugi::xml_node& node, const Element& element) {
    TFAOT_ASSIGN(bool applies, meets(element.tag, node, element));
    bool done = false;
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      if (!begins_case(child)) {
        if (applies && !done) TFAOT_TRY(read_node(child));
        continue;
      }
      TFAOT_ASSIGN(const Element next, read_element(child, xml_, source_.file));
      done = done || applies;
      TFAOT_TRY(check_case(child, next));
      if (done) continue;
      applies = true;
      if (next.tag == "elif") {
        TFAOT_ASSIGN(applies, meets(element.tag, child, next));
      }
    }
    return {};
  }

  Result<bool> meets(const std::string& tag, const pugi::xml_node& node,
                     const Element& element) const {
    const auto met = is_met(tag, node, conditions_);
    if (!met) return fail(error(element, met.error()));
    return *met;
  }

  Status read_export(const pugi::xml_node& node) {
    result_.has_export = true;
    in_export_ = true;
    Status status = read_children(node);
    in_export_ = false;
    return status;
  }

  Status read_leaf(const Element& element) {
    if (element.tag == "use") return read_use(element);
    if (element.tag == "flags") return read_flags(element);
    if (element.tag == "set") variables_.set(element.value("name"), element.value("value"));
    if (element.tag == "lib") {
      TFAOT_ASSIGN(const std::string name, expand(element, element.value("name")));
      (in_export_ ? result_.exported_libraries : block().libraries).push_back(name);
    }
    if (element.tag == "include_path") {
      TFAOT_ASSIGN(const std::string path, expand(element, element.value("path")));
      block().include_paths.push_back(path);
    }
    return {};
  }

  Status read_use(const Element& element) {
    TFAOT_ASSIGN(const std::string name, expand(element, element.value("name")));
    const std::string source_only = element.value("source_only");
    if (name == "self") return {};
    block().uses.push_back({name, source_only == "1" || source_only == "true", element.line});
    return {};
  }

  Status read_flags(const Element& element) {
    if (element.attributes.empty()) return fail(error(element, "<flags> needs an attribute"));
    const std::string& name = element.first_attribute;
    for (const auto& [other, value] : element.attributes) {
      if (other == name) continue;
      warn(element, fmt::format("scram reads the first attribute of <flags> only: '{}' has no "
                                "effect; make it a separate element",
                                other));
    }
    TFAOT_ASSIGN(const std::string value, expand(element, element.value(name.c_str())));
    block().flags.push_back({upper_case(name), value, element.line});
    return {};
  }

  Status read_model(const Element& element) {
    AotModel model;
    TFAOT_ASSIGN(model.model, expand(element, element.value("model")));
    TFAOT_ASSIGN(model.class_name, expand(element, element.value("class")));
    if (model.class_name.empty()) {
      if (is_one_of(".yaml .yml .json", Path(model.model).extension().string())) {
        return fail(error(element, "<aot_compile> of a config needs the attribute 'class'")
                        .note("it is the config's model.name"));
      }
      model.class_name = name_from_path(model.model);
    }
    model.batch_sizes = split_words(element.value("batch_sizes"), kCommasAndBlanks);
    for (const std::string& size : model.batch_sizes) {
      if (size.find_first_not_of("0123456789") == std::string::npos && size[0] != '0') continue;
      return fail(error(element, fmt::format("batch_sizes: '{}' is not a number from 1 on", size))
                      .note("write batch_sizes=\"1 4 16\""));
    }
    model.cpu_levels = split_words(element.value("cpu_levels"), kCommasAndBlanks);
    model.dimensions = split_words(element.value("dimensions"), kCommasAndBlanks);
    for (const std::string& dimension : model.dimensions) {
      const std::size_t mark = dimension.rfind('=');
      const bool has_name = mark != std::string::npos && mark > 0;
      if (has_name && is_size(dimension.substr(mark + 1))) {
        continue;
      }
      return fail(error(element, fmt::format("dimensions: '{}' is not name=size", dimension))
                      .note("write dimensions=\"n_tracks=50\""));
    }
    TFAOT_ASSIGN(model.headers, expand(element, element.value("headers")));
    if (!model.headers.empty() && model.headers != "self_contained" && model.headers != "cmssw") {
      return fail(error(element, fmt::format("headers: '{}' is neither self_contained nor cmssw",
                                             model.headers)));
    }
    model.version = element.value("version");
    model.line = element.line;
    block().models.push_back(std::move(model));
    return {};
  }

  // for="last", "first,last" or "first,last,step"; foreach="a,b". One empty value without either.
  Result<std::vector<std::string>> loop_values(const Element& element) {
    if (element.has("foreach")) {
      const auto values = split_words(element.value("foreach"), kCommasAndBlanks);
      if (values.empty()) return fail(error(element, "'foreach' has no value"));
      if (values.size() > kMostTurns) return fail(too_many_turns(element, "foreach"));
      return values;
    }
    if (!element.has("for")) return std::vector<std::string>{""};
    std::vector<std::int64_t> numbers;
    bool good = true;
    for (const std::string& word : split_words(element.value("for"), kCommasAndBlanks)) {
      const auto number = parse_number<int>(word);
      good = good && number;
      numbers.push_back(number.value_or(0));
    }
    const bool bad_step = numbers.size() == 3 && numbers[2] <= 0;
    if (!good || numbers.empty() || numbers.size() > 3 || bad_step) {
      return fail(error(element, fmt::format("for=\"{}\" is not a loop", element.value("for")))
                      .note("write for=\"last\", for=\"first,last\" or for=\"first,last,step\""));
    }
    const std::int64_t first = numbers.size() == 1 ? 1 : numbers[0];
    const std::int64_t last = numbers.size() == 1 ? numbers[0] : numbers[1];
    const std::int64_t step = numbers.size() == 3 ? numbers[2] : 1;
    variables_.set("start_value", std::to_string(first));
    variables_.set("step_value", std::to_string(step));
    variables_.set("end_value", std::to_string(last));
    std::vector<std::string> values;
    // scram stops where a value would be a whole step after the last one.
    for (std::int64_t i = first; i < last + step; i += step) {
      if (values.size() == kMostTurns) return fail(too_many_turns(element, "for"));
      values.push_back(std::to_string(i));
    }
    if (values.empty()) values.emplace_back();  // as without a loop
    return values;
  }
  Error too_many_turns(const Element& element, const char* attribute) const {
    return error(element, fmt::format("'{}' makes more than {} products", attribute, kMostTurns))
        .note("make fewer");
  }

  Status read_products(const pugi::xml_node& node, const Element& element) {
    if (product_ != nullptr) {
      return fail(error(element, fmt::format("<{}> inside of another product", element.tag)));
    }
    variables_.open();
    TFAOT_ASSIGN(const std::vector<std::string> values, loop_values(element));
    for (const std::string& value : values) {
      if (!value.empty()) variables_.set("value", value);
      TFAOT_TRY(read_product(node, element, value));
    }
    variables_.close();
    return {};
  }

  Status read_product(const pugi::xml_node& node, const Element& element,
                      const std::string& value) {
    BuildProduct product;
    product.line = element.line;
    product.kind = element.tag == "bin"       ? ProductKind::kProgram
                   : element.tag == "library" ? ProductKind::kLibrary
                                              : ProductKind::kTest;
    if (product.kind == ProductKind::kTest) {
      auto command = variables_.expand_for_shell(element.value("command"));
      if (!command) return fail(error(element, command.error()));
      product.command = std::move(*command);
    } else {
      TFAOT_ASSIGN(const std::string files, expand(element, element.value("file")));
      product.files = split_words(files, kCommasAndBlanks);
      if (product.files.empty()) return fail(error(element, "'file' names no file"));
    }
    TFAOT_ASSIGN(product.name, product_name(element, product));
    if (!value.empty()) product.name += "_" + value;
    for (const BuildProduct& other : result_.products) {
      if (other.name != product.name) continue;
      return fail(error(element, fmt::format("there is already a product '{}' on line {}",
                                             product.name, other.line)));
    }
    product_ = &product;
    Status status = read_children(node);
    product_ = nullptr;
    if (!status) return status;
    result_.products.push_back(std::move(product));
    return {};
  }

  // A name has no folder: scram removes it as well.
  Result<std::string> product_name(const Element& element, const BuildProduct& product) {
    std::string name = element.value("name");
    if (!element.has("name")) {
      if (product.files.size() > 1 || product.files[0].find_first_of("*?[") != std::string::npos) {
        return fail(error(element, "a product of several files needs the attribute 'name'"));
      }
      name = product.files[0].substr(0, product.files[0].rfind('.'));
    } else if (name.find('/') != std::string::npos) {
      warn(element, fmt::format("the name of a product has no folder: '{}' becomes '{}'", name,
                                name.substr(name.rfind('/') + 1)));
    }
    name = name.substr(name.rfind('/') + 1);
    if (name.empty()) return fail(error(element, "the product has no name"));
    return name;
  }

  const BuildFileSource& source_;
  const BuildConditions& conditions_;
  XmlSource xml_;
  Variables variables_;
  BuildFile result_;
  BuildProduct* product_ = nullptr;  // the one that is being read
  bool in_export_ = false;
  int reads_ = 0;
};

}  // namespace

Result<BuildFile> parse_build_file(const BuildFileSource& source,
                                   const BuildConditions& conditions) {
  return Parser(source, conditions).run();
}

}  // namespace tfaot::toolkit
