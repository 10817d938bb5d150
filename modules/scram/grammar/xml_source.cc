// SPDX-License-Identifier: Apache-2.0
#include "grammar/xml_source.h"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kBefore = "<root>";
constexpr std::string_view kAfter = "</root>";
constexpr int kMostNested = 500;
constexpr int kMostElements = 5000;
constexpr std::size_t kMostAttributes = 100;  // of an element

struct SyntaxFault {
  std::size_t place = 0;  // in the text
  std::string what;
  std::string advice;
  std::string scram = "stops with a Python traceback: it cannot parse the file";
};

// A start tag from its '<' up to `end`, or to its '>'.
struct StartTag {
  std::vector<std::string> names;  // of the element and of its attributes
  bool is_open = true;             // it has no '>'
  bool is_in_value = false;        // where it ends
};

StartTag read_tag(std::string_view text, std::size_t start, std::size_t end) {
  StartTag tag{{""}};
  char quote = 0;
  for (std::size_t at = start + 1; at < std::min(end, text.size()) && tag.is_open; ++at) {
    const char c = text[at];
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote == 0 && c == '>') {
      tag.is_open = false;
    } else if (quote == 0 && (c == '=' || c == '/' || kBlanks.find(c) != std::string_view::npos)) {
      if (!tag.names.back().empty()) tag.names.emplace_back();
    } else if (quote == 0) {
      tag.names.back() += c;
    }
  }
  if (tag.names.back().empty()) tag.names.pop_back();
  tag.is_in_value = quote != 0;
  return tag;
}

// True if the text has no such character there: it is not UTF-8, or XML does not allow it.
bool is_no_character(std::string_view rest) {
  const bool is_control = static_cast<unsigned char>(rest[0]) < 0x20;
  return is_control || utf8_character(rest) == 0 || rest.starts_with("\xEF\xBF\xBE") ||
         rest.starts_with("\xEF\xBF\xBF");
}

// The name of the attribute that the tag has twice.
std::string repeated_name(const StartTag& tag) {
  for (auto name = tag.names.begin() + 1; name < tag.names.end(); ++name) {
    if (std::find(tag.names.begin() + 1, name, *name) != name) return *name;
  }
  return "";
}

// Names what expat calls an invalid token, by what is at that place.
SyntaxFault token_fault(const std::string& text, std::size_t at) {
  const std::string_view before = std::string_view(text).substr(0, at);
  const auto last = [&](std::string_view word) { return before.rfind(word); };
  const auto is_last = [&](std::string_view word, std::string_view end) {
    return last(word) != std::string::npos && before.find(end, last(word)) == std::string::npos;
  };
  if (at < text.size() && is_no_character(std::string_view(text).substr(at))) {
    return {at,
            fmt::format("the byte 0x{:02x} is not text",
                        static_cast<unsigned>(static_cast<unsigned char>(text[at]))),
            "save the file as UTF-8, without control characters"};
  }
  if (before.ends_with("--") && is_last("<!--", "-->")) {
    return {at, "'--' inside of a comment", "write '-', or end the comment there"};
  }
  if (text.substr(at - std::min<std::size_t>(at, 2), 5).find("]]>") != std::string::npos) {
    return {at, "']]>' outside of a <![CDATA[", "write ]]&gt;"};
  }
  if (before.ends_with("<!")) {
    return {at, "<!DOCTYPE ...> does not belong in a scram file", "remove the line"};
  }
  if (is_last("<?", "?>") && lower_case(text.substr(last("<?") + 2, 3)) == "xml") {
    return {at, "<?xml ...> does not belong in a scram file", "remove the line"};
  }
  if (is_last("&", ";") && before.find_first_of(" \t\r\n<>\"'", last("&")) == std::string::npos) {
    return {at, "a '&' that does not start an entity", "write &amp;"};
  }
  if (last("<") != std::string::npos && at < text.size()) {
    const StartTag tag = read_tag(text, last("<"), at);
    if (tag.is_in_value && text[at] == '<') return {at, "a '<' in a value", "write &lt;"};
    const std::string rest = text.substr(at, text.find_first_of(" \t\r\n=/><\"'", at) - at);
    if (tag.is_open && (before.back() == '"' || before.back() == '\'') && !rest.empty()) {
      return {at, fmt::format("no space before the attribute '{}'", rest), "write one"};
    }
  }
  return {at, "", ""};
}

SyntaxFault fault_of(const std::string& text, XML_Error error, std::size_t at) {
  const StartTag tag = read_tag(text, text.rfind('<', at), text.size());
  SyntaxFault fault{at, "", ""};
  switch (error) {
    case XML_ERROR_INVALID_TOKEN:
    case XML_ERROR_MISPLACED_XML_PI:
      fault = token_fault(text, error == XML_ERROR_INVALID_TOKEN ? at : at + 2);
      break;
    case XML_ERROR_BAD_CHAR_REF:
    case XML_ERROR_UNDEFINED_ENTITY:
      fault = {at, "a '&' that does not start an entity", "write &amp;"};
      break;
    case XML_ERROR_DUPLICATE_ATTRIBUTE:
      fault = {
          at,
          fmt::format("<{}> has the attribute '{}' twice", tag.names.front(), repeated_name(tag)),
          "keep one of them"};
      break;
    case XML_ERROR_UNBOUND_PREFIX:
      for (const std::string& name : tag.names) {
        if (name.find(':') == std::string::npos || name.starts_with("xml")) continue;
        fault = {at, fmt::format("'{}' has a prefix that nothing declares", name.substr(0, 40)),
                 "write it without ':'"};
        break;
      }
      break;
    default:
      break;
  }
  if (!fault.what.empty()) return fault;
  return {at, "not valid XML", std::string("correct it: ") + XML_ErrorString(error)};
}

// The parser that Python has, fed as scram does it. It also stops at our limits.
class ScramParser {
 public:
  explicit ScramParser(const std::string& text) : text_(text) {}

  std::optional<SyntaxFault> first_fault() {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), &ScramParser::on_start, &ScramParser::on_end);
    const bool whole = feed(kBefore) && feed(text_) && feed(kAfter) &&
                       XML_Parse(parser_.get(), nullptr, 0, XML_TRUE) == XML_STATUS_OK;
    if (whole || fault_) return fault_;
    return fault_of(text_, XML_GetErrorCode(parser_.get()), place());
  }

 private:
  bool feed(std::string_view bytes) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
      const auto size = static_cast<int>(std::min(kPiece, bytes.size()));
      if (XML_Parse(parser_.get(), bytes.data(), size, XML_FALSE) != XML_STATUS_OK) return false;
    }
    return true;
  }
  // In the text.
  std::size_t place() const {
    const auto index = static_cast<std::size_t>(XML_GetCurrentByteIndex(parser_.get()));
    return std::min(std::max(index, kBefore.size()) - kBefore.size(), text_.size());
  }
  void stop(SyntaxFault fault) {
    fault_ = std::move(fault);
    XML_StopParser(parser_.get(), XML_FALSE);
  }
  static void on_start(void* user, const char*, const char** attributes) {
    auto& self = *static_cast<ScramParser*>(user);
    if (self.depth_++ == 0) return;  // <root>
    const std::size_t place = self.place();
    const std::size_t end =
        place + static_cast<std::size_t>(XML_GetCurrentByteCount(self.parser_.get()));
    std::size_t count = 0;
    while (attributes[2 * count] != nullptr) ++count;
    if (++self.elements_ > kMostElements) {
      self.stop({place, fmt::format("more than {} elements", kMostElements), "write fewer"});
    } else if (count > kMostAttributes) {
      self.stop({place, fmt::format("more than {} attributes", kMostAttributes), "write fewer"});
    } else if (self.depth_ > kMostNested + 1 &&
               !std::string_view(self.text_).substr(0, end).ends_with("/>")) {
      self.stop({place, fmt::format("elements nested more than {} deep", kMostNested),
                 "nest them less", "stops with a RecursionError of Python at about twice as many"});
    }
  }
  static void on_end(void* user, const char*) { --static_cast<ScramParser*>(user)->depth_; }

  const std::string& text_;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_{
      XML_ParserCreateNS("UTF-8", '}'), &XML_ParserFree};
  int depth_ = 0;
  int elements_ = 0;
  std::optional<SyntaxFault> fault_;
};

}  // namespace

int XmlSource::line_at(std::ptrdiff_t offset) const {
  if (offset < 0) return 0;
  const auto end = std::ranges::lower_bound(line_ends_, offset);
  return static_cast<int>(end - line_ends_.begin()) + 1;
}

std::optional<XmlFault> XmlSource::parse(const std::string& text) {
  line_ends_.clear();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    line_ends_.push_back(static_cast<std::ptrdiff_t>(at));
  }
  if (const auto fault = ScramParser(text).first_fault()) {
    const int line = line_at(static_cast<std::ptrdiff_t>(fault->place));
    return XmlFault{line, fault->what, fault->scram, fault->advice};
  }
  const pugi::xml_parse_result parsed = document_.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (parsed) return std::nullopt;
  return XmlFault{line_at(parsed.offset), "not valid XML", SyntaxFault().scram,
                  std::string("correct it: ") + parsed.description()};
}

}  // namespace tfaot::toolkit
