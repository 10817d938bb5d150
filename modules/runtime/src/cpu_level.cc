// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/cpu_level.h"

#include <algorithm>
#include <cstdlib>

#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace v1 {
namespace {

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void fail(const std::string& what, const std::vector<std::string>& compiled,
                       const CpuChoice& cpu) {
  throw Error(Category::kUnsupportedCpu, what + "; compiled levels: " + join(compiled) +
                                             "; this CPU supports: " + join(cpu.supported));
}

}  // namespace

// The compiler's own run-time check covers the CPU and, for AVX and AVX-512, what the operating
// system saves (XCR0).
std::vector<std::string> detect_cpu_levels() {
#if defined(__x86_64__) && defined(__clang__) && __clang_major__ < 17
  return {"x86-64"};  // it does not know the levels' names; the lowest is always right
#elif defined(__x86_64__)
  __builtin_cpu_init();
  std::vector<std::string> levels = {"x86-64"};
  if (!__builtin_cpu_supports("x86-64-v2")) return levels;
  levels.emplace_back("x86-64-v2");
  if (!__builtin_cpu_supports("x86-64-v3")) return levels;
  levels.emplace_back("x86-64-v3");
  if (__builtin_cpu_supports("x86-64-v4")) levels.emplace_back("x86-64-v4");
  return levels;
#else
  return {"generic"};
#endif
}

const CpuChoice& this_cpu() {
  static const CpuChoice kChoice = [] {
    const char* forced = std::getenv("TFAOT_CPU_LEVEL");
    return CpuChoice{detect_cpu_levels(), forced == nullptr ? "" : forced};
  }();
  return kChoice;
}

std::size_t select_code(const char* model, const Program& program, const CpuChoice& cpu) {
  std::vector<std::string> compiled;
  for (std::size_t i = 0; i < program.code_count; ++i) {
    compiled.emplace_back(program.codes[i].cpu_level);
  }
  const std::string who = std::string("model '") + model + "'";
  if (!cpu.forced.empty()) {
    const auto found = std::find(compiled.begin(), compiled.end(), cpu.forced);
    if (found == compiled.end()) {
      fail("TFAOT_CPU_LEVEL=" + cpu.forced + " is not a level of " + who, compiled, cpu);
    }
    if (!contains(cpu.supported, cpu.forced)) {
      fail("TFAOT_CPU_LEVEL=" + cpu.forced + ", forced for " + who + ", cannot run here", compiled,
           cpu);
    }
    return static_cast<std::size_t>(found - compiled.begin());
  }
  for (std::size_t i = compiled.size(); i-- > 0;) {
    if (contains(cpu.supported, compiled[i])) return i;
  }
  fail(who + " has no code for this CPU", compiled, cpu);
}

}  // namespace v1
}  // namespace tfaot
