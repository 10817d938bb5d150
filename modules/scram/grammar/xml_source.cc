// SPDX-License-Identifier: Apache-2.0
#include "grammar/xml_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tfaot/base/letter_case.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit {
namespace {

// What Python's parser (expat) refuses in a file of scram, but pugixml accepts.

struct SyntaxFault {
  std::size_t place = 0;  // in the text
  std::string what;
  std::string advice;
  std::string scram = "stops with a Python traceback: it cannot parse the file";
};

// Limit for elements nested in each other.
constexpr int kMostNested = 500;
constexpr int kMostElements = 5000;
constexpr std::size_t kMostAttributes = 100;  // of an element

using Fault = std::optional<SyntaxFault>;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The size of the character at `at`; 0 if it is not UTF-8, or not allowed in XML.
std::size_t character_size(const std::string& text, std::size_t at) {
  const std::string_view rest = std::string_view(text).substr(at);
  const bool is_control = static_cast<unsigned char>(rest[0]) < 0x20 && !is_blank(rest[0]);
  // expat refuses U+FFFE and U+FFFF.
  const bool is_noncharacter = rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF");
  return is_control || is_noncharacter ? 0 : utf8_character(rest);
}

Fault character_fault(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text, at);
    if (size == 0) {
      return SyntaxFault{at,
                         fmt::format("the byte 0x{:02x} is not text",
                                     static_cast<unsigned>(static_cast<unsigned char>(text[at]))),
                         "save the file as UTF-8, without control characters"};
    }
    at += size;
  }
  return std::nullopt;
}

bool is_xml_character(unsigned long code) {
  return code == 0x9 || code == 0xA || code == 0xD || (code >= 0x20 && code < 0xD800) ||
         (code >= 0xE000 && code < 0xFFFE) || (code >= 0x10000 && code <= 0x10FFFF);
}

bool is_entity(std::string_view name) {
  for (const char* known : {"amp", "lt", "gt", "quot", "apos"}) {
    if (name == known) return true;
  }
  if (name.size() < 2 || name[0] != '#') return false;
  const bool hexadecimal = name[1] == 'x';
  const std::string_view digits = name.substr(hexadecimal ? 2 : 1);
  unsigned long code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, hexadecimal ? 16 : 10);
  return error == std::errc() && end == digits.data() + digits.size() && is_xml_character(code);
}

// One pass over the text; a method returns whether it put a fault into fault_.
class Scanner {
 public:
  explicit Scanner(const std::string& text) : text_(text) {}

  Fault run() {
    while (!fault_ && at_ < text_.size()) {
      if (text_[at_] == '<') {
        read_markup();
      } else {
        read_text();
      }
    }
    return fault_;
  }

 private:
  bool starts(std::string_view word) const { return text_.compare(at_, word.size(), word) == 0; }
  void report(std::size_t place, std::string what, std::string advice) {
    if (!fault_) fault_ = SyntaxFault{place, std::move(what), std::move(advice)};
  }
  // Goes to the position after the next `end`, or to the end of the text if there is none.
  void skip_behind(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string::npos ? text_.size() : found + end.size();
  }

  void check_entity(std::size_t place) {
    const std::size_t end = text_.find(';', place);
    if (end != std::string::npos &&
        is_entity(std::string_view(text_).substr(place + 1, end - place - 1))) {
      return;
    }
    report(place, "a '&' that does not start an entity", "write &amp;");
  }

  void read_text() {
    if (text_[at_] == '&') check_entity(at_);
    if (starts("]]>")) report(at_, "']]>' outside of a <![CDATA[", "write ]]&gt;");
    ++at_;
  }

  void read_markup() {
    if (starts("<!--")) {
      read_comment();
    } else if (starts("<![CDATA[")) {
      skip_behind("]]>");
    } else if (starts("<!")) {
      report(at_, "<!DOCTYPE ...> does not belong in a scram file", "remove the line");
    } else if (starts("<?")) {
      read_instruction();
    } else if (starts("</")) {
      --depth_;
      skip_behind(">");
    } else {
      read_tag();
    }
  }

  void read_comment() {
    const std::size_t dashes = text_.find("--", at_ + 4);
    if (dashes != std::string::npos && text_.compare(dashes, 3, "-->") != 0) {
      report(dashes, "'--' inside of a comment", "write '-', or end the comment there");
    }
    at_ = dashes == std::string::npos ? text_.size() : dashes + 3;
  }

  void read_instruction() {
    const std::size_t end = text_.find_first_of(" \t\r\n?", at_ + 2);
    const std::size_t size = end == std::string::npos ? end : end - at_ - 2;
    if (lower_case(text_.substr(at_ + 2, size)) == "xml") {
      report(at_, "<?xml ...> does not belong in a scram file", "remove the line");
    }
    skip_behind("?>");
  }

  std::string read_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && !is_blank(text_[at_]) &&
           std::string_view("=/><\"'").find(text_[at_]) == std::string_view::npos) {
      ++at_;
    }
    std::string name = text_.substr(start, at_ - start);
    if (name.find(':') != std::string::npos && !name.starts_with("xml:") &&
        !name.starts_with("xmlns:")) {
      report(start, fmt::format("'{}' has a prefix that nothing declares", name.substr(0, 40)),
             "write it without ':'");
    }
    return name;
  }

  void read_tag() {
    const std::size_t start = at_++;
    if (++elements_ > kMostElements) {
      report(start, fmt::format("more than {} elements", kMostElements), "write fewer");
    }
    const std::string element = read_name();
    std::set<std::string> names;
    while (!fault_ && at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/') {
      if (is_blank(text_[at_])) {
        ++at_;
        continue;
      }
      const std::size_t place = at_;
      const std::string name = read_name();
      if (name.empty()) return skip_behind(">");  // pugixml reports it
      if (!names.insert(name).second) {
        report(start, fmt::format("<{}> has the attribute '{}' twice", element, name),
               "keep one of them");
      } else if (!is_blank(text_[place - 1])) {
        report(place, fmt::format("no space before the attribute '{}'", name), "write one");
      } else if (names.size() > kMostAttributes) {
        report(start, fmt::format("more than {} attributes", kMostAttributes), "write fewer");
      }
      if (!read_value()) return skip_behind(">");
    }
    if (at_ < text_.size() && text_[at_] == '>' && ++depth_ > kMostNested) {
      report(start, fmt::format("elements nested more than {} deep", kMostNested),
             "nest them less");
      if (fault_->place == start) {
        fault_->scram = "stops with a RecursionError of Python at about twice as many";
      }
    }
    skip_behind(">");
  }

  // Reads ="..."; false if there is none.
  bool read_value() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ == text_.size() || text_[at_] != '=') return false;
    ++at_;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return false;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string::npos) return false;
    for (++at_; at_ < end; ++at_) {
      if (text_[at_] == '&') check_entity(at_);
      if (text_[at_] == '<') report(at_, "a '<' in a value", "write &lt;");
    }
    ++at_;
    return true;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int elements_ = 0;
  Fault fault_;
};

// The first fault. Faults that both refuse, such as a tag without an end, are left to pugixml.
std::optional<SyntaxFault> first_syntax_fault(const std::string& text) {
  Fault scanned = Scanner(text).run();
  Fault character = character_fault(text);
  if (!character || (scanned && scanned->place < character->place)) return scanned;
  return character;
}

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
  if (const auto fault = first_syntax_fault(text)) {
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
