// SPDX-License-Identifier: Apache-2.0
#include "weight_store.h"

#include "conversions.h"
#include "hlo.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/compiler/tf2xla/type_util.h"

namespace tfaot::engine {
namespace {

constexpr std::uint64_t kWeightAlignment = 64;

Weight named(std::string name) {
  Weight weight;
  weight.name = std::move(name);
  return weight;
}

Result<DType> stored_dtype(xla::PrimitiveType type) {
  const auto made = tensorflow::EncodePrimitiveTypeAsDataType(type);
  if (!made.ok()) return fail(internal_error(made.status()));
  return *dtype_of(*made);
}

}  // namespace

Result<WeightStore> WeightStore::create(const SignatureFunction& function,
                                        const std::vector<std::size_t>& raw, ChunkSink sink) {
  WeightStore store(std::move(sink));
  for (const auto index : raw) {
    const auto& weight = function.weights[index];
    auto literal = std::make_unique<xla::BorrowingLiteral>();
    TFAOT_TRY(checked(tensorflow::HostTensorToBorrowingLiteral(weight.value, literal.get())));
    store.weights_.push_back({named(weight.name), std::move(literal)});
  }
  return store;
}

std::optional<std::size_t> WeightStore::find(const std::string& key) const {
  const auto found = derived_.find(key);
  if (found == derived_.end()) return std::nullopt;
  return found->second;
}

Result<std::size_t> WeightStore::add(const std::string& key, std::string name,
                                     const xla::LiteralBase& value) {
  Stored made{named(std::move(name)), nullptr};
  TFAOT_TRY(write(value, made.entry));
  weights_.push_back(std::move(made));
  derived_[key] = weights_.size() - 1;
  return weights_.size() - 1;
}

Status WeightStore::write(const xla::LiteralBase& value, Weight& entry) {
  TFAOT_ASSIGN(entry.dtype, stored_dtype(value.shape().element_type()));
  entry.shape.assign(value.shape().dimensions().begin(), value.shape().dimensions().end());
  entry.size = static_cast<std::uint64_t>(value.size_bytes());
  entry.offset = (written_ + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
  TFAOT_TRY(sink_(std::string(entry.offset - written_, '\0')));
  TFAOT_TRY(sink_({static_cast<const char*>(value.untyped_data()), entry.size}));
  written_ = entry.offset + entry.size;
  return {};
}

Result<std::vector<Weight>> WeightStore::table(const std::vector<std::size_t>& used) {
  std::vector<Weight> table;
  for (const auto index : used) {
    Stored& stored = weights_[index];
    if (stored.value != nullptr) TFAOT_TRY(write(*stored.value, stored.entry));
    table.push_back(stored.entry);
  }
  return table;
}

}  // namespace tfaot::engine
