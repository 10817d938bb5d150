// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/weight_store.h"

#include <fmt/format.h>

#include "compiler/hlo/conversions.h"

namespace tfaot::toolkit::engine {
namespace {

Result<Weight> described(std::string name, const xla::Shape& shape) {
  const auto dtype = dtype_of(shape.element_type());
  if (!dtype) {
    return fail(Error::internal("no weight has the type of " + xla::ShapeUtil::HumanString(shape)));
  }
  Weight weight;
  weight.name = std::move(name);
  weight.dtype = *dtype;
  weight.shape.assign(shape.dimensions().begin(), shape.dimensions().end());
  weight.size = static_cast<std::uint64_t>(xla::ShapeUtil::ByteSizeOf(shape));
  return weight;
}

void set_size(WeightOrigin& origin, const xla::Shape& shape) {
  origin.shape = xla::ShapeUtil::HumanString(shape);
  origin.bytes = static_cast<std::uint64_t>(xla::ShapeUtil::ByteSizeOf(shape));
}

}  // namespace

Result<WeightStore> WeightStore::create(FileSystem& fs, Path folder,
                                        const std::vector<RawWeight>& raw) {
  WeightStore store(fs, std::move(folder));
  for (const RawWeight& weight : raw) {
    TFAOT_ASSIGN(auto entry, described(weight.name, weight.shape));
    const std::string key = fmt::format("raw_{}", store.weights_.size());
    WeightOrigin origin{entry.name, {}, 0, {entry.name}, {}};
    set_size(origin, weight.shape);
    store.weights_.push_back({std::move(entry), key, std::move(origin), &weight});
  }
  return store;
}

Result<Value> WeightStore::value(std::size_t index) const { return weights_[index].raw->read(); }

std::optional<std::size_t> WeightStore::raw_named(const std::string& name) const {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i].raw != nullptr && weights_[i].entry.name == name) return i;
  }
  return std::nullopt;
}

Result<std::string> WeightStore::bytes(std::size_t index) const {
  const Stored& stored = weights_[index];
  if (stored.raw == nullptr) return fs_->read(folder_ / stored.key);
  TFAOT_ASSIGN(const auto value, this->value(index));
  return std::string(static_cast<const char*>(value->untyped_data()), stored.entry.size);
}

std::optional<std::size_t> WeightStore::find(const std::string& key) const {
  const auto found = derived_.find(key);
  if (found == derived_.end()) return std::nullopt;
  return found->second;
}

Result<std::size_t> WeightStore::add(const std::string& key, WeightOrigin weight,
                                     const xla::Shape& shape,
                                     const std::function<Status(const ChunkSink&)>& feed) {
  TFAOT_ASSIGN(auto entry, described(weight.name, shape));
  TFAOT_TRY(write(key, feed));
  set_size(weight, shape);
  weights_.push_back({std::move(entry), key, std::move(weight), nullptr});
  derived_[key] = weights_.size() - 1;
  return weights_.size() - 1;
}

Status WeightStore::write(const std::string& key,
                          const std::function<Status(const ChunkSink&)>& feed) {
  // A claim file, not the file itself: disks are quick to write out a file that is renamed over
  // another one.
  TFAOT_ASSIGN(const bool is_ours, fs_->claim(folder_ / (key + ".claim")));
  return is_ours ? fs_->write_chunks(folder_ / key, feed, Durability::kScratch) : Status();
}

Status WeightStore::finish(const std::vector<std::size_t>& used, EngineResult& result) {
  for (const auto index : used) {
    const Stored& stored = weights_[index];
    if (stored.raw != nullptr) {
      TFAOT_TRY(write(stored.key, [&](const ChunkSink& sink) -> Status {
        TFAOT_ASSIGN(const auto value, this->value(index));
        return sink({static_cast<const char*>(value->untyped_data()), stored.entry.size});
      }));
    }
    result.model.weights.push_back(stored.entry);
    result.weight_files.push_back(stored.key);
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
