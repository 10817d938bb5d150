// SPDX-License-Identifier: Apache-2.0
#include "text/compare.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "text/describe.h"
#include "text/text_table.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kHashCharacters = 12;
constexpr std::size_t kLongestValue = 60;

// Facts of both packages by label: the first package's order, then what only the second has.
class Pairs {
 public:
  explicit Pairs(DifferenceKind kind) : kind_(kind) {}

  void add(const std::string& label, const std::string& value, bool is_second) {
    const auto [place, is_new] = positions_.try_emplace(label, pairs_.size());
    if (is_new) pairs_.push_back({kind_, label, "", ""});
    Difference& pair = pairs_[place->second];
    (is_second ? pair.second : pair.first) = value;
  }

  void move_different_to(std::vector<Difference>& found) {
    for (Difference& pair : pairs_) {
      if (pair.first != pair.second) found.push_back(std::move(pair));
    }
  }

 private:
  DifferenceKind kind_;
  std::vector<Difference> pairs_;
  std::map<std::string, std::size_t> positions_;
};

void add_facts(Pairs& pairs, const Manifest& manifest, bool is_second) {
  for (const Fact& fact : facts_of(manifest)) {
    pairs.add(fact.label, replace_all(fact.value, "\n", ", "), is_second);
  }
}

void add_tensors(Pairs& pairs, const Manifest& manifest, bool is_second) {
  const auto add = [&](const char* role, const std::vector<TensorSpec>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorSpec& tensor = tensors[i];
      pairs.add(fmt::format("{} {}", role, tensor.name),
                fmt::format("{} {}, number {}", word_of(tensor.dtype),
                            shape_text(tensor, manifest.batch), i + 1),
                is_second);
    }
  };
  pairs.add("signature", manifest.signature.key, is_second);
  add("input", manifest.signature.inputs);
  add("output", manifest.signature.outputs);
}

void add_files(Pairs& pairs, const Manifest& manifest, bool is_second) {
  for (const ManifestFile& file : manifest.files) {
    pairs.add(file.path,
              fmt::format("{} bytes, sha256 {}", file.size, file.sha256.substr(0, kHashCharacters)),
              is_second);
  }
}

}  // namespace

std::vector<Difference> differences(const Manifest& first, const Manifest& second) {
  std::vector<Difference> found;
  const auto compare = [&](DifferenceKind kind, auto add) {
    Pairs pairs(kind);
    add(pairs, first, false);
    add(pairs, second, true);
    pairs.move_different_to(found);
  };
  compare(DifferenceKind::kFact, add_facts);
  compare(DifferenceKind::kTensor, add_tensors);
  compare(DifferenceKind::kFile, add_files);
  return found;
}

std::string contents_verdict(const Manifest& first, const Manifest& second) {
  const auto code_of = [](const Manifest& manifest) {
    std::map<std::string, std::string> code;
    for (const ManifestFile& file : manifest.files) {
      const bool is_weights =
          !manifest.weights_sha256.empty() && file.sha256 == manifest.weights_sha256;
      if (is_object_file(file.path) && !is_weights) code[file.path] = file.sha256;
    }
    return code;
  };
  const bool same_code = code_of(first) == code_of(second);
  const bool same_weights = first.weights_sha256 == second.weights_sha256;
  if (same_code && same_weights) return "same code, same weights";
  if (same_code) return "same code, other weights";
  return same_weights && !first.weights_sha256.empty() ? "other code, same weights" : "other code";
}

std::string differences_text(const std::vector<Difference>& found, const std::string& verdict,
                             const std::vector<std::string>& names) {
  if (found.empty()) return "no difference\n";
  const auto cell = [](const std::string& text) {
    return text.empty() ? std::string("-") : shown(text, kLongestValue);
  };
  std::vector<std::vector<std::string>> rows = {{"", shown(names[0]), shown(names[1])}};
  for (const Difference& one : found) {
    rows.push_back({shown(one.what), cell(one.first), cell(one.second)});
  }
  return verdict + "\n\n" + text_table(rows);
}

nlohmann::ordered_json differences_to_json(const std::vector<Difference>& found,
                                           const std::string& verdict) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Difference& one : found) {
    list.push_back({{"what", one.what}, {"first", one.first}, {"second", one.second}});
  }
  return {{"equal", found.empty()}, {"verdict", verdict}, {"differences", std::move(list)}};
}

}  // namespace tfaot::toolkit
