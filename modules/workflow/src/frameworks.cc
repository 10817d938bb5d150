// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/frameworks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tfaot/base/interrupts.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {
namespace {

struct Framework {
  ProfiledEngine engine;
  const char* wheel;    // on PyPI; empty: a runner of tfaot links it
  const char* package;  // of Python, in that wheel
  const char* library;  // a pattern, in the package's folder
  bool (*runs)(ModelFormat format);
};
constexpr auto kFrameworks = std::to_array<Framework>({
    {ProfiledEngine::kOnnxRuntime, "onnxruntime", "onnxruntime", "capi/libonnxruntime.so.*",
     [](ModelFormat format) { return format == ModelFormat::kOnnx; }},
    {ProfiledEngine::kLiteRt, "ai-edge-litert", "ai_edge_litert", "libLiteRt.so",
     [](ModelFormat) { return false; }},
    {ProfiledEngine::kTensorFlow, "", "", "",
     [](ModelFormat format) {
       return format == ModelFormat::kSavedModel || format == ModelFormat::kFrozenGraph;
     }},
});

// Prints the files of a package that match a pattern, without importing it. Modules of the working
// directory are not installed packages.
constexpr const char* kPackageFiles = R"(
import glob, importlib.util, os, sys
sys.path = [folder for folder in sys.path if folder]
spec = importlib.util.find_spec(sys.argv[1])
for folder in spec and spec.submodule_search_locations or []:
    print(*sorted(glob.glob(os.path.join(glob.escape(folder), sys.argv[2]))), sep="\n")
)";

}  // namespace

bool runs_format(ProfiledEngine engine, ModelFormat format) {
  const auto* const framework = std::ranges::find(kFrameworks, engine, &Framework::engine);
  return framework != kFrameworks.end() && framework->runs(format);
}

Result<Path> find_framework(const Context& context, ProfiledEngine engine,
                            const std::string& option) {
  const Framework& framework = *std::ranges::find(kFrameworks, engine, &Framework::engine);
  if (*framework.wheel == '\0') {
    TFAOT_TRY(find_tensorflow_runner(context));
    return Path();
  }
  ProcessSpec python;
  python.program = "python3";
  python.arguments = {"-B", "-c", kPackageFiles, framework.package, framework.library};
  const auto answer = run_process(python);
  TFAOT_TRY(check_interrupts());
  if (answer && answer->ok()) {
    for (const std::string& line : split_lines(answer->standard_output)) {
      if (is_file(context.files, line)) return Path(line);
    }
  }
  return fail(Error(fmt::format("{} is not installed: {}", word_of(engine),
                                answer ? fmt::format("python3 in PATH has no package '{}'",
                                                     framework.package)
                                       : "there is no python3 in PATH"))
                  .note(fmt::format("install it: pip install {}", framework.wheel))
                  .note("or name its shared library: " + option));
}

}  // namespace tfaot::toolkit
