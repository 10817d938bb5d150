// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/set_up_tensorflow.h"

#include <fmt/format.h>

#include "tfaot/base/file_lock.h"
#include "tfaot/base/process.h"
#include "tfaot/package/source_archive.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kWheel = TFAOT_TENSORFLOW_WHEEL;  // "tensorflow-cpu 2.18.1"

// The script itself prints what it does and what is wrong.
Status fetch(const Context& context, const std::function<void(const std::string&)>& on_line) {
  TFAOT_ASSIGN(const Path script, find_fetch_script(context));
  ProcessSpec process;
  process.program = "bash";
  process.arguments = {script.string()};
  process.working_directory = context.environment.working_directory;
  process.on_stderr_line = on_line;
  TFAOT_ASSIGN(const ProcessResult result, run_process(process));
  if (result.ok()) return {};
  return fail(Error(fmt::format("{} is not set up; the reason is above", kWheel)));
}

// pip has put empty files where the archive's go, so that it removes them with the wheel. The
// library comes last: if it has bytes, all is there.
Status replace_empty_files(FileSystem& files, const Path& archive, const Path& home,
                           const Path& library) {
  const Path aside = home.string() + ".unpacked";
  TFAOT_TRY(files.remove_all(aside));  // left by a killed run
  TFAOT_ASSIGN(const std::vector<std::string> paths, unpack_source_archive(files, archive, aside));
  const auto put = [&](const Path& path) -> Status {
    TFAOT_TRY(files.create_directories((home / path).parent_path()));
    return files.rename(aside / path, home / path);
  };
  for (const std::string& path : paths) {
    if (path != library) TFAOT_TRY(put(path));
  }
  TFAOT_TRY(put(library));
  return files.remove_all(aside);
}

}  // namespace

Status unpack_tensorflow(const Context& context, const Path& program) {
  FileSystem& files = context.files;
  const Path home = program.parent_path() / TFAOT_TENSORFLOW_FOLDER;
  const Path archive = home.string() + ".tar.xz";
  const Path library = "tensorflow/libtensorflow_cc.so.2";
  const auto is_unpacked = [&] { return files.size(home / library).value_or(0) > 0; };
  if (is_unpacked() || !is_file(files, archive)) return {};
  const auto advice = [](Error error) {
    return fail(std::move(error).note(
        "run 'tfaot setup' once as the user who installed tfaot-compiler, or install it again"));
  };
  auto lock = FileLock::acquire(home.string() + ".lock",
                                {.name = "the lock of tfaot-compiler",
                                 .on_wait = tell_of_waiting(context.diagnostics, home)});
  if (!lock) return advice(std::move(lock).error());
  Status unpacked;
  if (!is_unpacked()) {
    context.diagnostics.progress(0, 1, "unpacking TensorFlow, once");
    unpacked = replace_empty_files(files, archive, home, library);
  }
  lock->remove();
  if (!unpacked) return advice(std::move(unpacked).error());
  return {};
}

Result<TensorflowSetup> set_up_tensorflow(const Context& context,
                                          const std::function<void(const std::string&)>& on_line) {
  TFAOT_ASSIGN(const EngineProgram engine, find_engine(context, ""));
  TensorflowSetup setup{false, kWheel, tensorflow_folder(context.environment)};
  TFAOT_ASSIGN(setup.was_ready, finds_tensorflow(context.files, engine));
  if (setup.was_ready) return setup;
  TFAOT_TRY(fetch(context, on_line));
  TFAOT_ASSIGN(const bool found, finds_tensorflow(context.files, engine));
  if (found) return setup;
  return fail(Error::at({engine.file.string()}, "the engine does not find TensorFlow")
                  .note("looked in " + engine.library_path));
}

}  // namespace tfaot::toolkit
