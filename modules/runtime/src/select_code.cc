// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/select_code.h"

#include <string>
#include <vector>

#include "tfaot/runtime/detail/cpu_features.h"
#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

[[noreturn]] void fail(const std::string& what, const Program& program, const CpuChoice& cpu) {
  std::vector<std::string> compiled;
  std::vector<std::string> runnable;
  for (std::size_t i = 0; i < program.code_count; ++i) {
    const Code& code = program.codes[i];
    compiled.emplace_back(code.cpu_level);
    if (can_run(code, cpu)) runnable.emplace_back(code.cpu_level);
  }
  throw Error(Category::kUnsupportedCpu, what + "; compiled levels: " + join(compiled) +
                                             "; this CPU can run: " + join(runnable));
}

std::string lacking(const Code& code, const CpuChoice& cpu) {
  return std::string("'") + code.cpu_level + "' needs " +
         join(missing_features(code.cpu_features, cpu.features())) + ", which this CPU lacks";
}

}  // namespace

bool can_run(const Code& code, const CpuChoice& cpu) {
  return missing_features(code.cpu_features, cpu.features()).empty();
}

std::size_t select_code(const char* model, const Program& program, const CpuChoice& cpu) {
  const std::string who = std::string("model '") + model + "'";
  if (!cpu.forced_level().empty()) {
    for (std::size_t i = 0; i < program.code_count; ++i) {
      const Code& code = program.codes[i];
      if (code.cpu_level != cpu.forced_level()) continue;
      if (can_run(code, cpu)) return i;
      fail("TFAOT_CPU_LEVEL=" + cpu.forced_level() + ", forced for " + who +
               ", cannot run here: " + lacking(code, cpu),
           program, cpu);
    }
    fail("TFAOT_CPU_LEVEL=" + cpu.forced_level() + " is not a level of " + who, program, cpu);
  }
  for (std::size_t i = program.code_count; i-- > 0;) {
    if (can_run(program.codes[i], cpu)) return i;
  }
  const std::string why = program.code_count == 0 ? "" : ": " + lacking(program.codes[0], cpu);
  fail(who + " has no code for this CPU" + why, program, cpu);
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
