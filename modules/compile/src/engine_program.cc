// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/engine_program.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "tfaot/base/memory_budget.h"
#include "tfaot/base/text.h"
#include "tfaot/elf/linkage.h"

namespace tfaot::toolkit {
namespace {

constexpr int kNotLoaded = 127;  // the loader's exit code

// The library that the loader did not find; nothing if the process ended for another reason.
std::optional<std::string> missing_library(const ProcessResult& result) {
  constexpr std::string_view kMark = "error while loading shared libraries: ";
  const auto place = result.standard_error.find(kMark);
  if (result.exit_code != kNotLoaded || place == std::string::npos) return std::nullopt;
  const std::string line = result.standard_error.substr(place + kMark.size());
  return line.substr(0, line.find_first_of(":\n"));
}

// "A, B and the loader's own folders".
std::string searched_folders(const FileSystem& fs, const EngineProgram& engine) {
  const auto program = fs.read(engine.file);
  std::string path = program ? run_path(*program).value_or("") : "";
  path = replace_all(path, "$ORIGIN", engine.file.parent_path().string());
  if (!path.empty() && !engine.library_path.empty()) path += ":";
  path += engine.library_path;
  return fmt::format("{} and the loader's own folders",
                     path.empty() ? "$LD_LIBRARY_PATH" : replace_all(path, ":", ", "));
}

}  // namespace

ProcessSpec engine_process(const EngineProgram& engine,
                           std::map<std::string, std::string> variables) {
  ProcessSpec process;
  process.program = engine.file;
  process.environment = std::move(variables);
  process.memory = engine.memory;
  if (!engine.library_path.empty()) process.environment["LD_LIBRARY_PATH"] = engine.library_path;
  return process;
}

Error over_memory(const EngineProgram& engine, const Path& model, const std::string& who) {
  return Error::at({model.string()}, fmt::format("{} needed more than {} MB of memory", who,
                                                 engine.memory->bytes() / kMegabyte))
      .note(std::string(kMemoryAdvice) + ", or start fewer at the same time (-j)");
}

std::optional<Error> missing_tensorflow(const FileSystem& fs, const EngineProgram& engine,
                                        const ProcessResult& result) {
  const auto library = missing_library(result);
  if (!library || !library->starts_with("libtensorflow")) return std::nullopt;
  return Error::at({engine.file.string()},
                   fmt::format("TensorFlow's {} cannot be loaded", *library))
      .note("looked in " + searched_folders(fs, engine))
      .note("get it: pip install tfaot-compiler==" TFAOT_TENSORFLOW_VERSION
            " where tfaot came by pip, else: tfaot setup")
      .note(
          "or set TFAOT_TENSORFLOW_ROOT to the 'tensorflow' folder of an unpacked wheel (see "
          "docs/install.md)");
}

Result<bool> finds_tensorflow(const FileSystem& fs, const EngineProgram& engine) {
  TFAOT_ASSIGN(const ProcessResult result, run_process(engine_process(engine, {})));
  if (missing_tensorflow(fs, engine, result)) return false;
  if (const auto library = missing_library(result)) {
    return fail(
        with_last_words(Error::at({engine.file.string()}, *library + " cannot be loaded"), result));
  }
  return true;
}

}  // namespace tfaot::toolkit
