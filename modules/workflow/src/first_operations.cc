// SPDX-License-Identifier: Apache-2.0
#include "first_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "bits_batches.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/compile.h"
#include "tfaot/load/link.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/manifest.h"
#include "tfaot/workflow/run_package.h"

namespace tfaot::toolkit {
namespace {

// Each result's node of the model, and how often that occurs before it.
std::vector<std::pair<std::string, std::size_t>> nodes_of(
    const std::vector<OperationResult>& results) {
  std::map<std::string, std::size_t> counts;
  std::vector<std::pair<std::string, std::size_t>> nodes;
  for (const OperationResult& one : results) nodes.emplace_back(one.origin, counts[one.origin]++);
  return nodes;
}

template <class Bits>
std::vector<Bits> sorted_bits(const std::string& bytes) {
  std::vector<Bits> bits(bytes.size() / sizeof(Bits));
  if (!bits.empty()) std::memcpy(bits.data(), bytes.data(), bytes.size());
  std::ranges::sort(bits);
  return bits;
}

// The numbers of `bytes` that `other` lacks, sorted by their bits.
template <class Bits>
std::string without_common(const std::string& bytes, const std::string& other) {
  std::vector<Bits> rest;
  std::ranges::set_difference(sorted_bits<Bits>(bytes), sorted_bits<Bits>(other),
                              std::back_inserter(rest));
  return {reinterpret_cast<const char*>(rest.data()), rest.size() * sizeof(Bits)};
}

Array without_common(const Array& array, const Array& other) {
  Array rest = array;
  switch (size_of(array.dtype)) {
    case 1:
      rest.bytes = without_common<std::uint8_t>(array.bytes, other.bytes);
      break;
    case 2:
      rest.bytes = without_common<std::uint16_t>(array.bytes, other.bytes);
      break;
    case 4:
      rest.bytes = without_common<std::uint32_t>(array.bytes, other.bytes);
      break;
    default:
      rest.bytes = without_common<std::uint64_t>(array.bytes, other.bytes);
  }
  return rest;
}

DifferentOperation described(const OperationResult& result, const BitsDifference& difference) {
  DifferentOperation found;
  found.kind = result.kind;
  found.origin = result.origin;
  found.shape = result.shape;
  found.numbers = difference.numbers;
  found.unequal = difference.unequal;
  found.ulps = difference.ulps;
  return found;
}

}  // namespace

BitsDifference compare_unordered(const Array& batch, const Array& rows) {
  BitsDifference found = compare_bits(without_common(batch, rows), without_common(rows, batch));
  found.numbers = batch.bytes.size() / size_of(batch.dtype);
  return found;
}

std::vector<std::ptrdiff_t> same_results(const std::vector<OperationResult>& first,
                                         const std::vector<OperationResult>& second) {
  std::map<std::pair<std::string, std::size_t>, std::ptrdiff_t> places;
  for (const auto& node : nodes_of(first)) {
    places.emplace(node, static_cast<std::ptrdiff_t>(places.size()));
  }
  std::vector<std::ptrdiff_t> same;
  for (const auto& node : nodes_of(second)) {
    const auto found = places.find(node);
    same.push_back(found == places.end() ? -1 : found->second);
  }
  return same;
}

Result<FirstOperations> FirstOperations::create(const Context& context, const EngineRun& engine,
                                                ModelSpec spec, std::vector<std::string> levels,
                                                std::vector<Array> inputs) {
  TFAOT_ASSIGN(ScratchFolder scratch, ScratchFolder::create(context));
  FirstOperations made(context, std::move(scratch));
  made.engine_ = engine;
  made.spec_ = std::move(spec);
  made.levels_ = std::move(levels);
  made.inputs_ = std::move(inputs);
  return made;
}

Result<const FirstOperations::Code*> FirstOperations::code_of(std::int64_t size) {
  if (const auto known = codes_.find(size); known != codes_.end()) return &known->second;
  const Path folder = scratch_.path() / fmt::format("size_{}", size);
  TFAOT_TRY(context_.files.create_directories(folder));
  ModelSpec spec = spec_;
  spec.compilation.batch_sizes = {size};
  spec.compilation.cpu_levels = levels_;
  Code code;
  TFAOT_ASSIGN(CompileOptions options, compile_options(context_, engine_));
  options.work_directory = folder;
  options.coupled_rows = CoupledRows::kNotChecked;
  options.results = &code.results;
  TFAOT_ASSIGN(CompiledModel compiled,
               compile_model(context_.files, spec, options, context_.diagnostics));
  const Manifest manifest = make_manifest(spec, compiled, "", {});
  LinkRequest link;
  link.tree = folder;
  for (const CompiledCode& one : compiled.codes) link.objects.push_back(folder / one.object);
  if (!compiled.weights_object.empty()) link.objects.push_back(folder / compiled.weights_object);
  link.machine = context_.environment.architecture;
  TFAOT_ASSIGN(link.runtime, runtime_library(context_, link.machine));
  link.output = folder / "code.so";
  TFAOT_TRY(link_model(context_.files, manifest, link));
  TFAOT_ASSIGN(code.model, LoadedModel::open(link.output, manifest, std::move(compiled)));
  return &codes_.emplace(size, std::move(code)).first->second;
}

Result<std::vector<Array>> FirstOperations::results_of(const Code& code, const std::string& level,
                                                       const std::vector<std::int64_t>& rows) {
  TFAOT_ASSIGN(Predictor runs,
               Predictor::create(code.model, {.cpu_level = level, .batch_rules = {}}));
  TFAOT_ASSIGN(std::vector<Array> outputs,
               predict(runs, {std::ssize(rows), rows_of(inputs_, rows)}));
  outputs.erase(outputs.begin(), outputs.end() - std::ssize(code.results));
  return outputs;
}

Result<std::optional<DifferentOperation>> FirstOperations::between_levels(
    const std::string& level, const std::string& other, const std::vector<std::int64_t>& rows) {
  TFAOT_ASSIGN(const Code* const code, code_of(std::ssize(rows)));
  TFAOT_ASSIGN(const std::vector<Array> first, results_of(*code, other, rows));
  TFAOT_ASSIGN(const std::vector<Array> second, results_of(*code, level, rows));
  for (std::size_t i = 0; i < first.size(); ++i) {
    const BitsDifference difference = compare_bits(second[i], first[i]);
    if (difference.unequal > 0) return described(code->results[i], difference);
  }
  return std::nullopt;
}

Result<std::optional<DifferentOperation>> FirstOperations::between_batches(
    const std::string& level, const std::vector<std::int64_t>& rows) {
  TFAOT_ASSIGN(const Code* const alone, code_of(1));
  TFAOT_ASSIGN(const Code* const batch, code_of(std::ssize(rows)));
  TFAOT_ASSIGN(const std::vector<Array> together, results_of(*batch, level, rows));
  std::vector<Array> each;
  for (const std::int64_t row : rows) {
    TFAOT_ASSIGN(std::vector<Array> results, results_of(*alone, level, {row}));
    if (each.empty()) {
      each = std::move(results);
      continue;
    }
    for (std::size_t i = 0; i < each.size(); ++i) each[i].bytes += results[i].bytes;
  }
  const std::vector<std::ptrdiff_t> same = same_results(alone->results, batch->results);
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (same[i] < 0) continue;
    const Array& of_rows = each[static_cast<std::size_t>(same[i])];
    if (of_rows.dtype != together[i].dtype) continue;
    if (of_rows.bytes.size() != together[i].bytes.size()) continue;
    const BitsDifference difference = compare_unordered(together[i], of_rows);
    if (difference.unequal > 0) return described(batch->results[i], difference);
  }
  return std::nullopt;
}

}  // namespace tfaot::toolkit
