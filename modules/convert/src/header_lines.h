// SPDX-License-Identifier: Apache-2.0
// The lines of a generated header, for finding what follows known words. Holds a copy; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

class HeaderLines {
 public:
  // `where` names the file in errors.
  HeaderLines(const std::string& text, std::string where);

  const std::vector<std::string>& all() const { return lines_; }  // trimmed
  bool has(std::string_view word) const;

  // 12 for "static constexpr size_t kName = 12;".
  Result<std::int64_t> constant(std::string_view name) const;
  // The lines between the one that contains `start` and the next one that is "};".
  Result<std::vector<std::string>> block(std::string_view start) const;
  // The numbers of a block, separated by commas.
  Result<std::vector<std::int64_t>> numbers(std::string_view start) const;
  // The quoted words of the line after the first one that contains `start`; may be none.
  std::vector<std::string> quoted_behind(std::string_view start) const;

  Error unfit(const std::string& what) const;

 private:
  std::vector<std::string> lines_;
  std::string where_;
};

// A whole number, digits only.
Result<std::int64_t> number_of(std::string_view text);

}  // namespace tfaot::toolkit
