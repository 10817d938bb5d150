// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/source_tree.h"

#include <fmt/format.h>

#include <cctype>

#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::architecture {
namespace {

bool is_source(const std::string& path, std::string_view text) {
  return is_cpp(path) || is_cmake(path) || path.ends_with(".inc") || path.ends_with(".sh") ||
         path.ends_with(".py") || text.starts_with("#!");
}

}  // namespace

const SourceTree& project() {
  static const SourceTree tree = read_sources(RealFileSystem(), TFAOT_SOURCE_DIR).value();
  return tree;
}

bool is_cpp(std::string_view path) {
  for (const std::string_view end : {".cc", ".h", ".def", ".cc.in", ".h.in"}) {
    if (path.ends_with(end)) return true;
  }
  return false;
}

bool is_cmake(std::string_view path) {
  return path.ends_with("CMakeLists.txt") || path.ends_with(".cmake") ||
         path.ends_with(".cmake.in");
}

Result<SourceTree> read_sources(const FileSystem& fs, const Path& project) {
  std::vector<std::string> paths = {"CMakeLists.txt"};
  for (const std::string_view folder : kProjectFolders) {
    if (fs.kind(project / folder) == FileKind::kMissing) continue;
    TFAOT_ASSIGN(const auto files, list_files_recursively(fs, project / folder));
    for (const std::string& file : files) {
      std::string path = fmt::format("{}/{}", folder, file);
      if (!path.starts_with("tests/golden/")) paths.push_back(std::move(path));
    }
  }
  SourceTree sources;
  for (const std::string& path : paths) {
    TFAOT_ASSIGN(std::string text, fs.read(project / path));
    if (is_source(path, text)) sources.push_back({path, std::move(text)});
  }
  return sources;
}

std::string without_comments_and_literals(std::string_view cpp) {
  std::string code;
  const auto blank_until = [&](std::string_view end, std::size_t from) {
    std::size_t stop = cpp.find(end, from);
    stop = stop == std::string_view::npos ? cpp.size() : stop + end.size();
    for (const char c : cpp.substr(code.size(), stop - code.size())) code += c == '\n' ? c : ' ';
  };
  while (code.size() < cpp.size()) {
    const std::size_t at = code.size();
    const std::string_view rest = cpp.substr(at);
    const bool after_word = at > 0 && (std::isalnum(static_cast<unsigned char>(cpp[at - 1])) != 0 ||
                                       cpp[at - 1] == '_');
    if (rest.starts_with("//")) {
      blank_until("\n", at);
    } else if (rest.starts_with("/*")) {
      blank_until("*/", at + 2);
    } else if (rest.starts_with("R\"") && rest.find('(') != std::string_view::npos && !after_word) {
      const std::string_view mark = rest.substr(2, rest.find('(') - 2);
      blank_until(")" + std::string(mark) + "\"", at);
    } else if (rest[0] == '"' || (rest[0] == '\'' && !after_word)) {  // 1'000 is no literal
      std::size_t end = 1;
      while (end < rest.size() && rest[end] != rest[0] && rest[end] != '\n') {
        end += rest[end] == '\\' ? 2 : 1;
      }
      blank_until(end < rest.size() ? rest.substr(end, 1) : "\n", at + end);
    } else {
      code += rest[0];
    }
  }
  return code;
}

}  // namespace tfaot::toolkit::architecture
