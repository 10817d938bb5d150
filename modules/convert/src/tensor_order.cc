// SPDX-License-Identifier: Apache-2.0
#include "tensor_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "programs.h"
#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

using Names = std::vector<std::string>;

// Inputs or outputs.
struct Side {
  const char* word;
  const char* prefix;  // of upstream's names
  std::vector<UpstreamTensor> UpstreamHeader::*tensors;
};
constexpr Side kInputs = {"inputs", kInputPrefix, &UpstreamHeader::arguments};
constexpr Side kOutputs = {"outputs", kOutputPrefix, &UpstreamHeader::results};

Names names_of(const SizedHeader& one, const Side& side) {
  Names names;
  for (const UpstreamTensor& tensor : one.header->*side.tensors) {
    names.push_back(plain_name(tensor.name, side.prefix, one.batch_size));
  }
  return names;
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

bool can_be_sorted(const Names& sorted_names) {
  return !sorted_names.front().empty() &&
         std::adjacent_find(sorted_names.begin(), sorted_names.end()) == sorted_names.end();
}

template <class T>
void reorder(std::vector<T>& values, const std::vector<std::size_t>& order) {
  std::vector<T> moved;
  for (const std::size_t index : order) moved.push_back(std::move(values[index]));
  values = std::move(moved);
}

void sort_by_name(const SizedHeader& one, const Side& side, const Names& names) {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  UpstreamHeader& header = *one.header;
  reorder(header.*side.tensors, order);
  if (side.tensors == kInputs.tensors) {
    reorder(header.argument_buffers, order);
  } else if (header.result_buffers) {
    reorder(*header.result_buffers, order);
  }
}

// The remark, if there is anything to report.
std::optional<std::string> unify(const std::string& model, const std::vector<SizedHeader>& headers,
                                 const Side& side) {
  const Names first = names_of(headers.front(), side);
  const Names by_name = sorted(first);
  if (!can_be_sorted(by_name)) return std::nullopt;
  std::optional<std::string> other;
  for (const SizedHeader& one : headers) {
    const Names names = names_of(one, side);
    if (sorted(names) != by_name) return std::nullopt;
    if (names != first && !other) {
      other = fmt::format("({}) in {}.h", join(names, ", "), program_name(model, one.batch_size));
    }
  }
  if (!other) return std::nullopt;
  for (const SizedHeader& one : headers) sort_by_name(one, side, names_of(one, side));
  return fmt::format(
      "the {} are ({}) in {}.h, but {}: the package orders them by name, ({}); check your calls",
      side.word, join(first, ", "), program_name(model, headers.front().batch_size), *other,
      join(by_name, ", "));
}

}  // namespace

std::vector<std::string> unify_orders(const std::string& model,
                                      const std::vector<SizedHeader>& headers) {
  std::vector<std::string> remarks;
  for (const Side& side : {kInputs, kOutputs}) {
    if (auto remark = unify(model, headers, side)) remarks.push_back(std::move(*remark));
  }
  return remarks;
}

}  // namespace tfaot::toolkit
