// SPDX-License-Identifier: Apache-2.0
// Finds and opens libraries of 'tfaot link', for models.h. The install room puts the library of a
// model NAME at AREA/TOOL/VERSION/lib/NAME.so; AREA/TOOL/current is a link to the version that
// users get. Only file names are read. Safe from many threads.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tfaot/runtime/detail/abi.h"
#include "tfaot/runtime/detail/version_range.h"
#include "tfaot/runtime/expected.h"
#include "tfaot/runtime/tfaot.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

// A loaded library, with the functions of tfaot.h that Models calls. Its symbols are not seen by
// other libraries. Unloaded when its last owner goes.
class ModelsLibrary {
 public:
  static Expected<std::shared_ptr<const ModelsLibrary>> open(const std::string& file) {
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = ::dlerror();
      return Failure{TFAOT_NO_LIBRARY, why == nullptr ? file + ": cannot be loaded" : why};
    }
    const std::shared_ptr<ModelsLibrary> library(new ModelsLibrary(handle, file));
    const bool is_complete = library->find("tfaot_models_open", library->open_model) &&
                             library->find("tfaot_models_copy", library->copy) &&
                             library->find("tfaot_models_close", library->close) &&
                             library->find("tfaot_models_record", library->record) &&
                             library->find("tfaot_models_signature", library->signature) &&
                             library->find("tfaot_models_input", library->input) &&
                             library->find("tfaot_models_output", library->output) &&
                             library->find("tfaot_models_prepare", library->prepare) &&
                             library->find("tfaot_models_run", library->run);
    // Older libraries have no free dimensions, or rows of one size only.
    library->find("tfaot_models_dimension", library->dimension);
    library->find("tfaot_models_input_shape", library->input_shape);
    library->find("tfaot_models_output_shape", library->output_shape);
    library->find("tfaot_models_run_ragged", library->run_ragged);
    if (is_complete) return std::shared_ptr<const ModelsLibrary>(library);
    return Failure{TFAOT_NO_LIBRARY, file + ": not a library of 'tfaot link'"};
  }
  ModelsLibrary(const ModelsLibrary&) = delete;
  ModelsLibrary& operator=(const ModelsLibrary&) = delete;
  ~ModelsLibrary() { ::dlclose(handle_); }

  const std::string& file() const noexcept { return file_; }

  decltype(&::tfaot_models_open) open_model = nullptr;
  decltype(&::tfaot_models_copy) copy = nullptr;
  decltype(&::tfaot_models_close) close = nullptr;
  decltype(&::tfaot_models_record) record = nullptr;
  decltype(&::tfaot_models_signature) signature = nullptr;
  decltype(&::tfaot_models_input) input = nullptr;
  decltype(&::tfaot_models_output) output = nullptr;
  decltype(&::tfaot_models_prepare) prepare = nullptr;
  decltype(&::tfaot_models_run) run = nullptr;
  decltype(&::tfaot_models_dimension) dimension = nullptr;
  decltype(&::tfaot_models_input_shape) input_shape = nullptr;
  decltype(&::tfaot_models_output_shape) output_shape = nullptr;
  decltype(&::tfaot_models_run_ragged) run_ragged = nullptr;

 private:
  ModelsLibrary(void* handle, std::string file) : handle_(handle), file_(std::move(file)) {}

  template <class Function>
  bool find(const char* name, Function& function) const noexcept {
    void* const address = ::dlsym(handle_, name);
    static_assert(sizeof address == sizeof function);
    std::memcpy(&function, &address, sizeof address);
    return address != nullptr;
  }

  void* handle_;
  std::string file_;
};

// Where a model is, and which versions of it to open there.
struct FoundModel {
  std::string file;
  std::string versions;
};

// An area, or the file of one library.
class ModelsPlace {
 public:
  explicit ModelsPlace(const std::string& path) {
    std::error_code ignored;
    path_ = std::filesystem::absolute(path, ignored);
  }

  // In an area the current version if it is in the range, else the newest one that is.
  Expected<FoundModel> find(const std::string& name, std::string_view versions) const {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path_, ignored)) {
      return FoundModel{path_.string(), std::string(versions)};
    }
    if (!std::filesystem::is_directory(path_, ignored)) {
      return Failure{TFAOT_NO_LIBRARY, path_.string() +
                                           ": neither a release area nor a library of 'tfaot "
                                           "link'"};
    }
    VersionRange range;
    std::string wrong;
    if (!VersionRange::parse(versions, range, wrong)) {
      return Failure{TFAOT_WRONG_CALL,
                     "'" + wrong + "' is not a condition on versions, such as >=1.2"};
    }
    const std::vector<std::filesystem::path> tools = tools_with(name);
    for (const std::filesystem::path& tool : tools) {
      const std::vector<std::string> linked = versions_in(tool, library_of(name));
      const std::string current = std::filesystem::read_symlink(tool / "current", ignored).string();
      if (contains(linked, current) && range.contains(current)) return found(tool, current, name);
      const std::size_t newest = newest_in(range, linked);
      if (newest < linked.size()) return found(tool, linked[newest], name);
    }
    return missing(tools, name, std::string(versions), range);
  }

 private:
  static bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  static std::filesystem::path library_of(const std::string& name) {
    return std::filesystem::path("lib") / (name + ".so");
  }
  static FoundModel found(const std::filesystem::path& tool, const std::string& version,
                          const std::string& name) {
    return {(tool / version / library_of(name)).string(), "=" + version};
  }
  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
  }

  // The versions of a tool that have this file, in their order.
  static std::vector<std::string> versions_in(const std::filesystem::path& tool,
                                              const std::filesystem::path& file) {
    std::vector<std::string> found;
    std::error_code error;
    std::filesystem::directory_iterator entry(tool, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      std::error_code ignored;
      const std::string name = entry->path().filename().string();
      if (name == "current" || name.front() == '.') continue;
      if (std::filesystem::is_regular_file(entry->path() / file, ignored)) found.push_back(name);
    }
    std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
      return compare_versions(a, b) < 0;
    });
    return found;
  }

  static std::string default_tool(const std::string& name) {
    std::string tool = "tfaot-model-" + name;
    std::replace(tool.begin(), tool.end(), '_', '-');
    return tool;
  }

  // The folder of the default name if the model is there, else all: a tool may have another name.
  std::vector<std::filesystem::path> tools_with(const std::string& name) const {
    if (name.empty() || name.find('/') != std::string::npos) return {};
    const std::filesystem::path tool = path_ / default_tool(name);
    if (!versions_in(tool, library_of(name)).empty()) return {tool};
    std::vector<std::filesystem::path> tools;
    std::error_code error;
    std::filesystem::directory_iterator entry(path_, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (entry->path().filename().string().front() != '.') tools.push_back(entry->path());
    }
    std::sort(tools.begin(), tools.end());
    return tools;
  }

  // Says what the area has instead.
  Failure missing(const std::vector<std::filesystem::path>& tools, const std::string& name,
                  const std::string& versions, const VersionRange& range) const {
    std::vector<std::string> linked;
    for (const std::filesystem::path& folder : tools) {
      for (const std::string& version : versions_in(folder, library_of(name))) {
        linked.push_back(version);
      }
    }
    const std::string area = "the area " + path_.string();
    for (const std::string& version : versions_in(path_ / default_tool(name), "manifest.json")) {
      if (!range.contains(version) || contains(linked, version)) continue;
      return {TFAOT_NO_LIBRARY, name + " " + version + " in " + area +
                                    " has no library: install it with 'tfaot install --link'"};
    }
    if (linked.empty()) return {TFAOT_NO_SUCH_MODEL, "no model '" + name + "' in " + area};
    return {TFAOT_NO_SUCH_MODEL, "no version of '" + name + "' in " + area + " fits '" + versions +
                                     "': it has " + joined(linked)};
  }

  std::filesystem::path path_;
};

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
