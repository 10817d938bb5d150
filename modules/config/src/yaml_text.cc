// SPDX-License-Identifier: Apache-2.0
#include "yaml_text.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <regex>
#include <sstream>
#include <vector>

#include "problems.h"
#include "tfaot/base/text.h"

namespace tfaot::config {
namespace {

constexpr std::size_t kMaxShown = 60;

std::string shortened(const std::string& text) {
  return text.size() <= kMaxShown ? text : text.substr(0, kMaxShown) + "...";
}

NodeKind kind_of_plain(const std::string& text) {
  static const std::regex integer(R"([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)");
  static const std::regex number(
      R"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))");
  static const std::regex boolean("true|True|TRUE|false|False|FALSE");
  if (text.size() > 1000)
    return NodeKind::kText;  // regex_match would go as deep as the text is long
  if (std::regex_match(text, integer)) return NodeKind::kInteger;
  if (std::regex_match(text, number)) return NodeKind::kFloat;
  if (std::regex_match(text, boolean)) return NodeKind::kBool;
  return NodeKind::kText;
}

NodeKind kind_of_scalar(const YAML::Node& node) {
  const std::string& tag = node.Tag();
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return NodeKind::kText;  // "!" is a quoted one
  if (tag.empty() || tag == "?" || tag == "tag:yaml.org,2002:int") {
    return kind_of_plain(node.Scalar());
  }
  return NodeKind::kOther;
}

// Notes where documents start.
class DocumentMarks final : public YAML::EventHandler {
 public:
  const std::vector<YAML::Mark>& marks() const { return marks_; }

  void OnDocumentStart(const YAML::Mark& mark) override { marks_.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  std::vector<YAML::Mark> marks_;
};

// At most two: YAML::LoadAll() of yaml-cpp 0.7 finds documents without end in texts like ", 4]".
std::vector<YAML::Mark> first_documents(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentMarks documents;
  while (documents.marks().size() < 2 && parser.HandleNextDocument(documents)) {
  }
  return documents.marks();
}

Error syntax_error(const YAML::Exception& e, const std::string& text, const std::string& file) {
  Error error = Error::at(location_of(file, e.mark), "not valid YAML: " + e.msg);
  const std::vector<std::string> lines = split_lines(text);
  const auto line = static_cast<std::size_t>(e.mark.line);
  if (!e.mark.is_null() && line < lines.size() && !trim(lines[line]).empty()) {
    error.note("the line is: " + shortened(trim(lines[line])));
    if (lines[line][0] == '\t') error.note("YAML is indented with blanks, not with tabs");
  }
  return error;
}

}  // namespace

Result<YAML::Node> parse_yaml(const std::string& text, const std::string& file) {
  YAML::Node root;
  try {
    const std::vector<YAML::Mark> documents = first_documents(text);
    if (documents.size() > 1) {
      return fail(Error::at(location_of(file, documents[1]),
                            "a config is one YAML document, but another one starts here")
                      .note("is there a '---' line, or a stray character?"));
    }
    root.reset(YAML::Load(text));
  } catch (const YAML::Exception& e) {
    return fail(syntax_error(e, text, file));
  } catch (const std::exception& e) {
    return fail(Error::at({.file = file}, std::string("not valid YAML: ") + e.what()));
  }
  if (root.IsNull()) {
    return fail(Error::at({.file = file, .line = 1, .column = 1}, "the config is empty")
                    .note("it needs the keys 'model' and 'compilation'"));
  }
  return root;
}

NodeKind kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return kind_of_scalar(node);
    case YAML::NodeType::Sequence:
      return NodeKind::kList;
    case YAML::NodeType::Map:
      return NodeKind::kMap;
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      break;
  }
  return NodeKind::kNull;
}

std::string describe(const YAML::Node& node) {
  switch (kind_of(node)) {
    case NodeKind::kNull:
      return "null";
    case NodeKind::kText:
      return fmt::format("the string '{}'", shortened(node.Scalar()));
    case NodeKind::kInteger:
    case NodeKind::kFloat:
      return "the number " + shortened(node.Scalar());
    case NodeKind::kBool:
      return node.Scalar();
    case NodeKind::kList:
      return "a list";
    case NodeKind::kMap:
      return "a map";
    case NodeKind::kOther:
      break;
  }
  return fmt::format("a value with the tag '{}'", node.Tag());
}

}  // namespace tfaot::config
