// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/page_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tfaot/base/text.h"

namespace tfaot::toolkit::architecture {
namespace {

constexpr std::size_t kColumns = 100;

struct Phrase {
  std::string_view words;
  std::string_view better;
};
constexpr std::array<Phrase, 6> kPhrases = {{
    {"for who ", "'if you ...'"},
    {"is no ", "'is not a ...'"},
    {"of others", "name whose"},
    {"goes again", "'is removed'"},
    {" anew", "'again'"},
    {"by the clock", "'wall time'"},
}};
// Plain English that contains "is no ".
constexpr std::array<std::string_view, 3> kFine = {"there is no ", "There is no ", "is no longer"};

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // not the rest of a UTF-8 letter
  }));
}

bool is_list_item(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return true;
  std::size_t digits = 0;
  while (digits < line.size() && std::isdigit(static_cast<unsigned char>(line[digits])) != 0) {
    ++digits;
  }
  return digits > 0 && line.substr(digits).starts_with(". ");
}

std::string without_fine_words(std::string line) {
  for (const std::string_view fine : kFine) line = replace_all(std::move(line), fine, "");
  return line;
}

class Page {
 public:
  Page(const SourceFile& file, Violations& violations) : file_(file), violations_(violations) {}

  void check() {
    for (const std::string& line : split_lines(file_.text)) {
      ++number_;
      if (line.starts_with("<!-- ") && line.ends_with(": begin -->")) generated_ = true;
      if (line.starts_with("<!-- ") && line.ends_with(": end -->")) generated_ = false;
      if (!generated_) check_line(line);
      before_ = line;
    }
  }

 private:
  void check_line(const std::string& line) {
    const auto text = line.find_first_not_of(' ');
    const bool is_fence = text != std::string::npos && line.compare(text, 3, "```") == 0;
    if (is_fence) {
      console_ = !code_ && line.compare(text, 10, "```console") == 0;
      code_ = !code_;
      return;
    }
    const bool has_link =
        line.find("](") != std::string::npos || line.find("://") != std::string::npos;
    if (columns(line) > kColumns && !line.starts_with("|") && !has_link && !(code_ && console_)) {
      report(fmt::format("{} columns, at most {} are allowed: wrap it", columns(line), kColumns));
    }
    if (code_) return;
    const std::string words = without_fine_words(line);
    for (const Phrase& phrase : kPhrases) {
      if (words.find(phrase.words) == std::string::npos) continue;
      report(fmt::format("'{}' is not plain English: {}", phrase.words, phrase.better));
    }
    const bool goes_on = before_.empty() || before_.starts_with(" ") || is_list_item(before_);
    if (is_list_item(line) && !goes_on) report("a list needs an empty line before it");
  }

  void report(const std::string& what) {
    violations_.push_back(fmt::format("{}:{}: {}", file_.path, number_, what));
  }

  const SourceFile& file_;
  Violations& violations_;
  int number_ = 0;
  bool code_ = false;
  bool console_ = false;
  bool generated_ = false;
  std::string before_;
};

// Of a code span: a path below one of the project's folders, and not a pattern or a command.
bool is_path(std::string_view span) {
  const std::string_view folder = span.substr(0, span.find('/'));
  const bool is_ours = folder.size() < span.size() &&
                       std::count(kProjectFolders.begin(), kProjectFolders.end(), folder) > 0;
  return is_ours && std::all_of(span.begin(), span.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
         });
}

bool is_page(const std::string& path) { return path.ends_with(".md"); }

}  // namespace

Result<SourceTree> read_pages(const FileSystem& fs, const Path& project) {
  SourceTree pages;
  for (const std::string folder : {"", "docs/"}) {
    TFAOT_ASSIGN(const auto names, fs.list(project / folder));
    for (const std::string& name : names) {
      if (!is_page(name)) continue;
      TFAOT_ASSIGN(std::string text, fs.read(project / folder / name));
      pages.push_back({folder + name, std::move(text)});
    }
  }
  return pages;
}

Violations check_pages(const SourceTree& pages) {
  Violations violations;
  for (const SourceFile& page : pages) Page(page, violations).check();
  return violations;
}

Violations check_page_paths(const FileSystem& fs, const Path& project, const SourceTree& pages) {
  Violations violations;
  for (const SourceFile& page : pages) {
    int number = 0;
    for (const std::string& line : split_lines(page.text)) {
      ++number;
      auto begin = line.find('`');
      while (begin != std::string::npos) {
        const auto end = line.find('`', begin + 1);
        if (end == std::string::npos) break;
        const std::string span = line.substr(begin + 1, end - begin - 1);
        if (is_path(span) && fs.kind(project / span) == FileKind::kMissing) {
          violations.push_back(fmt::format("{}:{}: there is no '{}'", page.path, number, span));
        }
        begin = line.find('`', end + 1);
      }
    }
  }
  return violations;
}

}  // namespace tfaot::toolkit::architecture
