// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/include_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "tfaot/base/text.h"

namespace tfaot::toolkit::architecture {
namespace {

using Rooms = std::set<std::string>;

// Whose public headers a room may include. Calls go down this table; two rooms that do work meet
// only in workflow.
const std::map<std::string, Rooms> kRooms = {
    {"base", {}},
    // Of the runtime: the element types, which users have, too. Of kernels: the table of levels.
    {"records", {"base", "runtime", "kernels"}},
    {"report", {"base"}},
    {"elf", {"base"}},
    {"sign", {"base"}},
    {"config", {"base", "records"}},
    {"compile", {"base", "records", "config", "elf"}},
    {"remote", {"base", "records"}},
    {"engine", {"base", "records", "elf", "arrays", "kernels", "remote"}},
    {"convert", {"base", "records", "compile", "elf"}},
    {"scram", {"base", "records", "elf"}},
    {"generate", {"base", "records", "scram"}},
    {"package", {"base", "records"}},
    {"install", {"base", "records", "scram"}},
    // The plan is arithmetic that the tool must do in the same way.
    {"tune", {"base", "records", "runtime"}},
    // The runtime runs what is loaded.
    {"load", {"base", "records", "runtime"}},
    {"profile", {"base", "records"}},
    {"arrays", {"base", "records"}},
    {"release", {"base", "records"}},
    {"inspect", {"base", "records"}},
    {"workflow",
     {"base", "records", "elf", "config", "compile", "convert", "generate", "package", "install",
      "tune", "load", "profile", "arrays", "release", "inspect", "scram", "sign"}},
    // Of tune, profile, arrays and inspect: what is printed. Of scram: its hook, which is the work
    // of that room alone.
    {"cli",
     {"base", "records", "report", "workflow", "tune", "profile", "arrays", "inspect", "scram"}},
    {"tfcompile", {"base", "records", "workflow", "cli"}},
    {"python", {"base", "records", "load", "workflow"}},
    // A program that holds one engine; what it does for packages is the work of load.
    {"runner", {"base", "records", "load", "runtime"}},
    {"runtime", {}},
    // How a kernel hands out pieces of its work.
    {"kernels", {"runtime"}},
    {"cmssw", {"runtime"}},
};

// Rooms split into folders, below src or own where they have it: files of a folder may include
// those of folders before it, and of their own.
const std::map<std::string, std::vector<std::string>> kFolders = {
    // The front end gives HLO, weights and claims on rows to the compiler, which includes none of
    // it.
    {"engine",
     {"compiler/hlo", "compiler/kernels", "compiler/rows", "compiler/cost", "compiler/code",
      "front/lowering", "front/graph", "front/onnx", "front/stablehlo", "front", "inspect"}},
    {"kernels", {"simd", "products", "convolutions", "rows", "recurrent", "places", "trees"}},
    {"scram", {"grammar", "buildfile", "toolfile", "hook"}},
    {"cli", {"text", "options", "pages", "commands"}},
};

const Rooms kTools = {"base",    "records",  "report",  "elf",       "config",
                      "compile", "convert",  "engine",  "generate",  "package",
                      "install", "tune",     "load",    "arrays",    "release",
                      "scram",   "workflow", "cli",     "tfcompile", "python",
                      "remote",  "inspect",  "profile", "runner",    "sign"};

// Who may include a library, by the start of the header's name.
const std::vector<std::pair<std::string, Rooms>> kLibraries = {
    {"fmt/", kTools},
    {"tl/", kTools},
    {"nlohmann/", {"records", "cli", "python"}},  // json_text.h of records is for the others
    {"regex", {"base"}},                          // Pattern of base is for the others
    {"uv.h", {"base"}},
    {"openssl/", {"base"}},
    {"httplib.h", {"remote"}},
    {"sodium.h", {"sign"}},
    {"yaml-cpp/", {"config"}},
    {"elf.h", {"elf"}},
    {"libelf.h", {"elf"}},
    {"gelf.h", {"elf"}},
    {"expat.h", {"scram"}},
    {"pugixml.hpp", {"scram"}},
    {"kainjow/", {"base"}},
    {"archive.h", {"package"}},
    {"archive_entry.h", {"package"}},
    {"CLI/", {"cli"}},
    {"PhysicsTools/", {"cmssw"}},
    {"onnx-ml.pb.h", {"engine"}},
    {"tensorflow/", {"cmssw", "engine", "runner"}},
    {"llvm/", {"engine"}},
    {"google/protobuf/", {"engine"}},
    {"Python.h", {"python"}},
    {"cpuid.h", {"runtime"}},
    // A C header, and what loads libraries at run time.
    {"stddef.h", {"runtime"}},
    {"stdint.h", {"runtime"}},
    {"dlfcn.h", {"convert", "engine", "load", "runner", "runtime"}},
    {"string.h", {"install", "runtime"}},
    {"sys/auxv.h", {"runtime"}},
    {"sys/syscall.h", {"base", "runtime"}},
    {"xla/", {"engine"}},
    {"tsl/", {"engine"}},
    {"absl/", {"engine"}},
    {"Eigen/", {"engine"}},
    {"*intrin.h", {"kernels"}},
};

const std::regex kInclude(R"re(^\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")?.*)re");
const std::regex kStandardHeader("[a-z_0-9]+");
const std::regex kSystemHeader(
    "sys/"
    "[a-z]+\\.h|(unistd|fcntl|pwd|signal|poll|sched|string|termios|errno|dlfcn|link|malloc)\\.h");

std::string room_of(std::string_view path) {
  const std::size_t start = std::string_view("modules/").size();
  return std::string(path.substr(start, path.find('/', start) - start));
}

// A pattern of kLibraries: a header, "folder/", or "*end".
bool fits(std::string_view header, std::string_view pattern) {
  if (pattern.front() == '*') return header.ends_with(pattern.substr(1));
  return pattern.back() == '/' ? header.starts_with(pattern) : header == pattern;
}

std::string list_of(const Rooms& rooms) {
  return join(std::vector<std::string>(rooms.begin(), rooms.end()), ", ");
}

class Checker {
 public:
  explicit Checker(const SourceTree& tree) {
    for (const SourceFile& file : tree) paths_.insert(file.path);
  }

  // What is wrong with one include line, if anything.
  std::optional<std::string> problem(const SourceFile& file, const std::string& line) const {
    std::smatch match;
    if (line.find('#') == std::string::npos) return std::nullopt;  // for speed
    if (!std::regex_match(line, match, kInclude)) return std::nullopt;
    const std::string header = match[1].matched ? match[1].str() : match[2].str();
    if (header.empty()) return "an #include that names no file cannot be checked";
    // No file of ours has such a name: the line stops the compiler (runtime/detail/abi.h).
    if (match[2].matched && header.find(' ') != std::string::npos) return std::nullopt;
    const std::string room = room_of(file.path);
    if (header.starts_with("tfaot/")) return problem_of_room(room, header.substr(6));
    for (const auto& [pattern, rooms] : kLibraries) {
      if (!fits(header, pattern)) continue;
      if (rooms.contains(room)) return std::nullopt;
      return fmt::format("'{}' may not include <{}>; only {} may", room, header, list_of(rooms));
    }
    if (match[2].matched) return problem_of_private(file, header);
    if (std::regex_match(header, kStandardHeader)) return std::nullopt;
    if (std::regex_match(header, kSystemHeader)) {
      if (kTools.contains(room)) return std::nullopt;
      return fmt::format("'{}' may include standard headers only, not <{}>", room, header);
    }
    return fmt::format("<{}> is of no known library: give it a room in {}", header,
                       "include_rules.cc");
  }

 private:
  std::optional<std::string> problem_of_room(const std::string& room,
                                             const std::string& header) const {
    const std::string other = header.substr(0, header.find('/'));
    if (!kRooms.contains(other)) return fmt::format("'{}' is not a room", other);
    const std::string folder = other == "kernels" ? "kernels/abi" : other;
    if (!paths_.contains(fmt::format("modules/{}/include/tfaot/{}", folder, header))) {
      return fmt::format("room '{}' has no public header {}", other, header);
    }
    const Rooms& uses = kRooms.at(room);
    if (other == room || uses.contains(other)) return std::nullopt;
    return fmt::format("'{}' may not include tfaot/{}", room, header);
  }

  // A header in the same folder, or named from the room's own folder; templates of generated
  // headers count.
  std::optional<std::string> problem_of_private(const SourceFile& file,
                                                const std::string& header) const {
    const std::string room = room_of(file.path);
    const std::string beside = file.path.substr(0, file.path.rfind('/') + 1);
    for (const std::string& folder :
         {beside, fmt::format("modules/{}/", room), fmt::format("modules/{}/src/", room),
          fmt::format("modules/{}/own/", room)}) {
      if (header.find("..") != std::string::npos) break;
      if (paths_.contains(folder + header) || paths_.contains(folder + header + ".in")) {
        return problem_of_folder(file.path, folder + header);
      }
    }
    return fmt::format("\"{}\" is not a header of room '{}'", header, room);
  }

  // Within a room that is split into folders.
  static std::optional<std::string> problem_of_folder(const std::string& path,
                                                      const std::string& header) {
    const auto folders = kFolders.find(room_of(path));
    if (folders == kFolders.end()) return std::nullopt;
    const auto place = [&](const std::string& file) {
      std::size_t start = file.find('/', std::string_view("modules/").size()) + 1;
      for (const char* const below : {"src/", "own/"}) {
        if (file.compare(start, 4, below) == 0) start += 4;
      }
      return std::ranges::find_if(folders->second, [&](const std::string& folder) {
        return file.compare(start, folder.size() + 1, folder + '/') == 0;
      });
    };
    if (place(header) <= place(path)) return std::nullopt;
    return fmt::format("folder '{}' of '{}' may not include \"{}\"", *place(path), folders->first,
                       header.substr(header.find('/', std::string_view("modules/").size()) + 1));
  }

  std::set<std::string> paths_;
};

}  // namespace

Violations check_includes(const SourceTree& tree) {
  Violations violations;
  Rooms unseen;
  for (const auto& [room, uses] : kRooms) unseen.insert(room);
  const Checker checker(tree);
  for (const SourceFile& file : tree) {
    if (!file.path.starts_with("modules/") || !is_cpp(file.path)) continue;
    const std::string room = room_of(file.path);
    unseen.erase(room);
    if (!kRooms.contains(room)) {
      violations.push_back(fmt::format("{}: room '{}' is not in the table", file.path, room));
      continue;
    }
    if (file.path.starts_with(fmt::format("modules/{}/include/", room)) &&
        !file.path.starts_with(fmt::format("modules/{}/include/tfaot/{}/", room, room))) {
      violations.push_back(fmt::format("{}: public headers of '{}' belong below include/tfaot/{}",
                                       file.path, room, room));
    }
    const auto lines = split_lines(file.text);
    const auto code = split_lines(without_comments_and_literals(file.text));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (code[i].find("include") == std::string::npos) continue;
      if (const auto problem = checker.problem(file, lines[i])) {
        violations.push_back(fmt::format("{}:{}: {}", file.path, i + 1, *problem));
      }
    }
  }
  for (const std::string& room : unseen) {
    violations.push_back(fmt::format("modules: room '{}' of the table has no sources", room));
  }
  return violations;
}

}  // namespace tfaot::toolkit::architecture
