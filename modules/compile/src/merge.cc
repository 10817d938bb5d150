// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tfaot/config/cpu_levels.h"

namespace tfaot {
namespace {

constexpr std::uint64_t kWeightAlignment = 64;
constexpr std::uint64_t kHead = 256;
constexpr std::uint64_t kChunk = 1 << 20;

bool same_rows(const std::vector<TensorSpec>& a, const std::vector<TensorSpec>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const TensorSpec& x, const TensorSpec& y) { return x.row_shape == y.row_shape; });
}

Result<bool> are_equal(const FileSystem& fs, const WeightBytes& a, const WeightBytes& b) {
  for (std::uint64_t done = 0; done < a.size; done += kChunk) {
    const auto size = static_cast<std::size_t>(std::min(kChunk, a.size - done));
    TFAOT_ASSIGN(const auto left, fs.read_range(a.file, {a.offset + done, size}));
    TFAOT_ASSIGN(const auto right, fs.read_range(b.file, {b.offset + done, size}));
    if (left != right) return false;
  }
  return true;
}

// Lays out weights one after the other, equal ones once.
class WeightTable {
 public:
  WeightTable(const FileSystem& fs, MergedModel& merged) : fs_(fs), merged_(merged) {}

  // Returns the weight's position in the new table.
  Result<std::uint32_t> add(Weight weight, WeightBytes bytes) {
    const auto head_size = static_cast<std::size_t>(std::min(bytes.size, kHead));
    TFAOT_ASSIGN(auto head, fs_.read_range(bytes.file, {bytes.offset, head_size}));
    if (head.size() < head_size) return fail(Error::internal("a file of weights is too short"));
    auto& alike = known_[{bytes.size, std::move(head)}];
    for (const std::uint32_t position : alike) {
      if (bytes.size <= kHead) return position;
      TFAOT_ASSIGN(const bool equal, are_equal(fs_, merged_.weights[position], bytes));
      if (equal) return position;
    }
    const auto position = static_cast<std::uint32_t>(merged_.weights.size());
    alike.push_back(position);
    std::uint64_t& end = merged_.model.weights_size;
    weight.name = free_name(weight.name);
    weight.offset = (end + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
    end = weight.offset + weight.size;
    merged_.model.weights.push_back(std::move(weight));
    merged_.weights.push_back(std::move(bytes));
    return position;
  }

 private:
  // Several tensors may be derived from one.
  std::string free_name(const std::string& name) {
    std::string free = name;
    for (int i = 2; !names_.insert(free).second; ++i) free = fmt::format("{} ({})", name, i);
    return free;
  }

  const FileSystem& fs_;
  MergedModel& merged_;
  // By size and first bytes: weights of a net are rarely alike so far and not equal.
  std::map<std::pair<std::uint64_t, std::string>, std::vector<std::uint32_t>> known_;
  std::set<std::string> names_;
};

struct PartCode {
  const ModelPart* part;
  CompiledCode code;
};

std::vector<PartCode> sorted_codes(const std::vector<ModelPart>& parts) {
  std::vector<PartCode> codes;
  for (const auto& part : parts) {
    for (const auto& code : part.model.codes) codes.push_back({&part, code});
  }
  std::sort(codes.begin(), codes.end(), [](const PartCode& a, const PartCode& b) {
    if (a.code.batch_size != b.code.batch_size) return a.code.batch_size < b.code.batch_size;
    return ascend(a.code.cpu_level, b.code.cpu_level);
  });
  return codes;
}

}  // namespace

Result<MergedModel> merge_parts(const FileSystem& fs, std::vector<ModelPart> parts) {
  MergedModel merged;
  merged.model = parts.front().model;
  merged.model.codes.clear();
  merged.model.weights.clear();
  merged.model.weights_size = 0;
  for (const auto& part : parts) {
    if (!same_rows(merged.model.signature.outputs, part.model.signature.outputs)) {
      return fail(Error("the shape of an output row depends on the batch size"));
    }
  }
  WeightTable table(fs, merged);
  // By part and position there: looked at once.
  std::map<std::pair<const ModelPart*, std::uint32_t>, std::uint32_t> moved;
  for (auto& [part, code] : sorted_codes(parts)) {
    for (auto& weight : code.weights) {
      const auto [found, is_new] = moved.try_emplace({part, weight}, 0);
      if (is_new) {
        const Weight& entry = part->model.weights.at(weight);
        TFAOT_ASSIGN(found->second,
                     table.add(entry, {part->weights_file, entry.offset, entry.size}));
      }
      weight = found->second;
    }
    merged.model.codes.push_back(std::move(code));
  }
  return merged;
}

}  // namespace tfaot
