// SPDX-License-Identifier: Apache-2.0
#include "tfaot/elf/shared_constants.h"

#include <fmt/format.h>

#include "tfaot/base/hash.h"

namespace tfaot::toolkit {
namespace {

// The largest alignment that find_constants() accepts.
constexpr std::size_t kBlobAlignment = 64;

}  // namespace

std::string SharedConstants::add(const std::string& bytes) {
  const auto [found, is_new] = known_.try_emplace(sha256_of(bytes), symbols_.size());
  if (!is_new) return symbols_[found->second].name;
  blob_.resize((blob_.size() + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment);
  symbols_.push_back(
      {fmt::format("{}_{}", prefix_, symbols_.size()), blob_.size(), bytes.size(), true});
  blob_.append(bytes);
  return symbols_.back().name;
}

}  // namespace tfaot::toolkit
