// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/tool_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"
#include "tfaot/workflow/set_up_tensorflow.h"

namespace tfaot::toolkit {
namespace {

// PREFIX for PREFIX/bin/tfaot.
Path prefix(const Context& context) {
  return context.environment.program.parent_path().parent_path();
}

// A folder of the user's cache; empty if none is known. The same rule as in
// packaging/fetch_tensorflow.sh.
Path in_cache(const Environment& environment, const char* folder) {
  if (const std::string ours = environment.variable("TFAOT_CACHE_DIR"); !ours.empty()) {
    return Path(ours) / folder;
  }
  Path caches = environment.variable("XDG_CACHE_HOME");
  const std::string home = environment.variable("HOME");
  if (caches.empty() && !home.empty()) caches = Path(home) / ".cache";
  return caches.empty() ? Path() : caches / "tfaot" / folder;
}

// Where the loader looks for the TensorFlow of a program: the folder that the user names; else
// those next to the program (an administrator's, then the one of the wheel tfaot-compiler), then
// the user's cache. After it come the loader's previous folders, such as a release's libraries with
// the same names. No part is empty: it would be the current folder.
std::string library_path(const Context& context, const Path& program) {
  std::vector<std::string> folders;
  if (context.environment.variable("TFAOT_TENSORFLOW_ROOT").empty()) {
    for (const char* const folder : {"tensorflow", TFAOT_TENSORFLOW_FOLDER "/tensorflow"}) {
      folders.push_back((program.parent_path() / folder).string());
    }
  }
  const Path users = tensorflow_folder(context.environment);
  if (!users.empty()) folders.push_back(context.absolute(users).string());
  std::ranges::move(split_words(context.environment.variable("LD_LIBRARY_PATH"), ":"),
                    std::back_inserter(folders));
  return join(folders, ":");
}

Result<EngineProgram> program_with_tensorflow(const Context& context, Path file) {
  if (context.environment.variable("TFAOT_TENSORFLOW_ROOT").empty()) {
    TFAOT_TRY(unpack_tensorflow(context, file));
  }
  EngineProgram program;
  program.library_path = library_path(context, file);
  program.file = std::move(file);
  program.memory = engine_memory(context);
  program.answer_time = engine_time(context);
  return program;
}

std::vector<std::string> launcher_words(const Context& context, const EngineRun& run) {
  if (!run.launcher_words.empty()) return run.launcher_words;
  return split_words(run.launcher.empty() ? context.environment.variable("TFAOT_COMPILE_LAUNCHER")
                                          : run.launcher);
}

// The first of these files that exists; else an error with `missing`, the places and `advice`.
Result<Path> first_file(const Context& context, const std::vector<Path>& places,
                        std::string missing, const std::string& advice) {
  Error error(std::move(missing));
  for (const Path& place : places) {
    if (is_file(context.files, place)) return place;
    error.note("looked for " + place.string());
  }
  return fail(std::move(error.note(advice)));
}

// A program that belongs to the tool is next to it, or where it is installed.
std::vector<Path> program_places(const Context& context, const char* name) {
  return {context.environment.program.parent_path() / name,
          prefix(context) / "libexec/tfaot" / name};
}

Result<Path> engine_file(const Context& context, const std::string& wanted) {
  const std::string& said = wanted.empty() ? context.environment.engine : wanted;
  if (!said.empty()) {
    const Path engine = context.absolute(said);
    if (is_file(context.files, engine)) return engine;
    return fail(Error::at({engine.string()}, "no such engine")
                    .note(wanted.empty() ? "named by TFAOT_ENGINE in the environment"
                                         : "named by --engine"));
  }
  return first_file(context, program_places(context, "tfaot-engine"),
                    "the engine 'tfaot-engine' is missing: this tfaot cannot compile models",
                    "build tfaot with TFAOT_BUILD_ENGINE=ON, or name an engine with --engine or "
                    "TFAOT_ENGINE");
}

Result<Path> companion_program(const Context& context, const char* name, const char* why) {
  return first_file(context, program_places(context, name),
                    fmt::format("the program '{}', which {}, is missing", name, why),
                    "reinstall tfaot");
}

Result<Path> installed_file(const Context& context, const Path& file, const char* what) {
  return first_file(context, {file}, fmt::format("{} is missing", what), "reinstall tfaot");
}

// libtfaot_runtime.a for that machine, whether it is there or not.
Path runtime_path(const Context& context, const std::string& machine) {
  Path folder = prefix(context) / TFAOT_LIBDIR;
  if (machine != context.environment.architecture) folder = folder / "tfaot" / machine;
  return folder / "libtfaot_runtime.a";
}

}  // namespace

std::chrono::seconds engine_time(const Context& context) {
  return context.limits.time.value_or(std::chrono::seconds(600));
}

std::shared_ptr<MemoryBudget> engine_memory(const Context& context) {
  return std::make_shared<MemoryBudget>(
      context.limits.memory.value_or(context.environment.memory / 2));
}

Path tensorflow_folder(const Environment& environment) {
  const Path named = environment.variable("TFAOT_TENSORFLOW_ROOT");
  return named.empty() ? in_cache(environment, TFAOT_TENSORFLOW_FOLDER "/tensorflow") : named;
}

Result<CodeCacheOptions> code_cache(const Context& context, const std::string& folder) {
  const Environment& environment = context.environment;
  CodeCacheOptions options;
  Path named = folder.empty() ? Path(environment.variable("TFAOT_CACHE")) : Path(folder);
  if (named.empty()) named = in_cache(environment, "code");
  if (!named.empty()) options.folder = context.absolute(named);
  auto remote = parse_remote_cache(environment.variable("TFAOT_REMOTE_CACHE"));
  if (!remote) {
    return fail(std::move(remote).error().note("named by TFAOT_REMOTE_CACHE in the environment"));
  }
  options.remote = *std::move(remote);
  std::string& authorization = options.remote.authorization_file;
  if (!authorization.empty()) {
    authorization = context.absolute(authorization).string();
    if (!is_file(context.files, authorization)) {
      return fail(Error::at({authorization}, "no such file")
                      .note("the authorization-file of TFAOT_REMOTE_CACHE in the environment"));
    }
  }
  return options;
}

Path loaded_code_folder(const Environment& environment) { return in_cache(environment, "loaded"); }

Result<EngineProgram> find_engine(const Context& context, const std::string& wanted) {
  const std::string tensorflow = context.environment.variable("TFAOT_TENSORFLOW_ROOT");
  if (!tensorflow.empty() && !is_folder(context.files, context.absolute(tensorflow))) {
    return fail(Error::at({tensorflow}, "no such folder")
                    .note("named by TFAOT_TENSORFLOW_ROOT in the environment: it is the "
                          "'tensorflow' folder of an unpacked wheel"));
  }
  TFAOT_ASSIGN(Path file, engine_file(context, wanted));
  return program_with_tensorflow(context, std::move(file));
}

Result<CompileOptions> compile_options(const Context& context, const EngineRun& run) {
  CompileOptions options;
  TFAOT_ASSIGN(options.engine, find_engine(context, run.engine));
  options.timeout = engine_time(context);
  options.launcher = launcher_words(context, run);
  options.launched_memory = context.limits.memory;
  options.jobs = run.jobs;
  if (run.jobs == 0) {
    // The cores where a launcher starts the engine are not known here.
    options.jobs = options.launcher.empty() ? context.environment.cores : 1;
    options.makeflags = context.environment.variable("MAKEFLAGS");
  }
  return options;
}

Result<Path> find_runner(const Context& context) {
  return companion_program(context, "tfaot-runner", "measures packages");
}

Result<EngineProgram> find_tensorflow_runner(const Context& context) {
  TFAOT_ASSIGN(Path file, companion_program(context, "tfaot-runner-tensorflow",
                                            "measures models in TensorFlow"));
  return program_with_tensorflow(context, std::move(file));
}

Result<Path> find_allocation_counter(const Context& context) {
  return installed_file(context,
                        prefix(context) / TFAOT_LIBDIR "/tfaot/libtfaot_count_allocations.so",
                        "the library that counts allocations");
}

Result<Path> find_fetch_script(const Context& context) {
  return installed_file(context, prefix(context) / TFAOT_DATADIR / "tfaot/fetch_tensorflow.sh",
                        "the script that fetches TensorFlow");
}

Result<Path> find_demo_script(const Context& context) {
  return installed_file(context, prefix(context) / TFAOT_DATADIR / "tfaot/demo/demo.sh",
                        "the script of the demo");
}

Result<Path> find_plot_script(const Context& context) {
  return installed_file(context, prefix(context) / TFAOT_DATADIR / "tfaot/plot.py",
                        "the script that draws plots");
}

Result<Path> find_python_folder(const Context& context) {
  // Or where pip put it, in the environment of one Python or another.
  std::vector<Path> folders = {prefix(context) / TFAOT_LIBDIR "/tfaot/python"};
  const Path libraries = prefix(context) / "lib";
  const auto found = context.files.list(libraries);
  for (const std::string& name : found.value_or(std::vector<std::string>())) {
    if (name.starts_with("python3.")) folders.push_back(libraries / name / "site-packages");
  }
  for (const Path& folder : folders) {
    if (is_file(context.files, folder / "tfaot/__init__.py")) return folder;
  }
  return installed_file(context, folders.front() / "tfaot/__init__.py", "the Python module tfaot");
}

Result<Path> runtime_library(const Context& context, const std::string& machine) {
  const Path library = runtime_path(context, machine);
  if (machine == context.environment.architecture) {
    return installed_file(context, library, "the runtime that models are linked with");
  }
  return first_file(
      context, {library},
      fmt::format("this tfaot has no runtime for {0}, which a package for {0} needs", machine),
      fmt::format("build tfaot with -DTFAOT_RUNTIME_TARGETS={0}, which needs {0}-linux-gnu-g++ "
                  "(Debian: g++-{0}-linux-gnu)",
                  machine));
}

Result<std::vector<StagedFile>> runtime_files(const Context& context, const std::string& machine) {
  const Path library = runtime_path(context, machine);
  if (machine != context.environment.architecture) {
    if (auto found = runtime_library(context, machine); !found) {
      return fail(std::move(found).error().note(
          fmt::format("or set the target with --target-triple={}-unknown-linux-gnu",
                      context.environment.architecture)));
    }
  }
  std::vector<StagedFile> staged = {{std::string(kRuntimeLibrary), "", library}};
  for (const std::string part : {"runtime", "cmssw/drop_in", "cmssw/inside"}) {
    const std::string path = "include/tfaot/" + part;
    const auto names = list_files_recursively(context.files, prefix(context) / path);
    if (!is_file(context.files, library) || !names || names->empty()) {
      return fail(Error("the runtime that goes into every package is missing")
                      .note("looked for " + library.string())
                      .note("looked for " + (prefix(context) / path).string())
                      .note("build the target tfaot_runtime, or reinstall tfaot"));
    }
    for (const std::string& name : *names) {
      staged.push_back({fmt::format("{}/tfaot/{}/{}", kRuntimeInclude, part, name), "",
                        prefix(context) / path / name});
    }
  }
  const Path notices = prefix(context) / TFAOT_DATADIR / "tfaot/runtime";
  for (const char* const name : {"LICENSE", "NOTICE"}) {
    TFAOT_ASSIGN(Path notice,
                 installed_file(context, notices / name, "a licence that goes into every package"));
    staged.push_back({fmt::format("runtime/{}", name), "", std::move(notice)});
  }
  return staged;
}

Result<std::string> toolkit_sha256(const Context& context, const std::string& machine) {
  TFAOT_ASSIGN(std::vector<StagedFile> files, runtime_files(context, machine));
  files.push_back({"tfaot", "", context.environment.program});
  TFAOT_ASSIGN(EngineProgram engine, find_engine(context, ""));
  files.push_back({"tfaot-engine", "", std::move(engine.file)});
  std::string lines;
  for (const StagedFile& file : files) {
    TFAOT_ASSIGN(const std::string sha256, sha256_of_file(context.files, file.source));
    lines += sha256 + "  " + file.path + "\n";
  }
  return sha256_of(lines);
}

}  // namespace tfaot::toolkit
