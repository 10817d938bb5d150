// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/dump_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tfaot/base/pattern.h"

namespace tfaot::toolkit {
namespace {

// "module_0004.cluster_0.0012.simplification.after_a.before_b.hlo.pb";
// "tfaot.0002.simplified.hlo.pb"
const Pattern kTheirFile(
    R"((?:\d+\.)?(module_\d+)\.(.+?)\.((?:\d{4}\..+)|[^.]+)\.(hlo\.pb|txt|ll))");
const Pattern kTheirObject(R"((?:\d+\.)?(module_\d+)\.(.+)\.o)");
const Pattern kOurFile(R"(tfaot\.(\d{4})\.(.+)\.hlo\.pb)");
constexpr const char* kOurModule = "tfaot";
constexpr std::string_view kBuffersEnd = "-buffer-assignment";

// Where a stage is in the order of the work: our steps, XLA's input, its passes, its result.
enum class Phase { kOurs, kInput, kPass, kResult };

struct Place {
  Phase phase = Phase::kResult;
  std::string number;  // within the phase
};

struct Stage {
  Place place;
  HloFile file;
};

struct ModuleFiles {
  DumpedModule module;
  std::vector<Stage> stages;
};

bool is_number(const std::string& text) {
  return text.size() > 4 && text[4] == '.' && text.find_first_not_of("0123456789") == 4;
}

Place place_of(const std::string& stage) {
  if (stage == "before_optimizations") return {Phase::kInput, ""};
  if (is_number(stage)) return {Phase::kPass, stage.substr(0, 4)};
  return {Phase::kResult, stage};
}

// Many files of a dump are text of another kind.
bool is_hlo_text(const FileSystem& files, const Path& path) {
  return files.read_range(path, {0, 10}).value_or("").starts_with("HloModule");
}

void add_stage(std::vector<Stage>& stages, Stage stage) {
  const auto same = std::ranges::find_if(
      stages, [&](const Stage& other) { return other.file.stage == stage.file.stage; });
  if (same == stages.end()) {
    stages.push_back(std::move(stage));
  } else if (stage.file.path.ends_with(".pb")) {  // holds more than text
    *same = std::move(stage);
  }
}

void add_theirs(const FileSystem& files, const Path& path, const Pattern::Parts& parts,
                ModuleFiles& found) {
  const std::string& stage = parts[3];
  const std::string& ending = parts[4];
  if (ending == "ll") {
    if (stage == "ir-no-opt") found.module.first_llvm = path;
    if (stage == "ir-with-opt") found.module.llvm = path;
  } else if (stage.ends_with(kBuffersEnd)) {
    found.module.buffers = path;
  } else if (ending == "hlo.pb" || is_hlo_text(files, path)) {
    add_stage(found.stages, {place_of(stage), {path.string(), stage}});
  }
}

// Ours is the only module of its folder; XLA gives it a number.
std::string module_name(const Pattern::Parts& parts) {
  return parts[2] == kOurModule ? kOurModule : parts[1] + "." + parts[2];
}

DumpedModule finished(ModuleFiles found) {
  std::ranges::stable_sort(found.stages, {}, [](const Stage& stage) {
    return std::pair(stage.place.phase, stage.place.number);
  });
  for (Stage& stage : found.stages) found.module.stages.push_back(std::move(stage.file));
  return std::move(found.module);
}

}  // namespace

bool is_dump(const FileSystem& files, const Path& folder) {
  if (!is_folder(files, folder)) return false;
  const auto names = files.list(folder);
  return names && std::ranges::any_of(*names, [](const std::string& name) {
           return kTheirFile.matches(name) || kOurFile.matches(name);
         });
}

Result<std::vector<DumpedModule>> dumped_modules(const FileSystem& files, const Path& folder) {
  TFAOT_ASSIGN(const std::vector<std::string> names, files.list(folder));
  std::map<std::string, ModuleFiles> modules;
  for (const std::string& name : names) {
    Pattern::Parts parts;
    if (kOurFile.matches(name, parts)) {
      add_stage(modules[kOurModule].stages,
                {{Phase::kOurs, parts[1]}, {(folder / name).string(), parts[2]}});
    } else if (kTheirFile.matches(name, parts)) {
      add_theirs(files, folder / name, parts, modules[module_name(parts)]);
    } else if (kTheirObject.matches(name, parts)) {
      modules[module_name(parts)].module.object = folder / name;
    }
  }
  std::vector<DumpedModule> list;
  for (auto& [name, found] : modules) {
    if (found.stages.empty()) continue;
    found.module.name = name;
    list.push_back(finished(std::move(found)));
  }
  if (!list.empty()) return list;
  return fail(Error::at({folder.string()}, "the folder holds no HLO")
                  .note("XLA writes it with XLA_FLAGS=--xla_dump_to=FOLDER"));
}

}  // namespace tfaot::toolkit
