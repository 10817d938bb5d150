// SPDX-License-Identifier: Apache-2.0
#include "options/target_flags.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string_view>

#include "tfaot/base/text.h"
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit {
namespace {

using Words = std::vector<std::string>;

// Quotes keep blanks, and a backslash the character after it.
Result<Words> split_like_a_shell(const std::string& text) {
  const auto failed = [](const char* why) {
    return fail(Error::usage("--additional-flags cannot be split into words").note(why));
  };
  Words words = {""};
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (++i == text.size()) return failed("cannot end with escape");
      if (std::string_view(" \t\"'\\").find(text[i]) == std::string_view::npos) {
        return failed("unknown escape sequence");
      }
      words.back() += text[i];
    } else if (text[i] == quote) {
      quote = 0;
    } else if (quote == 0 && (text[i] == '"' || text[i] == '\'')) {
      quote = text[i];
    } else if (quote == 0 && kBlanks.find(text[i]) != std::string_view::npos) {
      words.emplace_back();
    } else {
      words.back() += text[i];
    }
  }
  std::erase(words, "");
  return words;
}

Error not_understood(const std::string& flag) {
  return Error::usage(fmt::format("--additional-flags: '{}' is unknown", flag))
      .note("known: --target_triple=T, --target_cpu=C, --target_features=+A,+B");
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
    TFAOT_ASSIGN(const std::string level, level_with_features(features));
    flags.cpu_levels = {level};
  }
  return flags;
}

}  // namespace tfaot::toolkit
