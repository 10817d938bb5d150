// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/buffer_map.h"

#include <algorithm>
#include <map>

#include "tfaot/base/pattern.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// "allocation 3: size 64, parameter 1, shape |f32[16]| at ShapeIndex {}:"
const Pattern kAllocation(R"(allocation (\d+): size (\d+)(.*))");
// " value: <12 custom-call.4{0} @0> (size=64,offset=128): f32[4,4]{1,0}"
const Pattern kValue(
    R"( value: <\d+ (.+?)(?: \(phi\))? @-?\d+> \(size=(\d+),offset=(\d+)\): (.*))");
// "    12:fusion.3"
const Pattern kMoment(R"(    (\d+):(.+))");
// "    custom-call.4{0}:3-9"
const Pattern kRange(R"(    (.+):(\d+)-(\d+))");
const Pattern kParameter(R"(.*, parameter (\d+).*)");

// The matcher needs memory for each letter.
constexpr std::size_t kLongestLine = 5000;

template <class Number>
Number number_in(const std::string& digits) {
  return parse_number<Number>(digits).value_or(0);
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
    Pattern::Parts parts;
    if (line.starts_with("  InstructionSequence:")) part_ = Part::kMoments;
    if (line.starts_with("  BufferLiveRange:")) part_ = Part::kRanges;
    if (line.starts_with("  Live ranges at ")) part_ = Part::kNone;
    if (kAllocation.matches(line, parts)) {
      add_allocation(parts);
    } else if (!map_.allocations.empty() && kValue.matches(line, parts)) {
      PlacedValue value;
      value.name = without_empty_index(parts[1]);
      value.size = number_in<std::uint64_t>(parts[2]);
      value.offset = number_in<std::uint64_t>(parts[3]);
      value.shape = parts[4];
      map_.allocations.back().values.push_back(std::move(value));
    } else if (part_ == Part::kRanges && kRange.matches(line, parts)) {
      ranges_[without_empty_index(parts[1])] = {number_in<std::int64_t>(parts[2]),
                                                number_in<std::int64_t>(parts[3])};
    } else if (part_ == Part::kMoments && kMoment.matches(line, parts)) {
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

  void add_allocation(const Pattern::Parts& parts) {
    Allocation allocation;
    allocation.number = number_in<std::int64_t>(parts[1]);
    allocation.size = number_in<std::uint64_t>(parts[2]);
    const std::string& attributes = parts[3];
    allocation.use = use_of(attributes);
    Pattern::Parts parameter;
    if (kParameter.matches(attributes, parameter)) {
      allocation.parameter = number_in<std::int64_t>(parameter[1]);
    }
    map_.allocations.push_back(std::move(allocation));
  }

  BufferMap& map_;
  Part part_ = Part::kNone;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges_;
};

// How many values lie on each byte of an allocation. A loop's values lie where those before it did.
class Coverage {
 public:
  explicit Coverage(const Allocation& allocation) {
    for (const PlacedValue& value : allocation.values) {
      starts_.push_back(value.offset);
      starts_.push_back(value.offset + value.size);
    }
    std::ranges::sort(starts_);
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
    counts_.resize(starts_.size());
  }

  void add(const PlacedValue& value, int count) {
    const auto from = std::ranges::lower_bound(starts_, value.offset) - starts_.begin();
    for (auto i = static_cast<std::size_t>(from); starts_[i] < value.offset + value.size; ++i) {
      const bool was_covered = counts_[i] > 0;
      counts_[i] += count;
      const std::uint64_t size = starts_[i + 1] - starts_[i];
      if (!was_covered && counts_[i] > 0) bytes_ += size;
      if (was_covered && counts_[i] <= 0) bytes_ -= size;
    }
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::vector<std::uint64_t> starts_;
  std::vector<int> counts_;
  std::uint64_t bytes_ = 0;
};

// Of what is alive, at a moment.
struct Change {
  std::size_t allocation;
  const PlacedValue* value;
  int count;
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
  std::map<std::int64_t, std::vector<Change>> changes;
  std::vector<Coverage> coverages;
  for (const Allocation& allocation : map.allocations) {
    if (allocation.use != use) continue;
    coverages.emplace_back(allocation);
    for (const PlacedValue& value : allocation.values) {
      if (value.first < 0) continue;
      changes[value.first].push_back({coverages.size() - 1, &value, 1});
      changes[value.last + 1].push_back({coverages.size() - 1, &value, -1});
    }
  }
  Peak peak;
  std::uint64_t bytes = 0;
  for (const auto& [moment, all] : changes) {
    for (const Change& change : all) {
      Coverage& coverage = coverages[change.allocation];
      bytes -= coverage.bytes();
      coverage.add(*change.value, change.count);
      bytes += coverage.bytes();
    }
    if (bytes > peak.bytes) peak = {bytes, moment};
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
