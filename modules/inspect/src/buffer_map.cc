// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/buffer_map.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <regex>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// "allocation 3: size 64, parameter 1, shape |f32[16]| at ShapeIndex {}:"
const std::regex kAllocation(R"(allocation (\d+): size (\d+)(.*))");
// " value: <12 custom-call.4{0} @0> (size=64,offset=128): f32[4,4]{1,0}"
const std::regex kValue(
    R"( value: <\d+ (.+?)(?: \(phi\))? @-?\d+> \(size=(\d+),offset=(\d+)\): (.*))");
// "    12:fusion.3"
const std::regex kMoment(R"(    (\d+):(.+))");
// "    custom-call.4{0}:3-9"
const std::regex kRange(R"(    (.+):(\d+)-(\d+))");
const std::regex kParameter(R"(.*, parameter (\d+).*)");

// The matcher needs memory for each letter.
constexpr std::size_t kLongestLine = 5000;

template <class Number>
Number number_in(const std::string& digits) {
  Number number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

bool has(const std::string& attributes, const char* word) {
  return attributes.find(word) != std::string::npos;
}

BufferUse use_of(const std::string& attributes) {
  if (has(attributes, ", parameter ")) return BufferUse::kInput;
  if (has(attributes, ", output shape is ") || has(attributes, ", maybe-live-out")) {
    return BufferUse::kOutput;
  }
  if (has(attributes, ", constant")) return BufferUse::kConstant;
  if (has(attributes, ", preallocated-temp")) return BufferUse::kTemporary;
  if (has(attributes, ", thread-local")) return BufferUse::kStack;
  return BufferUse::kOther;
}

// The end of a value's name in a live range, which always has an index.
std::string without_empty_index(const std::string& name) {
  return name.ends_with("{}") ? name.substr(0, name.size() - 2) : name;
}

class Reader {
 public:
  explicit Reader(BufferMap& map) : map_(map) {}

  void read(const std::string& line) {
    if (line.size() > kLongestLine) return;
    std::smatch parts;
    if (line.starts_with("  InstructionSequence:")) part_ = Part::kMoments;
    if (line.starts_with("  BufferLiveRange:")) part_ = Part::kRanges;
    if (line.starts_with("  Live ranges at ")) part_ = Part::kNone;
    if (std::regex_match(line, parts, kAllocation)) {
      add_allocation(parts);
    } else if (!map_.allocations.empty() && std::regex_match(line, parts, kValue)) {
      PlacedValue value;
      value.name = without_empty_index(parts[1]);
      value.size = number_in<std::uint64_t>(parts[2]);
      value.offset = number_in<std::uint64_t>(parts[3]);
      value.shape = parts[4];
      map_.allocations.back().values.push_back(std::move(value));
    } else if (part_ == Part::kRanges && std::regex_match(line, parts, kRange)) {
      ranges_[without_empty_index(parts[1])] = {number_in<std::int64_t>(parts[2]),
                                                number_in<std::int64_t>(parts[3])};
    } else if (part_ == Part::kMoments && std::regex_match(line, parts, kMoment)) {
      map_.moments.push_back(parts[2]);
    }
  }

  void finish() {
    for (Allocation& allocation : map_.allocations) {
      for (PlacedValue& value : allocation.values) {
        const auto range = ranges_.find(value.name);
        if (range == ranges_.end()) continue;
        value.first = range->second.first;
        value.last = range->second.second;
      }
    }
  }

 private:
  enum class Part { kNone, kMoments, kRanges };

  void add_allocation(const std::smatch& parts) {
    Allocation allocation;
    allocation.number = number_in<std::int64_t>(parts[1]);
    allocation.size = number_in<std::uint64_t>(parts[2]);
    const std::string attributes = parts[3];
    allocation.use = use_of(attributes);
    std::smatch parameter;
    if (std::regex_match(attributes, parameter, kParameter)) {
      allocation.parameter = number_in<std::int64_t>(parameter[1]);
    }
    map_.allocations.push_back(std::move(allocation));
  }

  BufferMap& map_;
  Part part_ = Part::kNone;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges_;
};

}  // namespace

Result<BufferMap> read_buffer_map(const std::string& text, const std::string& where) {
  BufferMap map;
  Reader reader(map);
  for (const std::string& line : split_lines(text)) reader.read(line);
  if (map.allocations.empty()) {
    return fail(Error::at({where}, "not a buffer assignment of XLA"));
  }
  reader.finish();
  return map;
}

Peak peak_of(const BufferMap& map, BufferUse use) {
  std::map<std::int64_t, std::int64_t> changes;  // of the bytes that are alive, by moment
  for (const Allocation& allocation : map.allocations) {
    if (allocation.use != use) continue;
    for (const PlacedValue& value : allocation.values) {
      if (value.first < 0) continue;
      changes[value.first] += static_cast<std::int64_t>(value.size);
      changes[value.last + 1] -= static_cast<std::int64_t>(value.size);
    }
  }
  Peak peak;
  std::int64_t bytes = 0;
  for (const auto& [moment, change] : changes) {
    bytes += change;
    if (bytes > static_cast<std::int64_t>(peak.bytes)) {
      peak = {static_cast<std::uint64_t>(bytes), moment};
    }
  }
  return peak;
}

std::uint64_t bytes_of(const BufferMap& map, BufferUse use) {
  std::uint64_t bytes = 0;
  for (const Allocation& allocation : map.allocations) {
    if (allocation.use == use) bytes += allocation.size;
  }
  return bytes;
}

}  // namespace tfaot::toolkit
