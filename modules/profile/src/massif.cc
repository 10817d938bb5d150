// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tfaot/base/text.h"
#include "tfaot/profile/heap.h"

namespace tfaot::toolkit {
namespace {

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

// "time_unit: ms", and for each snapshot "snapshot=N", "time=12", "mem_heap_B=345", other figures,
// and the tree of callers, whose lines have blanks or "n" in front.
Result<ProfiledHeap> read_massif(const std::string& text, const std::string& where) {
  ProfiledHeap heap;
  double unit = 1000;  // as heaptrack_print means, which writes none
  int line_number = 0;
  const auto failed = [&](const std::string& line) {
    return fail(Error::at({where, line_number}, "not what massif writes: '" + line + "'"));
  };
  bool in_snapshot = false;
  HeapMoment moment;
  for (const std::string& line : split_lines(text)) {
    ++line_number;
    const std::string value = line.substr(std::min(line.size(), line.find_first_of("=:") + 1));
    if (line.starts_with("time_unit:")) {
      unit = trim(value) == "ms" ? 1 : trim(value) == "s" ? 1000 : 0;
      if (unit == 0) return failed(line);
    } else if (line.starts_with("snapshot=")) {
      in_snapshot = true;
    } else if (in_snapshot && line.starts_with("time=")) {
      if (!parse_number(value, moment.ms)) return failed(line);
      moment.ms *= unit;
    } else if (in_snapshot && line.starts_with("mem_heap_B=")) {
      if (!parse_number(value, moment.bytes)) return failed(line);
      heap.peak = std::max(heap.peak, moment.bytes);
      heap.over_time.push_back(moment);
    }
  }
  if (!heap.over_time.empty()) return heap;
  return fail(Error::at({where}, "not what massif writes: it holds no snapshot"));
}

}  // namespace tfaot::toolkit
