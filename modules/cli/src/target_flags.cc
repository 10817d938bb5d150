// SPDX-License-Identifier: Apache-2.0
#include "target_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/tokenizer.hpp>
#include <cstddef>
#include <map>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using Words = std::vector<std::string>;

// The x86-64 psABI: what each level adds to those before it, in LLVM's spelling.
struct LevelFeatures {
  const char* level;
  std::vector<std::string> features;
};
const std::array<LevelFeatures, 4>& levels() {
  static const std::array<LevelFeatures, 4> table = {{
      {"x86-64", {"cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "x87"}},
      {"x86-64-v2", {"crc32", "cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}},
      {"x86-64-v3", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}},
      {"x86-64-v4", {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}},
  }};
  return table;
}

Result<std::size_t> level_with(const std::string& feature) {
  const bool wanted = feature.rfind('+', 0) == 0;
  for (std::size_t i = 0; wanted && i < levels().size(); ++i) {
    const Words& names = levels()[i].features;
    if (std::find(names.begin(), names.end(), feature.substr(1)) != names.end()) return i;
  }
  Error error = Error::usage(fmt::format("--target_features: '{}' is not understood", feature));
  for (const LevelFeatures& level : levels()) {
    error.note(fmt::format("{}: +{}", level.level, join(level.features, ",+")));
  }
  return fail(std::move(error));
}

Result<std::string> level_of(const std::string& features) {
  std::size_t lowest = 0;
  const boost::char_separator<char> comma(",");
  for (const std::string& feature : boost::tokenizer(features, comma)) {
    TFAOT_ASSIGN(const std::size_t level, level_with(trim(feature)));
    lowest = std::max(lowest, level);
  }
  return levels()[lowest].level;
}

Result<Words> split_like_a_shell(const std::string& text) {
  try {
    const boost::escaped_list_separator<char> blanks("\\", " \t\n", "\"'");
    Words words;
    for (const std::string& word : boost::tokenizer(text, blanks)) {
      if (!word.empty()) words.push_back(word);
    }
    return words;
  } catch (const boost::escaped_list_error& error) {
    return fail(Error::usage("--additional-flags cannot be split into words").note(error.what()));
  }
}

Error not_understood(const std::string& flag) {
  return Error::usage(fmt::format("--additional-flags: '{}' is not understood", flag))
      .note("understood: --target_triple=T, --target_cpu=C, --target_features=+A,+B");
}

}  // namespace

Result<TargetFlags> parse_target_flags(const std::string& text) {
  std::map<std::string, std::string> values = {
      {"--target_triple", ""}, {"--target_cpu", ""}, {"--target_features", ""}};
  TFAOT_ASSIGN(const Words words, split_like_a_shell(text));
  for (auto word = words.begin(); word != words.end(); ++word) {
    const std::size_t equals = word->find('=');
    const auto entry = values.find(word->substr(0, equals));
    if (entry == values.end()) return fail(not_understood(*word));
    if (equals != std::string::npos) {
      entry->second = word->substr(equals + 1);
    } else if (std::next(word) != words.end()) {
      entry->second = *++word;
    }
    if (entry->second.empty()) {
      return fail(Error::usage(fmt::format("--additional-flags: {} needs a value", entry->first)));
    }
  }
  const std::string& cpu = values["--target_cpu"];
  const std::string& features = values["--target_features"];
  if (!cpu.empty() && !features.empty()) {
    return fail(
        Error::usage("--additional-flags: --target_cpu and --target_features exclude each other")
            .note("code is compiled for CPU levels; --target_cpu=x86-64-v3 names one"));
  }
  TargetFlags flags{values["--target_triple"], {}};
  if (!cpu.empty()) flags.cpu_levels = {cpu};
  if (!features.empty()) {
    TFAOT_ASSIGN(const std::string level, level_of(features));
    flags.cpu_levels = {level};
  }
  return flags;
}

}  // namespace tfaot::toolkit
