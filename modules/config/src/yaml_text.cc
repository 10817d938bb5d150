// SPDX-License-Identifier: Apache-2.0
#include "yaml_text.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "problems.h"
#include "tfaot/base/pattern.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::config {
namespace {

constexpr std::size_t kMaxShown = 60;

std::string shortened(const std::string& text) { return shown(text, kMaxShown); }

// Nothing if every byte is allowed in a YAML file.
std::optional<Error> character_error(const std::string& text, const std::string& file,
                                     const DocumentName& name) {
  const auto error_at = [&](std::size_t at, const char* fault) {
    const auto line = line_at(text, static_cast<std::ptrdiff_t>(at));
    return Error::at({.file = file, .line = line}, fmt::format("{} {}", name.what, fault))
        .note(fmt::format("the byte is 0x{:02X}", static_cast<unsigned char>(text[at])));
  };
  if (const std::size_t at = first_non_utf8(text); at != std::string::npos) {
    return error_at(at, "is not UTF-8 here").note("save the file as UTF-8");
  }
  const auto control = std::find_if(text.begin(), text.end(), [](char c) {
    return (c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == '\x7f';
  });
  if (control == text.end()) return std::nullopt;
  return error_at(static_cast<std::size_t>(control - text.begin()),
                  "holds a control character here, which YAML does not allow")
      .note("remove it");
}

// True if the quoted text that begins at `start` is closed.
bool is_closed(std::string_view text, std::size_t start) {
  const char quote = text[start];
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool doubled = quote == '\'' && text.substr(i + 1, 1) == "'";
      if (!doubled) return true;
      ++i;
    }
  }
  return false;
}

// Where the value itself begins, after its tag and anchor ("!!str &a 'text'").
std::size_t value_start(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '!' || text[at] == '&')) {
    at = std::min(text.find_first_of(" \t\r\n", at), text.size());
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  }
  return at;
}

YamlKind kind_of_plain(const std::string& text) {
  static const Pattern integer(R"([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)");
  static const Pattern number(
      R"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))");
  static const Pattern boolean("true|True|TRUE|false|False|FALSE");
  if (text.size() > 1000) return YamlKind::kText;  // the matcher's recursion grows with the text
  if (integer.matches(text)) return YamlKind::kInteger;
  if (number.matches(text)) return YamlKind::kFloat;
  if (boolean.matches(text)) return YamlKind::kBool;
  return YamlKind::kText;
}

YamlKind kind_of_scalar(const YAML::Node& node) {
  const std::string& tag = node.Tag();
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return YamlKind::kText;  // "!": it is quoted
  if (tag.empty() || tag == "?" || tag == "tag:yaml.org,2002:int") {
    return kind_of_plain(node.Scalar());
  }
  return YamlKind::kOther;
}

// Records where documents start, and finds a quoted text without an end: yaml-cpp ends it at the
// end of the file.
class DocumentMarks final : public YAML::EventHandler {
 public:
  // REQUIRES: the text outlives this.
  explicit DocumentMarks(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // not counted in marks
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  }
  const std::vector<YAML::Mark>& marks() const { return marks_; }
  const std::optional<YAML::Mark>& open_quote() const { return open_quote_; }

  void OnDocumentStart(const YAML::Mark& mark) override { marks_.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    const std::size_t at = value_start(text_, static_cast<std::size_t>(mark.pos));
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return;
    if (!open_quote_ && !is_closed(text_, at)) open_quote_ = mark;
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  std::string_view text_;
  std::vector<YAML::Mark> marks_;
  std::optional<YAML::Mark> open_quote_;
};

// At most two: for texts like ", 4]", YAML::LoadAll() of yaml-cpp 0.7 finds documents without end.
void read_first_documents(const std::string& text, DocumentMarks& documents) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  while (documents.marks().size() < 2 && parser.HandleNextDocument(documents)) {
  }
}

Error open_quote_error(const YAML::Mark& mark, const std::string& file) {
  return Error::at(location_of(file, mark), "not valid YAML: this quote is never closed")
      .note("write the same quote at the end of the text");
}

Error syntax_error(const YAML::Exception& e, const std::string& text, const std::string& file) {
  // Its own message would be "bad file".
  const bool deep = dynamic_cast<const YAML::DeepRecursion*>(&e) != nullptr;
  Error error = Error::at(location_of(file, e.mark),
                          "not valid YAML: " + (deep ? "nested too deeply" : e.msg));
  const std::vector<std::string> lines = split_lines(text);
  const auto line = static_cast<std::size_t>(e.mark.line);
  if (!e.mark.is_null() && line < lines.size() && !trim(lines[line]).empty()) {
    error.note("the line is: " + shortened(trim(lines[line])));
    if (lines[line][0] == '\t') error.note("YAML is indented with spaces, not with tabs");
  }
  return error;
}

}  // namespace

Result<YAML::Node> parse_yaml(const std::string& text, const std::string& file,
                              const DocumentName& name) {
  if (auto error = character_error(text, file, name)) return fail(*std::move(error));
  YAML::Node root;
  DocumentMarks documents(text);
  try {
    read_first_documents(text, documents);
    if (documents.open_quote()) return fail(open_quote_error(*documents.open_quote(), file));
    if (documents.marks().size() > 1) {
      return fail(
          Error::at(location_of(file, documents.marks()[1]),
                    fmt::format("{} is one YAML document, but another one starts here", name.what))
              .note("is there a '---' line, or a stray character?"));
    }
    root.reset(YAML::Load(text));
  } catch (const YAML::Exception& e) {
    if (documents.open_quote()) return fail(open_quote_error(*documents.open_quote(), file));
    return fail(syntax_error(e, text, file));
  } catch (const std::exception& e) {
    return fail(Error::at({.file = file}, std::string("not valid YAML: ") + e.what()));
  }
  if (root.IsNull()) {
    return fail(
        Error::at({.file = file, .line = 1, .column = 1}, fmt::format("{} is empty", name.what))
            .note(name.needs));
  }
  return root;
}

YamlKind kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return kind_of_scalar(node);
    case YAML::NodeType::Sequence:
      return YamlKind::kList;
    case YAML::NodeType::Map:
      return YamlKind::kMap;
    case YAML::NodeType::Null:
    case YAML::NodeType::Undefined:
      break;
  }
  return YamlKind::kNull;
}

std::string describe(const YAML::Node& node) {
  switch (kind_of(node)) {
    case YamlKind::kNull:
      return "null";
    case YamlKind::kText:
      return fmt::format("the string '{}'", shortened(node.Scalar()));
    case YamlKind::kInteger:
    case YamlKind::kFloat:
      return "the number " + shortened(node.Scalar());
    case YamlKind::kBool:
      return node.Scalar();
    case YamlKind::kList:
      return "a list";
    case YamlKind::kMap:
      return "a map";
    case YamlKind::kOther:
      break;
  }
  return fmt::format("a value with the tag '{}'", shortened(node.Tag()));
}

std::optional<SizeRange> size_range(const std::string& text) {
  const std::size_t mark = text.find("..");
  if (mark == std::string::npos) return std::nullopt;
  const auto smallest = parse_number<std::int64_t>(text.substr(0, mark));
  const auto largest = parse_number<std::int64_t>(text.substr(mark + 2));
  if (!smallest || !largest || *smallest < 0 || *largest < 1 || *smallest > *largest) {
    return std::nullopt;
  }
  return SizeRange{*smallest, *largest};
}

}  // namespace tfaot::toolkit::config
