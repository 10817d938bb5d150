// SPDX-License-Identifier: Apache-2.0
#include "weight_store.h"

#include "conversions.h"
#include "hlo.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/compiler/tf2xla/type_util.h"

namespace tfaot::engine {
namespace {

constexpr std::uint64_t kWeightAlignment = 64;

Result<DType> stored_dtype(xla::PrimitiveType type) {
  const auto made = tensorflow::EncodePrimitiveTypeAsDataType(type);
  if (!made.ok()) return fail(internal_error(made.status()));
  return *dtype_of(*made);
}

}  // namespace

Result<WeightStore> WeightStore::create(const SignatureFunction& function,
                                        const std::vector<std::size_t>& raw) {
  WeightStore store;
  for (const auto index : raw) {
    const auto& weight = function.weights[index];
    auto literal = std::make_unique<xla::BorrowingLiteral>();
    TFAOT_TRY(checked(tensorflow::HostTensorToBorrowingLiteral(weight.value, literal.get())));
    store.weights_.push_back({weight.name, std::move(literal)});
  }
  return store;
}

std::optional<std::size_t> WeightStore::find(const std::string& key) const {
  const auto found = derived_.find(key);
  if (found == derived_.end()) return std::nullopt;
  return found->second;
}

std::size_t WeightStore::add(const std::string& key, std::string name, xla::Literal value) {
  weights_.push_back({std::move(name), std::make_unique<xla::Literal>(std::move(value))});
  derived_[key] = weights_.size() - 1;
  return weights_.size() - 1;
}

Result<std::string> WeightStore::lay_out(const std::vector<std::size_t>& used,
                                         std::vector<Weight>& table) const {
  std::size_t bound = 0;
  for (const auto index : used) {
    bound += static_cast<std::size_t>(weights_[index].value->size_bytes()) + kWeightAlignment;
  }
  std::string blob;
  blob.reserve(bound);
  for (const auto index : used) {
    const auto& value = *weights_[index].value;
    blob.resize((blob.size() + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment);
    Weight entry;
    entry.name = weights_[index].name;
    TFAOT_ASSIGN(entry.dtype, stored_dtype(value.shape().element_type()));
    entry.shape.assign(value.shape().dimensions().begin(), value.shape().dimensions().end());
    entry.offset = blob.size();
    entry.size = static_cast<std::uint64_t>(value.size_bytes());
    blob.append(static_cast<const char*>(value.untyped_data()), entry.size);
    table.push_back(std::move(entry));
  }
  return blob;
}

}  // namespace tfaot::engine
