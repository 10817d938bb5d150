// SPDX-License-Identifier: Apache-2.0
// Where the tool finds the files that belong to it: relative to Environment::program, so that an
// installed tree can be moved. The build tree mirrors an installed one
// (modules/cli/CMakeLists.txt). Only reads. Safe from many threads.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/memory_budget.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/compile.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/package/package_types.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// How the engine is started.
struct EngineRun {
  std::string engine;  ///< its file as the user wrote it; empty: find_engine()'s
  unsigned jobs =
      0;  ///< processes at the same time; 0: one per core, or one in all with a launcher
  /// Starts each job: words separated by blanks, or the words themselves; empty:
  /// $TFAOT_COMPILE_LAUNCHER.
  std::string launcher;
  std::vector<std::string> launcher_words;
};

/// How long an engine or runner may take for each job or question: --timeout, or 600 s; 0: any
/// time.
std::chrono::seconds engine_time(const Context& context);
/// What the engine or runner processes that share it may have together: --memory, or half of the
/// machine's.
std::shared_ptr<MemoryBudget> engine_memory(const Context& context);

/// `wanted` or $TFAOT_ENGINE if not empty, else the engine that came with the tool; started with
/// the user's TensorFlow. Error: the file does not exist.
Result<EngineProgram> find_engine(const Context& context, const std::string& wanted);

/// The engine and how it runs; no work folder and no cache.
Result<CompileOptions> compile_options(const Context& context, const EngineRun& run);

/// The programs that measure one engine each (modules/runner), and the library that counts
/// allocations when it is preloaded into them. Error: this tool was installed without it.
Result<Path> find_runner(const Context& context);
Result<EngineProgram> find_tensorflow_runner(const Context& context);
Result<Path> find_allocation_counter(const Context& context);

/// The user's TensorFlow: $TFAOT_TENSORFLOW_ROOT, else where `tfaot setup` puts it; empty if no
/// cache folder is known.
Path tensorflow_folder(const Environment& environment);

/// Where compiled code is kept for later runs: `folder`, else $TFAOT_CACHE, else in the user's
/// cache folder, or in none if that is unknown; and the server of $TFAOT_REMOTE_CACHE. Error: that
/// variable is wrong, or the file that it names is missing.
Result<CodeCacheOptions> code_cache(const Context& context, const std::string& folder = "");

/// Where the linked code of packages that were loaded is kept; empty if no cache folder is known.
Path loaded_code_folder(const Environment& environment);

/// The script that puts the pinned TensorFlow into the user's cache.
Result<Path> find_fetch_script(const Context& context);

/// The script of `tfaot demo`.
Result<Path> find_demo_script(const Context& context);

/// The script that draws profiles with matplotlib.
Result<Path> find_plot_script(const Context& context);

/// The folder of the Python module tfaot, for PYTHONPATH. Error: this tool was installed without
/// it.
Result<Path> find_python_folder(const Context& context);

/// The runtime for `machine` ("x86_64") that `tfaot link` links models with. Error: this tool was
/// installed without it.
Result<Path> runtime_library(const Context& context, const std::string& machine);

/// The runtime that a package for `machine` ("x86_64") contains, below runtime/:
/// lib/libtfaot_runtime.a and include/tfaot/... It is the same for all headers that a package may
/// have: several packages use one of their runtimes. Error: this tool was installed without it.
Result<std::vector<StagedFile>> runtime_files(const Context& context, const std::string& machine);

/// One hash of everything in the toolkit that affects a package for `machine`: the tool, its
/// engine, its runtime.
Result<std::string> toolkit_sha256(const Context& context, const std::string& machine);

}  // namespace tfaot::toolkit
