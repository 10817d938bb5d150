// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tfaot/base/hash.h"
#include "tfaot/compile/symbol_hash.h"
#include "tfaot/elf/data_object.h"
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kHead = 256;
constexpr std::size_t kChunk = 1 << 20;

bool same_rows(const std::vector<TensorSpec>& a, const std::vector<TensorSpec>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const TensorSpec& x, const TensorSpec& y) { return x.row_shape == y.row_shape; });
}

Result<bool> are_equal(const FileSystem& fs, const Path& a, const Path& b, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size; done += kChunk) {
    TFAOT_ASSIGN(const auto left, fs.read_range(a, {done, kChunk}));
    TFAOT_ASSIGN(const auto right, fs.read_range(b, {done, kChunk}));
    if (left != right) return false;
  }
  return true;
}

// Places weights one after the other, equal ones only once.
class WeightTable {
 public:
  WeightTable(const FileSystem& fs, MergedModel& merged) : fs_(fs), merged_(merged) {}

  // Returns the weight's position in the new table.
  Result<std::uint32_t> add(Weight weight, const Path& file) {
    const auto seen = positions_.find(file);
    if (seen != positions_.end()) return seen->second;
    TFAOT_ASSIGN(const auto size, fs_.size(file));
    if (size != weight.size) return fail(Error::internal("a file of weights has another size"));
    TFAOT_ASSIGN(auto head, fs_.read_range(file, {0, kHead}));
    auto& alike = known_[{size, std::move(head)}];
    for (const std::uint32_t position : alike) {
      TFAOT_ASSIGN(const bool equal, are_equal(fs_, merged_.weight_files[position], file, size));
      if (equal) return positions_[file] = position;
    }
    const auto position = static_cast<std::uint32_t>(merged_.weight_files.size());
    alike.push_back(position);
    std::uint64_t& end = merged_.model.weights_size;
    weight.name = free_name(weight.name);
    weight.offset = (end + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
    end = weight.offset + weight.size;
    merged_.model.weights.push_back(std::move(weight));
    merged_.weight_files.push_back(file);
    return positions_[file] = position;
  }

 private:
  // Several tensors may be derived from one variable.
  std::string free_name(const std::string& name) {
    std::string free = name;
    for (int i = 2; !names_.insert(free).second; ++i) free = fmt::format("{} ({})", name, i);
    return free;
  }

  const FileSystem& fs_;
  MergedModel& merged_;
  std::map<Path, std::uint32_t> positions_;
  // By size and first bytes. Different weights of a net rarely share both.
  std::map<std::pair<std::uint64_t, std::string>, std::vector<std::uint32_t>> known_;
  std::set<std::string> names_;
};

struct PartCode {
  const EngineResult* part;
  CompiledCode code;
};

std::vector<PartCode> sorted_codes(const std::vector<EngineResult>& parts) {
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

// Feeds the blob to a sink: weights at their offsets, zeros between them.
Status feed_blob(const FileSystem& fs, const MergedModel& merged, const ChunkSink& sink) {
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < merged.weight_files.size(); ++i) {
    const Weight& weight = merged.model.weights[i];
    TFAOT_TRY(sink(std::string(weight.offset - position, '\0')));
    TFAOT_TRY(fs.read_chunks(merged.weight_files[i], sink));
    position = weight.offset + weight.size;
  }
  return {};
}

}  // namespace

Result<MergedModel> merge_parts(const FileSystem& fs, const Path& weights_directory,
                                const std::vector<EngineResult>& parts) {
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
  for (auto& [part, code] : sorted_codes(parts)) {
    for (auto& weight : code.weights) {
      const Path file = weights_directory / part->weight_files.at(weight);
      TFAOT_ASSIGN(weight, table.add(part->model.weights.at(weight), file));
    }
    merged.model.codes.push_back(std::move(code));
  }
  return merged;
}

Status write_weights_object(FileSystem& fs, MergedModel& merged, const std::string& symbol,
                            const Path& file) {
  CompiledModel& model = merged.model;
  const auto frame = [&model](const std::string& name) {
    const DataSymbol weights{name, 0, model.weights_size, false, true};
    return data_object_frame(model.weights_size, {weights}, model.target_triple);
  };
  // The head is the same for every name of this length.
  const std::string head = frame(SymbolHash::unknown_name(symbol)).head;
  SymbolHash blob;
  Sha256 hash;
  const auto produce = [&](const ChunkSink& write) -> Status {
    const ChunkSink sink = [&](std::string_view bytes) {
      hash.update(bytes);
      return write(bytes);
    };
    TFAOT_TRY(sink(head));
    TFAOT_TRY(feed_blob(fs, merged, [&](std::string_view bytes) {
      blob.update(bytes);
      return sink(bytes);
    }));
    model.weights_symbol = blob.name(symbol);
    return sink(frame(model.weights_symbol).tail);
  };
  TFAOT_TRY(fs.write_chunks(file, produce, Durability::kScratch));
  model.weights_object_sha256 = hash.hex_digest();
  return {};
}

}  // namespace tfaot::toolkit
