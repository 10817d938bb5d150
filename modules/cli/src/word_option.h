// SPDX-License-Identifier: Apache-2.0
// Options of a command line that take one of an enum's words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tfaot/base/text.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

// `value` must live until the parsing is done; it stays as it is when the option is not given. It
// is the enum, or an optional one.
template <HasWords Enum, class Value>
CLI::Option* add_word_option(CLI::App& app, const std::string& name, Value& value,
                             const std::string& help) {
  const auto store = [&value](const std::string& word) {
    if (const auto parsed = parse_word<Enum>(word)) value = *parsed;
  };
  return app.add_option_function<std::string>(name, store, help)
      ->check(CLI::IsMember(words_of<Enum>()))
      ->option_text(join(words_of<Enum>(), "|"));
}

}  // namespace tfaot::toolkit
