// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tfaot/base/hash.h"
#include "tfaot/config/cpu_levels.h"

namespace tfaot {
namespace {

constexpr std::size_t kWeightAlignment = 64;

bool same_rows(const std::vector<TensorSpec>& a, const std::vector<TensorSpec>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const TensorSpec& x, const TensorSpec& y) { return x.row_shape == y.row_shape; });
}

// Lays out weights one after the other, equal ones once.
class BlobWriter {
 public:
  // Returns the weight's position in the new table.
  std::uint32_t add(Weight weight, std::string_view bytes) {
    const auto [found, is_new] =
        known_.try_emplace(std::string(bytes.size() < kSha256Bytes ? bytes : sha256_of(bytes)),
                           static_cast<std::uint32_t>(merged_.model.weights.size()));
    if (!is_new) return found->second;
    std::string& blob = merged_.blob;
    blob.resize((blob.size() + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment);
    weight.name = free_name(weight.name);
    weight.offset = blob.size();
    blob.append(bytes);
    merged_.model.weights.push_back(std::move(weight));
    return found->second;
  }

  explicit BlobWriter(ModelPart& merged) : merged_(merged) {}

 private:
  // Several tensors may be derived from one.
  std::string free_name(const std::string& name) {
    std::string free = name;
    for (int i = 2; !names_.insert(free).second; ++i) free = fmt::format("{} ({})", name, i);
    return free;
  }

  static constexpr std::size_t kSha256Bytes = 32;
  ModelPart& merged_;
  std::map<std::string, std::uint32_t> known_;
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

Result<ModelPart> merge_parts(std::vector<ModelPart> parts) {
  ModelPart merged;
  merged.model = parts.front().model;
  merged.model.codes.clear();
  merged.model.weights.clear();
  std::size_t bound = 0;
  for (const auto& part : parts) {
    bound += part.blob.size() + kWeightAlignment;
    if (!same_rows(merged.model.signature.outputs, part.model.signature.outputs)) {
      return fail(Error("the shape of an output row depends on the batch size"));
    }
  }
  merged.blob.reserve(bound);
  BlobWriter writer(merged);
  // By part and position there: hashed once.
  std::map<std::pair<const ModelPart*, std::uint32_t>, std::uint32_t> moved;
  for (auto& [part, code] : sorted_codes(parts)) {
    for (auto& weight : code.weights) {
      const auto [found, is_new] = moved.try_emplace({part, weight}, 0);
      if (is_new) {
        const Weight& entry = part->model.weights.at(weight);
        found->second =
            writer.add(entry, std::string_view(part->blob).substr(entry.offset, entry.size));
      }
      weight = found->second;
    }
    merged.model.codes.push_back(std::move(code));
  }
  merged.model.weights_size = merged.blob.size();
  merged.model.weights_sha256 = merged.blob.empty() ? "" : sha256_of(merged.blob);
  return merged;
}

}  // namespace tfaot
